//! What a packet is that lies below the highest byte seen: out of order on its way, a copy, or sent
//! again.
//!
//! The sender's own marks come first ([`SendOrder`]): a packet that was sent before the one that
//! showed the gap it fills was out of order; one sent after it repeats what was lost before the
//! capture point. Where neither number nor clock tells, the place of the capture point does: beside
//! the sender nothing is out of order. Then the time: nobody retransmits before an acknowledgement
//! can have told of the gap, that is, within a round trip.

use std::cmp::Ordering;

use tcplab_units::{Instant, Offset, Span};

use super::capture_point::Distances;
use super::gaps::SequenceGaps;
use super::scoreboard::Scoreboard;
use super::send_order::{DuplicatedBy, SendOrder, SendStamp};
use super::sender_model::{Classification, RetransmittedPacket, SenderModel};
use crate::packet::Packet;
use crate::{CapturePoint, Confidence, Proof, Range, SegmentKind, Sign, Spurious};

/// Taken for the round trip where none is known, as Wireshark does.
const SHORT: Span = Span::from_millis(3);
/// A keep-alive with a byte of data looks like that byte retransmitted; but no timer for
/// keep-alives is shorter (Linux: `TCP_KEEPIDLE`, `TCP_KEEPINTVL` in whole seconds).
const SHORTEST_KEEP_ALIVE: Span = Span::from_millis(900);
/// A copy that comes fewer packets late is known by its number.
const OVERTAKEN: i16 = 8;

/// What is around a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) distances: &'a Distances,
    pub(crate) forward: bool,
    /// The sender has seen data that no acknowledgement of its own, as far as they passed, took in.
    pub(crate) owes: bool,
}

impl Context<'_> {
    /// From the capture point to the sender, and back.
    pub(crate) fn to_sender(self) -> Option<Span> {
        self.distances.to_sender(self.forward)
    }
}

/// What was seen of one direction below its highest byte.
#[derive(Debug, Default)]
pub(crate) struct Classifier {
    pub(crate) send_order: SendOrder,
    pub(crate) gaps: SequenceGaps,
    pub(crate) counts: Counts,
    last: Option<(Range, Instant)>,
    /// Where a packet without data stood that came from above everything seen: what lies before it
    /// had been sent when it was (RFC 9293 section 3.3.1: SND.NXT).
    /// Also how many times it must have been sent, as far as numbers tell.
    announced: Option<(Offset, SendStamp, u32)>,
    /// Packets lost before the capture point whose data lay above all seen then, as far as the
    /// numbers tell.
    lost_before_capture: u32,
}

/// How often what was seen.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    /// Packets that something sent later had out of order.
    pub(crate) out_of_order: u64,
    /// Retransmissions of what was lost before the capture point.
    pub(crate) not_captured: u64,
    /// Retransmissions of what had passed the capture point and was not acknowledged.
    pub(crate) captured: u64,
}

/// How a packet is to be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogEntry {
    /// Seen for the first time.
    First,
    /// Repeats what passed.
    Retransmission,
    /// Not sent by the sender, or of no interest to it.
    NotLogged,
}

/// A packet with its neighbourhood, to be judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) range: Range,
    pub(crate) context: Context<'a>,
    /// The receiver's window was closed.
    pub(crate) closed: bool,
}

impl Classifier {
    /// Judges a packet that takes room in the stream and starts below the highest byte seen.
    pub(crate) fn classify(
        &mut self,
        candidate: &Candidate<'_>,
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> (Classification, LogEntry) {
        let &Candidate { packet, range, context, .. } = candidate;
        let round_trip = context.distances.round_trip().or(board.min_round_trip);
        if let Some(copy) = self.send_order.copy(packet, round_trip) {
            self.send_order.copied();
            let kind = match copy.by {
                DuplicatedBy::Network => SegmentKind::NetworkDuplicate,
                DuplicatedBy::Capture => SegmentKind::CaptureDuplicate,
            };
            let proof = Proof {
                by: copy.sign,
                frame: Some(copy.of),
                waited: copy.after,
                ..Proof::default()
            };
            return (Classification { kind, timer: None, proof }, LogEntry::NotLogged);
        }
        if let Some(probe) = self.probe_with_data(candidate, board) {
            return (probe, LogEntry::NotLogged);
        }
        if let Some(gap) = self.gaps.first_overlapping(range) {
            return self.classify_in_gap(candidate, gap.revealed_by, sender_model, board);
        }
        if let Some(after) = self.gaps.late(range, packet.at)
            && self.was_written_late(packet, after, round_trip)
        {
            // The capture has it after its acknowledgement.
            let proof = Proof { by: Sign::Time, waited: after, nth: 1, ..Proof::default() };
            let classification = Classification { proof, ..Classification::new_data() };
            return (classification, LogEntry::NotLogged);
        }
        if self.send_order.step(packet).is_some_and(|step| is_of_old(step, range, board)) {
            // A copy whose original is forgotten.
            self.send_order.copied();
            let proof = Proof { by: Sign::IpId, ..Proof::default() };
            let kind = SegmentKind::NetworkDuplicate;
            return (Classification { kind, timer: None, proof }, LogEntry::NotLogged);
        }
        self.counts.captured += u64::from(!board.covers(range));
        let classification = Classifier::retransmission(candidate, 0, sender_model, board);
        self.remember_absent(candidate, &classification, board);
        (classification, LogEntry::Retransmission)
    }

    /// Whether a packet from above all that was seen repeats what was lost before it: packets of
    /// its sender are absent. With nothing to acknowledge they carried data; in front of a packet
    /// that goes on in order it can only have been the same data, for anything else would have left
    /// a gap. Where the path reorders, nothing follows from what is absent.
    pub(crate) fn goes_on_again(
        &mut self,
        candidate: &Candidate<'_>,
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let &Candidate { packet, range, context, .. } = candidate;
        if let Some(again) = self.was_announced(candidate, sender_model, board) {
            return Some(again);
        }
        let absent = self.send_order.absent(packet);
        if absent + self.lost_before_capture == 0 || !self.absent_are_data(context) {
            return None;
        }
        // Where the packets that are known to be lost from above end, new data begin.
        let gap = range.start.since(board.high).as_u64();
        let pieces = gap.div_ceil(range.len().max(1)) as u32;
        if self.lost_before_capture > pieces {
            self.lost_before_capture -= pieces + 1;
            self.counts.not_captured += 1;
            return Some(Classifier::retransmission(candidate, absent.max(1), sender_model, board));
        }
        self.lost_before_capture = 0;
        // Nothing may be missing that the absent packets can have repeated.
        if absent == 0 || gap > 0 || board.una < board.high || !self.gaps.is_empty() {
            return None;
        }
        self.counts.not_captured += 1;
        // A single one that is absent is what this repeats: there was nothing above it.
        Some(Classifier::retransmission_of(candidate, (absent, absent == 1), sender_model, board))
    }

    /// What is to be said of data that a packet before them showed to have been sent by then,
    /// if one
    /// did: retransmitted, or out of order by a packet without data, which is nothing of note.
    fn was_announced(
        &mut self,
        candidate: &Candidate<'_>,
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let (next, stamp, times) = self.announced?;
        if candidate.range.end >= next {
            self.announced = None;
        }
        if candidate.range.start >= next {
            return None;
        }
        let waited = candidate.packet.at.since(stamp.at);
        let later = if let Some((order, _)) = self.send_order.order(candidate.packet, &stamp) {
            order == Ordering::Greater
        } else {
            let least = candidate.context.distances.round_trip().or(board.min_round_trip);
            waited > least.map_or(SHORT, |whole| whole * 3 / 4)
        };
        if !later {
            return None;
        }
        self.counts.not_captured += 1;
        Some(Classifier::retransmission_of(
            candidate,
            (times, candidate.range.end >= next),
            sender_model,
            board,
        ))
    }

    /// A packet without data stood above everything seen.
    pub(crate) fn announce(&mut self, next: Offset, high: Offset, packet: &Packet) {
        // What is too short for two packets was sent as often as packets are absent.
        let single = next.since(high).as_u64() == 1;
        let times = if single { self.send_order.absent(packet).max(1) } else { 1 };
        self.announced = Some((next, SendStamp::of(packet), times));
    }

    /// What is absent before a retransmission lay above all that was seen, or repeated what is
    /// missing still below it.
    fn remember_absent(
        &mut self,
        candidate: &Candidate<'_>,
        classification: &Classification,
        board: &Scoreboard,
    ) {
        let &Candidate { packet, range, context, .. } = candidate;
        let absent = self.send_order.absent(packet);
        // Without SACK a sender repeats what has arrived as well: absent packets may be anything.
        let unknown = board.without_sack || !self.absent_are_data(context);
        if absent == 0 || classification.timer.is_some() || unknown {
            return;
        }
        let below = Range { start: Offset::ZERO, end: range.start };
        // All that is missing may have been retransmitted before, and lost again.
        let missing = self.gaps.within(below).div_ceil(range.len().max(1)) as u32;
        self.lost_before_capture =
            self.lost_before_capture.saturating_add(absent.saturating_sub(missing));
    }

    fn absent_are_data(&self, context: Context<'_>) -> bool {
        let away = context.distances.round_trip().is_some() && !self.is_beside_sender(context);
        let data = !context.owes || self.send_order.is_seldom_bare();
        away && data && self.counts.out_of_order == 0
    }

    /// A packet that the capture point had a gap for.
    fn classify_in_gap(
        &mut self,
        candidate: &Candidate<'_>,
        revealed_by: SendStamp,
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> (Classification, LogEntry) {
        let &Candidate { packet, context, .. } = candidate;
        let waited = packet.at.since(revealed_by.at);
        let beside = self.is_beside_sender(context);
        let (order, sign) = match self.send_order.order(packet, &revealed_by) {
            Some(order) => order,
            None if beside => (Ordering::Greater, Sign::AtSender),
            None => {
                let least = context.distances.round_trip().map_or(SHORT, |whole| whole * 3 / 4);
                (waited.cmp(&least), Sign::Time)
            }
        };
        if order == Ordering::Less {
            let proof =
                Proof { by: sign, frame: Some(revealed_by.frame), waited, nth: 1, spurious: None };
            // Beside the sender nothing reorders: the capture wrote it late.
            let kind = if beside { SegmentKind::New } else { SegmentKind::OutOfOrder };
            self.counts.out_of_order += u64::from(!beside);
            return (Classification { kind, timer: None, proof }, LogEntry::First);
        }
        self.counts.not_captured += u64::from(!beside);
        if !sender_model.has_heard() {
            let kind = SegmentKind::OriginalNotCaptured;
            let proof =
                Proof { by: sign, frame: Some(revealed_by.frame), waited, nth: 2, spurious: None };
            return (Classification { kind, timer: None, proof }, LogEntry::First);
        }
        let classification = Classifier::retransmission(candidate, 1, sender_model, board);
        self.remember_absent(candidate, &classification, board);
        (classification, LogEntry::First)
    }

    fn retransmission(
        candidate: &Candidate<'_>,
        unseen: u32,
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> Classification {
        Classifier::retransmission_of(candidate, (unseen, false), sender_model, board)
    }

    fn retransmission_of(
        candidate: &Candidate<'_>,
        (unseen, alone): (u32, bool),
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> Classification {
        let &Candidate { packet, range, context, .. } = candidate;
        let first = Range { start: range.start, end: Offset::new(range.start.as_u64() + 1) };
        let seen = board.log.overlapping(first);
        let before = seen.last().and_then(|&order| Some(board.log.get(order)?.frame));
        let nth = (seen.len() as u32 + 1 + unseen).max(2);
        let beyond = context.to_sender().unwrap_or_default();
        let again = RetransmittedPacket {
            at: packet.at,
            frame: packet.frame,
            range,
            nth,
            before,
            unseen,
            alone,
            beyond,
        };
        let mut classification = sender_model.classify_retransmission(&again, board);
        if unseen == 0 && board.covers(range) {
            classification.proof.spurious = Some(Spurious::Acknowledged);
        }
        classification
    }

    /// Linux probes without data ([`Classifier::probe_without_data`]); others send a byte: what the
    /// zero window leaves out, or the last one again.
    fn probe_with_data(
        &self,
        candidate: &Candidate<'_>,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let &Candidate { packet, range, closed, .. } = candidate;
        if packet.payload > 1 || packet.syn() || packet.fin() {
            return None;
        }
        if closed && range.start == board.una {
            return Some(probe(SegmentKind::WindowProbe, Sign::ZeroWindow));
        }
        let (last, at) = self.last?;
        let idle = packet.at.since(at) >= SHORTEST_KEEP_ALIVE;
        let below = range.end == board.una && board.una == board.high;
        (below && idle && last != range)
            .then(|| probe(SegmentKind::KeepAlive, Sign::BelowAcknowledged))
    }

    /// A byte sent for the first time, into a zero window.
    pub(crate) fn probe_beyond() -> Classification {
        probe(SegmentKind::WindowProbe, Sign::ZeroWindow)
    }

    /// Whether data of this direction were seen.
    pub(crate) fn seen(&self) -> bool {
        self.last.is_some()
    }

    /// A packet without data whose number lies just below what was acknowledged, where an
    /// acknowledgement cannot stand (`tcp_xmit_probe_skb`).
    pub(crate) fn probe_without_data(
        &self,
        packet: &Packet,
        place: i64,
        closed: bool,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let just_below = packet.is_bare() && place + 1 == board.una.as_u64() as i64;
        if !just_below || self.send_order.step(packet).is_some_and(|s| s < 0) {
            return None;
        }
        Some(if closed {
            probe(SegmentKind::WindowProbe, Sign::ZeroWindow)
        } else {
            probe(SegmentKind::KeepAlive, Sign::BelowAcknowledged)
        })
    }

    /// Takes in a packet of the direction, whatever it was judged to be.
    #[inline(always)]
    pub(crate) fn passed(&mut self, packet: &Packet, range: Option<Range>, kind: SegmentKind) {
        let follows = self.last.zip(range).is_none_or(|((last, _), now)| now.start == last.end);
        let in_order = follows && kind == SegmentKind::New;
        self.send_order.passed(packet, range.is_some(), in_order);
        if let Some(range) = range {
            self.last = Some((range, packet.at));
        }
    }

    /// Whether a packet with data that goes on where the last one ended is just that: none is
    /// absent before it, and nothing was shown to lie above.
    #[inline]
    pub(crate) fn is_next(&self, packet: &Packet) -> bool {
        self.announced.is_none() && self.lost_before_capture == 0 && !self.send_order.skips(packet)
    }

    fn was_written_late(&self, packet: &Packet, after: Span, round_trip: Option<Span>) -> bool {
        match self.send_order.step(packet) {
            Some(step) => step < 0 || after < SHORT,
            None => after < round_trip.map_or(SHORT, |least| least / 2),
        }
    }

    fn is_beside_sender(&self, context: Context<'_>) -> bool {
        let (tap, sure) = context.distances.place(context.forward);
        tap == CapturePoint::Sender && sure >= Confidence::Medium && self.counts.out_of_order == 0
    }
}

/// Whether a packet that stands so many numbers back is as old as its place in the stream: what is
/// retransmitted is newer, even when it was out of order.
fn is_of_old(step: i16, range: Range, board: &Scoreboard) -> bool {
    let since = board.high.since(range.start).as_u64() / range.len().max(1);
    step < -OVERTAKEN && u64::from(step.unsigned_abs()) * 2 >= since
}

fn probe(kind: SegmentKind, by: Sign) -> Classification {
    Classification { kind, timer: None, proof: Proof { by, nth: 1, ..Proof::default() } }
}
