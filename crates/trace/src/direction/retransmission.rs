//! Classifies packets below the highest byte seen: out of order, duplicate or retransmission.
//!
//! The sender's marks decide first ([`SendOrder`]): a packet sent before the one that revealed its
//! gap is out of order; one sent after it retransmits data lost before the capture point. Otherwise
//! the capture point decides: at the sender nothing is out of order. Then the time: no sender
//! retransmits before an ACK can have revealed the gap, that is, within an RTT.

use std::cmp::Ordering;

use tcplab_units::{Instant, Offset, Span};

use super::capture_point::Distances;
use super::classification::{Classification, RetransmittedPacket};
use super::gaps::SequenceGaps;
use super::scoreboard::Scoreboard;
use super::send_order::{DuplicatedBy, SendOrder, SendStamp};
use super::sender_model::SenderModel;
use crate::packet::Packet;
use crate::{CapturePoint, Confidence, Proof, Range, SegmentKind, Sign, Spurious};

/// The RTT where none is known, as in Wireshark.
const SHORT: Span = Span::from_millis(3);
/// The shortest keep-alive interval: whole seconds (Linux: `TCP_KEEPIDLE`, `TCP_KEEPINTVL`).
const SHORTEST_KEEP_ALIVE: Span = Span::from_millis(900);
/// A copy late by fewer packets is recognised by its identification.
const OVERTAKEN: i16 = 8;

/// The surroundings of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) distances: &'a Distances,
    pub(crate) forward: bool,
    /// The sender has received data that none of its captured ACKs acknowledged.
    pub(crate) owes: bool,
}

impl Context<'_> {
    /// The round trip from the capture point to the sender.
    pub(crate) fn to_sender(self) -> Option<Span> {
        self.distances.to_sender(self.forward)
    }
}

/// Classifies the packets of one direction below its highest byte.
#[derive(Debug, Default)]
pub(crate) struct Classifier {
    pub(crate) send_order: SendOrder,
    pub(crate) gaps: SequenceGaps,
    pub(crate) counts: Counts,
    last: Option<(Range, Instant)>,
    /// The IP identification of the last packet with data.
    last_id: Option<u16>,
    /// The sequence number of a packet without data above everything seen (RFC 9293 section 3.3.1:
    /// SND.NXT), and how often the data before it were sent, by identifications.
    announced: Option<(Offset, SendStamp, u32)>,
    /// Data packets lost before the capture point above everything seen, by identifications.
    lost_before_capture: u32,
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) out_of_order: u64,
    pub(crate) not_captured: u64,
    /// Retransmissions of captured, unacknowledged data.
    pub(crate) captured: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogEntry {
    /// Seen for the first time.
    First,
    /// Retransmits captured data.
    Retransmission,
    /// Not sent by the sender, or without interest to it.
    NotLogged,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) range: Range,
    pub(crate) context: Context<'a>,
    /// The receiver advertised a zero window.
    pub(crate) closed: bool,
}

impl Classifier {
    /// Classifies a packet with sequence space that starts below the highest byte.
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
            // Captured after its acknowledgement.
            let proof = Proof { by: Sign::Time, waited: after, nth: 1, ..Proof::default() };
            let classification = Classification { proof, ..Classification::new_data() };
            return (classification, LogEntry::NotLogged);
        }
        if self.send_order.step(packet).is_some_and(|step| is_of_old(step, range, board)) {
            // A duplicate whose original is forgotten.
            self.send_order.copied();
            let proof = Proof { by: Sign::IpId, ..Proof::default() };
            let kind = SegmentKind::NetworkDuplicate;
            return (Classification { kind, timer: None, proof }, LogEntry::NotLogged);
        }
        self.counts.captured += u64::from(!board.covers(range));
        let classification = Classifier::retransmission(candidate, (0, false), sender_model, board);
        self.remember_absent(candidate, &classification, board);
        (classification, LogEntry::Retransmission)
    }

    /// Whether a packet above everything captured retransmits data lost before the capture point:
    /// packets of its sender are [missing](SendOrder::absent), with nothing to acknowledge they
    /// carried data, and after a silence as long as a timer's it can only have been the same data.
    /// With reordering, or in a capture that lacks other data, missing packets prove nothing.
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
        // New data begin where the packets known to be lost end.
        let gap = range.start.since(board.high).as_u64();
        let pieces = gap.div_ceil(range.len().max(1)) as u32;
        if self.lost_before_capture > pieces {
            self.lost_before_capture -= pieces + 1;
            self.counts.not_captured += 1;
            let lost = (absent.max(1), false);
            return Some(Classifier::retransmission(candidate, lost, sender_model, board));
        }
        self.lost_before_capture = 0;
        // No gap may exist that the missing packets can have retransmitted.
        let is_by_timer =
            sender_model.is_silent(packet.at, context.to_sender().unwrap_or_default());
        let is_all_there = gap == 0 && board.una == board.high && self.gaps.is_empty();
        if absent == 0 || !is_all_there || !is_by_timer {
            return None;
        }
        self.counts.not_captured += 1;
        // A single missing packet is what this one retransmits: there was nothing above it.
        Some(Classifier::retransmission(candidate, (absent, absent == 1), sender_model, board))
    }

    /// Classifies data announced by an earlier packet without data: retransmitted or reordered.
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
            // Without an RTT nothing separates it from one that was overtaken.
            let least = candidate.context.distances.round_trip().or(board.min_round_trip)?;
            waited > least * 3 / 4
        };
        if !later {
            return None;
        }
        self.counts.not_captured += 1;
        let lost = (times, candidate.range.end >= next);
        Some(Classifier::retransmission(candidate, lost, sender_model, board))
    }

    /// Remembers a packet without data above everything seen.
    pub(crate) fn announce(&mut self, next: Offset, high: Offset, packet: &Packet) {
        // Too short for two packets: sent as often as packets are missing.
        let single = next.since(high).as_u64() == 1;
        let times = if single { self.send_order.absent(packet).max(1) } else { 1 };
        self.announced = Some((next, SendStamp::of(packet), times));
    }

    /// Packets missing before a retransmission were above everything seen, or filled other gaps.
    fn remember_absent(
        &mut self,
        candidate: &Candidate<'_>,
        classification: &Classification,
        board: &Scoreboard,
    ) {
        let &Candidate { packet, range, context, .. } = candidate;
        let absent = self.send_order.absent(packet);
        // Without SACK a sender also retransmits data that arrived: missing packets prove nothing.
        let unknown = board.without_sack || !self.absent_are_data(context);
        if absent == 0 || classification.timer.is_some() || unknown {
            return;
        }
        let below = Range { start: Offset::ZERO, end: range.start };
        // Every gap may have been retransmitted and lost again.
        let missing = self.gaps.within(below).div_ceil(range.len().max(1)) as u32;
        self.lost_before_capture =
            self.lost_before_capture.saturating_add(absent.saturating_sub(missing));
    }

    fn absent_are_data(&self, context: Context<'_>) -> bool {
        let away = context.distances.round_trip().is_some() && !self.is_beside_sender(context);
        let data = !context.owes || self.send_order.is_seldom_bare();
        // A capture that lacks other data may lack these.
        away && data && self.counts.out_of_order == 0 && self.gaps.lacks_nothing()
    }

    /// Classifies a packet that lies in a gap.
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
            // At the sender nothing is out of order: the capture wrote it late.
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
        let mut classification =
            Classifier::retransmission(candidate, (1, false), sender_model, board);
        if classification.kind == SegmentKind::OriginalNotCaptured {
            let proof = &mut classification.proof;
            (proof.by, proof.frame, proof.waited) = (sign, Some(revealed_by.frame), waited);
        }
        self.remember_absent(candidate, &classification, board);
        (classification, LogEntry::First)
    }

    /// Data of which so many transmissions were lost before the capture point; `alone`: with
    /// nothing sent above them.
    fn retransmission(
        candidate: &Candidate<'_>,
        (unseen, alone): (u32, bool),
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> Classification {
        let &Candidate { packet, range, context, .. } = candidate;
        let first = Range { start: range.start, end: Offset::new(range.start.as_u64() + 1) };
        let earlier = board.log.overlapping(first);
        let before = earlier.last().and_then(|&order| Some(board.log.get(order)?.frame));
        let nth = (earlier.len() as u32 + 1 + unseen).max(2);
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
            echo: packet.timestamps.map(|(_, echo)| echo),
            at_sender: is_at_sender(context),
        };
        let mut classification = sender_model.classify_retransmission(&again, board);
        if unseen == 0 && board.covers(range) {
            classification.proof.spurious = Some(Spurious::Acknowledged);
        }
        classification
    }

    /// A probe of one byte, old or new (Linux: [`Classifier::probe_without_data`]).
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

    /// Whether data of this direction were captured.
    pub(crate) fn has_data(&self) -> bool {
        self.last.is_some()
    }

    /// A packet without data just below the acknowledged data (`tcp_xmit_probe_skb`).
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

    #[inline(always)]
    pub(crate) fn passed(&mut self, packet: &Packet, range: Option<Range>, kind: SegmentKind) {
        let follows = self.last.zip(range).is_none_or(|((last, _), now)| now.start == last.end);
        // While a gap is open, retransmissions may be lost before the capture point.
        let in_order = follows && kind == SegmentKind::New && self.gaps.is_empty();
        self.send_order.passed(packet, range.is_some(), in_order);
        if let Some(range) = range {
            self.last = Some((range, packet.at));
            self.last_id = packet.ip_id;
        }
    }

    /// Whether data missing before `packet` had been sent before the last packet, which lies below
    /// them: nothing was sent between the two, by the identifications. So the last packet was a
    /// retransmission, and a timer's: nothing above it had arrived.
    pub(crate) fn shows_timeout(&self, packet: &Packet, high: Offset) -> bool {
        let is_next = |last: u16| packet.ip_id == Some(last.wrapping_add(1));
        self.last.is_some_and(|(last, _)| last.end == high) && self.last_id.is_some_and(is_next)
    }

    /// Whether a packet that continues the stream is plain new data, with none missing before it.
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

    /// Whether all that the sender sent so far was captured, as far as can be seen.
    pub(crate) fn sees_all(&self, context: Context<'_>) -> bool {
        let (tap, _) = context.distances.place(context.forward);
        let missed = self.counts.not_captured + self.counts.out_of_order;
        tap != CapturePoint::Receiver && missed == 0 && self.gaps.is_empty()
    }

    fn is_beside_sender(&self, context: Context<'_>) -> bool {
        is_at_sender(context) && self.counts.out_of_order == 0
    }
}

/// Whether ACKs that pass the capture point reach the sender for certain.
fn is_at_sender(context: Context<'_>) -> bool {
    let (tap, sure) = context.distances.place(context.forward);
    tap == CapturePoint::Sender && sure >= Confidence::Medium
}

/// Whether the identification is as old as the place in the stream; retransmissions are newer.
fn is_of_old(step: i16, range: Range, board: &Scoreboard) -> bool {
    let since = board.high.since(range.start).as_u64() / range.len().max(1);
    step < -OVERTAKEN && u64::from(step.unsigned_abs()) * 2 >= since
}

pub(crate) fn probe(kind: SegmentKind, by: Sign) -> Classification {
    Classification { kind, timer: None, proof: Proof { by, nth: 1, ..Proof::default() } }
}
