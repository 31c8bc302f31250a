//! Packets as rows.

use std::collections::VecDeque;

use serde::Serialize;
use tcplab_recording::NO_VERDICT;
use tcplab_trace::{Ack, BareReset, Segment, SegmentKind};
use tcplab_units::{Endpoint, Instant};

/// A packet, for a ladder.
#[derive(Debug, Clone, Serialize)]
pub struct PacketRow {
    /// Its number in the capture of this end.
    frame: u64,
    captured_by: Endpoint,
    pub(crate) at_ns: u64,
    pub(crate) connection: usize,
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
/// Where a packet was captured, and whose it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) by: Endpoint,
    pub(crate) connection: usize,
    pub(crate) from_client: bool,
}

/// Whether a packet with this comment never reached the other end, whose capture lacks it.
pub(crate) fn is_undelivered(comment: Option<&str>) -> bool {
    comment.is_some_and(|it| it != NO_VERDICT)
}

/// Packets one after the other, of two captures; what one carries and acknowledges is one row.
#[derive(Debug, Default)]
pub(crate) struct Ladder {
    /// In order of time: the kind of a packet may be known later, and one capture be read before
    /// the other.
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
        let from = self.rows.partition_point(|row| row.at_ns < from);
        let until = self.rows.partition_point(|row| row.at_ns <= until).max(from);
        let [from, until] = if are_last {
            [from.max(until.saturating_sub(most)), until]
        } else {
            [from, until.min(from + most)]
        };
        self.rows.range(from..until).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The latest ones.
    pub(crate) fn latest(&self) -> Vec<PacketRow> {
        self.rows.range(self.rows.len().saturating_sub(TOLD)..).cloned().collect()
    }

    /// Forgets the first ones that are too many.
    pub(crate) fn trim(&mut self, kept: usize) {
        self.rows.drain(..self.rows.len().saturating_sub(kept.max(TOLD)));
    }

    /// Puts a packet in its place.
    pub(crate) fn put(&mut self, row: PacketRow) {
        self.count += 1;
        let place = |it: &PacketRow| (it.at_ns, it.captured_by, it.frame);
        let later = self.rows.iter().rev().take_while(|it| place(it) > place(&row)).count();
        self.rows.insert(self.rows.len() - later, row);
    }

    /// The row of a packet, if it has one.
    fn row(&mut self, by: Endpoint, frame: u64, at: Instant) -> Option<&mut PacketRow> {
        let mut near = self.rows.iter_mut().rev().take_while(|row| row.at_ns >= at.as_nanos());
        near.find(|row| (row.captured_by, row.frame) == (by, frame))
    }

    /// A packet with data, SYN or FIN.
    pub(crate) fn segment(&mut self, seen: Seen, segment: &Segment, at: Instant) {
        let Seen { by, connection, from_client } = seen;
        let flags = [(segment.syn, "SYN"), (segment.fin, "FIN"), (segment.psh, "PSH")];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name);
        self.put(PacketRow {
            frame: segment.frame,
            captured_by: by,
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

    /// What a packet acknowledges.
    pub(crate) fn ack(&mut self, seen: Seen, ack: &Ack, at: Instant) {
        let Seen { by, connection, from_client } = seen;
        let window_bytes = ack.window.map(tcplab_units::Bytes::as_u64);
        // Of a packet with data the segment is a row already.
        if let Some(row) = self.row(by, ack.frame, at) {
            (row.ack, row.window_bytes) = (Some(ack.ack.as_u64()), window_bytes);
            if ack.reset {
                row.flags = [RESET, &row.flags].join(" ").trim_end().into();
            }
            return;
        }
        let block = |range: &tcplab_trace::Range| [range.start.as_u64(), range.end.as_u64()];
        self.put(PacketRow {
            frame: ack.frame,
            captured_by: by,
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

    /// A reset that acknowledges nothing.
    pub(crate) fn reset(&mut self, seen: Seen, reset: BareReset, at: Instant) {
        let Seen { by, connection, from_client } = seen;
        self.put(PacketRow {
            frame: reset.frame,
            captured_by: by,
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

    const CLIENT: Seen = Seen { by: Endpoint::Client, connection: 0, from_client: true };
    const SERVER: Seen = Seen { by: Endpoint::Server, connection: 0, from_client: false };

    fn ack(frame: u64, reset: bool) -> Ack {
        Ack {
            at: Instant::ZERO,
            frame,
            flags: tcplab_wire::TcpFlags::NONE,
            ack: Offset::new(2_001),
            window: None,
            sack: Vec::new(),
            dsack: None,
            duplicate: false,
            copied: false,
            reset,
            zero: reset,
            has_data: false,
            in_flight: Bytes::ZERO,
            comment: None,
            dropped: false,
        }
    }

    #[test]
    fn reset_is_shown_with_and_without_an_acknowledgement() {
        let mut ladder = Ladder::default();
        ladder.ack(CLIENT, &ack(1, false), Instant::ZERO);
        ladder.ack(CLIENT, &ack(2, true), Instant::ZERO);
        let place = Offset::new(1);
        let bare = BareReset {
            at: Instant::ZERO,
            frame: 3,
            flags: tcplab_wire::TcpFlags::NONE,
            place,
            zero: true,
            from_sender: true,
            comment: None,
        };
        ladder.reset(Seen { from_client: false, ..CLIENT }, bare, Instant::ZERO);
        let rows = ladder.latest();
        let shown = rows.iter().map(|row| (&*row.flags, row.ack)).collect::<Vec<_>>();
        assert_eq!(shown, [("", Some(2_001)), ("RST", Some(2_001)), ("RST", None)]);
    }

    /// One capture is read before the other: packets are in order of time all the same, and of the
    /// same time in the order of their capture.
    #[test]
    fn packets_of_two_captures_are_in_order_of_time() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut ladder = Ladder::default();
        for (frame, ms) in [(1, 0), (2, 20), (3, 20), (4, 40), (5, 60)] {
            ladder.ack(CLIENT, &ack(frame, false), at(ms));
        }
        for (frame, ms) in [(2, 10), (9, 20), (3, 50)] {
            ladder.ack(SERVER, &ack(frame, false), at(ms));
        }
        let listed = |rows: Vec<PacketRow>| -> Vec<(bool, u64)> {
            rows.iter().map(|it| (it.from_client, it.frame)).collect()
        };
        let [c, s] = [true, false];
        let all = [(c, 1), (s, 2), (c, 2), (c, 3), (s, 9), (c, 4), (s, 3), (c, 5)];
        assert_eq!(listed(ladder.latest()), all);
        let between = |from, until, most, are_last| {
            listed(ladder.between([at(from), at(until)], most, are_last))
        };
        assert_eq!(between(10, 40, 9, false), all[1..6]);
        assert_eq!(between(10, 40, 2, false), all[1..3]);
        assert_eq!(between(10, 40, 2, true), all[4..6]);
        assert_eq!(between(61, 10, 2, true), []);
    }

    /// Of very many the latest are kept, whichever capture is read first.
    #[test]
    fn late_reader_takes_no_place_of_later_packets() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut ladder = Ladder::default();
        for (seen, from, count) in [(CLIENT, 100, 100), (SERVER, 0, 150)] {
            for frame in 1..=count {
                ladder.ack(seen, &ack(frame, false), at(2 * (from + frame)));
                ladder.trim(0);
            }
        }
        let rows = ladder.latest();
        assert_eq!(rows.len(), TOLD);
        assert!(rows.iter().all(|row| row.from_client));
    }
}
