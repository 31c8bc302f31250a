//! Packets as rows.

use std::collections::VecDeque;

use serde::Serialize;
use tcplab_trace::{Ack, BareReset, Segment, SegmentKind};
use tcplab_units::Instant;

/// A packet, for a ladder.
#[derive(Debug, Clone, Serialize)]
pub struct PacketRow {
    frame: u64,
    at_ns: u64,
    connection: usize,
    from_client: bool,
    /// `RST`, `SYN`, `FIN`, `PSH`, as far as they are set.
    flags: String,
    /// The first byte and the length of its data, in the stream; none without data.
    sequence: Option<u64>,
    length_bytes: u64,
    /// What it acknowledges; of a packet without data.
    ack: Option<u64>,
    window_bytes: Option<u64>,
    sack: Vec<[u64; 2]>,
    /// What the analyser calls it, if it is not simply new.
    kind: Option<&'static str>,
    /// What the path did to it, if it did not deliver it.
    verdict: Option<String>,
}

const RESET: &str = "RST";
/// The latest packets that are told as they come.
const TOLD: usize = 24;
/// Packets that are out of order at most, as their kind is known later.
const BEHIND: usize = 40;

/// Packets one after the other; what one carries and acknowledges is one row.
#[derive(Debug, Default)]
pub(crate) struct Ladder {
    rows: VecDeque<PacketRow>,
    /// All that there ever were.
    count: u64,
}

impl Ladder {
    /// The packets between two times, at most so many: the first ones, or the last.
    pub(crate) fn between(
        &self,
        between: [Instant; 2],
        most: usize,
        are_last: bool,
    ) -> Vec<PacketRow> {
        let [from, until] = between.map(Instant::as_nanos);
        let is_wanted = |row: &&PacketRow| (from..=until).contains(&row.at_ns);
        let mut rows: Vec<PacketRow> = self.rows.iter().filter(is_wanted).cloned().collect();
        rows.sort_by_key(|row| row.frame);
        if are_last {
            rows.drain(..rows.len().saturating_sub(most));
        }
        rows.truncate(most);
        rows
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The latest ones.
    pub(crate) fn latest(&self) -> Vec<PacketRow> {
        let from = self.rows.len().saturating_sub(TOLD + BEHIND);
        let mut rows: Vec<PacketRow> = self.rows.range(from..).cloned().collect();
        rows.sort_by_key(|row| row.frame);
        rows.drain(..rows.len().saturating_sub(TOLD));
        rows
    }

    /// Forgets what is too much.
    pub(crate) fn trim(&mut self, kept: usize) {
        self.rows.drain(..self.rows.len().saturating_sub(kept.max(TOLD + BEHIND)));
    }

    fn push(&mut self, row: PacketRow) {
        self.count += 1;
        self.rows.push_back(row);
    }

    /// A packet of this connection with data, SYN or FIN.
    pub(crate) fn segment(
        &mut self,
        connection: usize,
        from_client: bool,
        segment: &Segment,
        at: Instant,
    ) {
        let flags = [(segment.syn, "SYN"), (segment.fin, "FIN"), (segment.psh, "PSH")];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name);
        self.push(PacketRow {
            frame: segment.frame,
            at_ns: at.as_nanos(),
            connection,
            from_client,
            flags: flags.collect::<Vec<_>>().join(" "),
            sequence: Some(segment.range.start.as_u64()),
            length_bytes: segment.payload.as_u64(),
            ack: None,
            window_bytes: None,
            sack: Vec::new(),
            kind: (segment.kind != SegmentKind::New).then(|| segment.kind.name()),
            verdict: segment.comment.clone(),
        });
    }

    /// What a packet of this connection acknowledges.
    pub(crate) fn ack(&mut self, connection: usize, from_client: bool, ack: &Ack, at: Instant) {
        let window_bytes = ack.window.map(tcplab_units::Bytes::as_u64);
        // Of a packet with data the segment is a row already.
        if let Some(row) = self.rows.back_mut().filter(|row| row.frame == ack.frame) {
            (row.ack, row.window_bytes) = (Some(ack.ack.as_u64()), window_bytes);
            if ack.reset {
                row.flags = [RESET, &row.flags].join(" ").trim_end().into();
            }
            return;
        }
        let block = |range: &tcplab_trace::Range| [range.start.as_u64(), range.end.as_u64()];
        self.push(PacketRow {
            frame: ack.frame,
            at_ns: at.as_nanos(),
            connection,
            from_client,
            flags: if ack.reset { RESET.to_owned() } else { String::new() },
            sequence: None,
            length_bytes: 0,
            ack: Some(ack.ack.as_u64()),
            window_bytes,
            sack: ack.sack.iter().map(block).collect(),
            kind: ack.duplicate.then_some("duplicate-ack"),
            verdict: ack.comment.clone(),
        });
    }

    /// A reset of this connection that acknowledges nothing.
    pub(crate) fn reset(
        &mut self,
        connection: usize,
        from_client: bool,
        reset: BareReset,
        at: Instant,
    ) {
        self.push(PacketRow {
            frame: reset.frame,
            at_ns: at.as_nanos(),
            connection,
            from_client,
            flags: RESET.to_owned(),
            sequence: None,
            length_bytes: 0,
            ack: None,
            window_bytes: None,
            sack: Vec::new(),
            kind: None,
            verdict: reset.comment,
        });
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::{Bytes, Offset};

    use super::*;

    fn ack(frame: u64, reset: bool) -> Ack {
        Ack {
            at: Instant::ZERO,
            frame,
            ack: Offset::new(2_001),
            window: None,
            sack: Vec::new(),
            dsack: None,
            duplicate: false,
            reset,
            has_data: false,
            in_flight: Bytes::ZERO,
            comment: None,
            dropped: false,
        }
    }

    #[test]
    fn reset_is_shown_with_and_without_an_acknowledgement() {
        let mut ladder = Ladder::default();
        ladder.ack(0, true, &ack(1, false), Instant::ZERO);
        ladder.ack(0, true, &ack(2, true), Instant::ZERO);
        let place = Offset::new(1);
        let bare =
            BareReset { at: Instant::ZERO, frame: 3, place, from_sender: true, comment: None };
        ladder.reset(0, false, bare, Instant::ZERO);
        let rows = ladder.latest();
        let shown = rows.iter().map(|row| (&*row.flags, row.ack)).collect::<Vec<_>>();
        assert_eq!(shown, [("", Some(2_001)), ("RST", Some(2_001)), ("RST", None)]);
    }
}
