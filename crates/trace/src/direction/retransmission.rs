//! Classifies packets below the highest byte seen: out of order, duplicate or retransmission.
//!
//! The sender's marks decide first ([`SendOrder`]): a packet sent before the one that revealed its
//! gap is out of order; one sent after it retransmits data lost before the capture point. Otherwise
//! the capture point decides: at the sender nothing is out of order. Then the time: no sender
//! retransmits before an ACK can have revealed the gap, that is, within an RTT, and none without an
//! ACK or a timer. What none of these decides [fills a gap](SegmentKind::FillsGap), and is called
//! neither.

use std::cmp::Ordering;
use std::mem::take;

use tcplab_units::{Bytes, Instant, Offset, Span};

use super::capture_point::Distances;
use super::classification::{Classification, NewData, RetransmittedPacket};
use super::gaps::SequenceGaps;
use super::passed_packet::{Announced, SendStamp};
use super::scoreboard::Scoreboard;
use super::send_order::{DuplicatedBy, SendOrder};
use super::sender_model::{SHORTEST_TIMER, SenderModel};
use crate::fold::folded;
use crate::observers::LONGEST_FIRST_TIMEOUT;
use crate::packet::Packet;
use crate::{CapturePoint, Confidence, Proof, Range, SegmentKind, Sign, Spurious};

/// How long acknowledged data may come late where no RTT is known, as in Wireshark.
const SHORT: Span = Span::from_millis(3);
/// The shortest keep-alive interval: whole seconds (Linux: `TCP_KEEPIDLE`, `TCP_KEEPINTVL`).
const SHORTEST_KEEP_ALIVE: Span = Span::from_millis(900);
/// The first byte of data, and of a capture that begins later.
const FIRST: Offset = Offset::new(1);
/// A copy late by fewer packets is recognised by its identification.
const OVERTAKEN: i16 = 8;

/// The surroundings of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) distances: &'a Distances,
    pub(crate) forward: bool,
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
    /// The end of its FIN.
    fin: Option<Offset>,
    /// The last keep-alive with a byte.
    kept_alive: Option<Range>,
    /// Where the last retransmission of captured data began.
    repeated: Option<Offset>,
    /// The last SYN of the peer.
    asked: Option<(Instant, u64)>,
    /// The last RST of the peer.
    refused: Option<(Instant, u64)>,
    /// It sent a SYN without ACK, and none with one.
    asks: bool,
    /// The first packet with sequence space: all below it was sent before the capture, or is late.
    first: Option<SendStamp>,
    pub(super) announced: Option<Announced>,
    /// The byte of the last zero-window probe: the receiver had no room for it.
    probed: Option<Offset>,
}
folded! {
    Classifier {
        send_order, gaps, counts, last, fin, kept_alive, repeated, asked, refused, asks, first,
        announced, probed
    }
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) out_of_order: u64,
    pub(crate) not_captured: u64,
    /// Retransmissions of captured, unacknowledged data.
    pub(crate) captured: u64,
}
folded! { Counts { out_of_order, not_captured, captured } }

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
    /// All that the sender sent so far was captured, as far as can be seen.
    pub(crate) whole: bool,
}

impl Classifier {
    /// Classifies a packet with sequence space that starts below the highest byte. `unseen`: so
    /// many of its bytes come only now, though they were acknowledged.
    pub(crate) fn classify(
        &mut self,
        candidate: &Candidate<'_>,
        sender_model: &mut SenderModel,
        board: &Scoreboard,
        unseen: &mut u64,
    ) -> (Classification, LogEntry) {
        let &Candidate { packet, range, context, .. } = candidate;
        let round_trip = context.distances.round_trip().or(board.min_round_trip);
        let is_seen = range.end <= board.high && self.gaps.first_overlapping(range).is_none();
        if let Some(copy) = self.copy(packet, round_trip, is_seen) {
            return (copy, LogEntry::NotLogged);
        }
        let is_probed = self.probed == Some(range.start) && board.una == range.start;
        if is_probed && (packet.payload > 1 || !candidate.closed) {
            // The receiver had no room for the probe's byte: it is sent again with new data.
            self.probed = None;
            let (at, frame) = (packet.at, packet.frame);
            let beyond = context.to_sender().unwrap_or_default();
            let new = NewData { at, frame, range, may_be_probe: false, small: false, beyond };
            return (sender_model.classify_new(&new, board), LogEntry::First);
        }
        if let Some(probe) = self.probe_with_data(candidate, sender_model.advanced(), board) {
            return (probe, LogEntry::NotLogged);
        }
        if packet.syn() && packet.ack.is_some() && take(&mut self.asks) {
            // The answer to a SYN that met its own (RFC 9293 section 3.5, figure 7).
            return (Classification::new_data(), LogEntry::NotLogged);
        }
        if let Some(syn) = self.repeated_syn(candidate, board) {
            return (syn, LogEntry::Retransmission);
        }
        if range.end <= FIRST && !packet.syn() {
            return (self.classify_before_first(packet), LogEntry::NotLogged);
        }
        if packet.syn() && self.first.is_none() && !sender_model.is_silent_for_timer(packet.at) {
            // Captured after its answer.
            let proof = Proof { by: Sign::Time, nth: 1, ..Proof::default() };
            let classification = Classification { proof, ..Classification::new_data() };
            return (classification, LogEntry::First);
        }
        if let Some(gap) = self.gaps.first_overlapping(range) {
            return self.classify_in_gap(candidate, gap.revealed_by, sender_model, board);
        }
        let late = self.gaps.late(range, packet.at);
        *unseen = late.map_or(0, |(_, bytes)| bytes);
        if let Some((after, _)) = late
            && self.was_written_late(packet, after, round_trip)
        {
            // Captured after its acknowledgement.
            let proof = Proof { by: Sign::Time, waited: after, nth: 1, ..Proof::default() };
            let classification = Classification { proof, ..Classification::new_data() };
            return (classification, LogEntry::NotLogged);
        }
        if self.send_order.step(packet).is_some_and(|step| is_of_old(step, range, board))
            && let Some(late) = self.classify_of_old(candidate, board)
        {
            return (late, LogEntry::NotLogged);
        }
        self.counts.captured += u64::from(!board.covers(range));
        self.repeated = Some(range.start);
        let classification = Classifier::retransmission(candidate, (0, false), sender_model, board);
        // An answer to the other end's FIN says nothing of the fate of its own.
        let is_answer = classification.kind == SegmentKind::RepeatedControl;
        let entry = if is_answer { LogEntry::NotLogged } else { LogEntry::Retransmission };
        (classification, entry)
    }

    /// Classifies data that were captured before, with an identification as old as their place: by
    /// their timestamps a retransmission, an original that its retransmission overtook, or, as of a
    /// duplicate, the same packet, forgotten since.
    fn classify_of_old(
        &mut self,
        candidate: &Candidate<'_>,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let &Candidate { packet, range, context, .. } = candidate;
        let stamps = [first_captured(range, board), self.send_order.stamp_of_same(packet)];
        let order = |of: SendStamp| Some((of, self.send_order.order(packet, &of)?));
        let orders = stamps.into_iter().flatten().filter_map(order);
        // The first that is known is decisive.
        match orders.min_by_key(|(of, _)| of.order()) {
            Some((_, (Ordering::Greater, _))) => None,
            Some((of, (_, by))) => {
                let (frame, waited) = (Some(of.frame), packet.at.since(of.at));
                let proof = Proof { by, frame, waited, nth: 1, spurious: None };
                Some(Classification { proof, ..self.classify_late(context) })
            }
            None => {
                let is_radio = packet.radio_retry;
                let by = if is_radio { DuplicatedBy::Radio } else { DuplicatedBy::Network };
                self.send_order.copied(by);
                let proof = Proof { by: Sign::IpId, ..Proof::default() };
                let kind = by.kind();
                Some(Classification { kind, timer: None, proof })
            }
        }
    }

    /// A packet that was captured before, whole, as part of a larger one or, if all its data were
    /// (`is_seen`), in pieces.
    fn copy(
        &mut self,
        packet: &Packet,
        round_trip: Option<Span>,
        is_seen: bool,
    ) -> Option<Classification> {
        let copy = self.send_order.copy(packet, round_trip);
        let copy = copy.inspect(|copy| self.send_order.copied(copy.by));
        let copy = copy.or_else(|| self.send_order.cut_or_joined(packet, is_seen))?;
        let kind = copy.by.kind();
        let (by, frame, waited) = (copy.sign, Some(copy.of), copy.after);
        let proof = Proof { by, frame, waited, ..Proof::default() };
        Some(Classification { kind, timer: None, proof })
    }

    /// Remembers a zero-window probe with the byte at `offset`.
    pub(crate) fn probes(&mut self, offset: Offset) {
        self.probed = Some(offset);
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
        if packet.fin() && self.fin.is_none() && beside {
            // It sent no data above its FIN: another did, a prober as a rule.
            return (Classification::new_data(), LogEntry::First);
        }
        let Some((order, sign)) = self.order_in_gap(candidate, revealed_by, sender_model) else {
            let frame = Some(revealed_by.frame);
            let proof = Proof { by: Sign::Time, frame, waited, ..Proof::default() };
            self.counts.out_of_order += u64::from(!beside);
            let kind = SegmentKind::FillsGap;
            return (Classification { kind, timer: None, proof }, LogEntry::First);
        };
        if order == Ordering::Less {
            let proof =
                Proof { by: sign, frame: Some(revealed_by.frame), waited, nth: 1, spurious: None };
            let late = self.classify_late(context);
            return (Classification { proof, ..late }, LogEntry::First);
        }
        self.counts.not_captured += u64::from(!beside);
        if !sender_model.has_heard() {
            let kind = SegmentKind::UnexplainedRetransmission;
            let proof =
                Proof { by: sign, frame: Some(revealed_by.frame), waited, nth: 2, spurious: None };
            return (Classification { kind, timer: None, proof }, LogEntry::First);
        }
        let mut classification =
            Classifier::retransmission(candidate, (1, false), sender_model, board);
        if classification.kind == SegmentKind::UnexplainedRetransmission {
            let proof = &mut classification.proof;
            (proof.by, proof.frame, proof.waited) = (sign, Some(revealed_by.frame), waited);
        }
        (classification, LogEntry::First)
    }

    /// Whether a packet in a gap was sent before or after the one that revealed the gap, and by
    /// which evidence; none if nothing decides.
    fn order_in_gap(
        &self,
        candidate: &Candidate<'_>,
        revealed_by: SendStamp,
        sender_model: &SenderModel,
    ) -> Option<(Ordering, Sign)> {
        let &Candidate { packet, context, .. } = candidate;
        if let Some(order) = self.send_order.order(packet, &revealed_by) {
            return Some(order);
        }
        let waited = packet.at.since(revealed_by.at);
        // Only an ACK or a timer makes a sender retransmit.
        let by_timer = waited >= SHORTEST_TIMER;
        let prompted = by_timer || sender_model.has_heard_since(&revealed_by);
        if self.is_beside_sender(context) {
            return prompted.then_some((Ordering::Greater, Sign::AtSender));
        }
        match context.distances.round_trip() {
            Some(whole) if waited < whole * 3 / 4 => Some((Ordering::Less, Sign::Time)),
            Some(_) => prompted.then_some((Ordering::Greater, Sign::Time)),
            None => by_timer.then_some((Ordering::Greater, Sign::Time)),
        }
    }

    /// Classifies data sent before a packet that was captured earlier. At the sender nothing is out
    /// of order: the capture wrote it late.
    fn classify_late(&mut self, context: Context<'_>) -> Classification {
        if self.is_beside_sender(context) {
            return Classification::new_data();
        }
        self.counts.out_of_order += 1;
        Classification { kind: SegmentKind::OutOfOrder, ..Classification::new_data() }
    }

    /// Classifies data from below the capture's first byte: retransmitted if its sender's marks say
    /// so, else unknown.
    pub(crate) fn classify_before_first(&self, packet: &Packet) -> Classification {
        let order = self.first.and_then(|first| self.send_order.order(packet, &first));
        let (kind, by) = match order {
            Some((Ordering::Greater, by)) => (SegmentKind::UnexplainedRetransmission, by),
            Some((_, by)) => (SegmentKind::OutOfOrder, by),
            None => (SegmentKind::FillsGap, Sign::None),
        };
        let proof = Proof { by, frame: self.first.map(|first| first.frame), ..Proof::default() };
        Classification { kind, timer: None, proof }
    }

    /// A SYN or SYN-ACK sooner after the last, or after a SYN of the peer that came again, than a
    /// timer sends it (RFC 6298 section 2.1: 1 s): an answer (RFC 9293 section 3.10.7.4) or a
    /// duplicate. Or a SYN after a refusal: another attempt.
    fn repeated_syn(
        &self,
        candidate: &Candidate<'_>,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let &Candidate { packet, range, .. } = candidate;
        // Without any, it is the first that was captured.
        self.first.filter(|_| packet.syn())?;
        let before = board.log.latest(range).and_then(|order| board.log.get(order));
        let before = before.map(|sent| (sent.at, sent.frame));
        let asked =
            self.asked.filter(|it| packet.ack.is_some() && Some(it.1) > before.map(|b| b.1));
        let refused = self.refused.filter(|it| Some(it.1) > before.map(|b| b.1));
        let (since, frame) = refused.or(asked).or(before)?;
        let waited = packet.at.since(since);
        let proof = Proof { by: Sign::Time, frame: Some(frame), waited, nth: 2, spurious: None };
        let kind = SegmentKind::RepeatedControl;
        let is_prompted = waited < SHORTEST_TIMER || refused.is_some();
        is_prompted.then_some(Classification { kind, timer: None, proof })
    }

    /// Data of which so many transmissions were lost before the capture point; `alone`: with
    /// nothing sent above them.
    pub(super) fn retransmission(
        candidate: &Candidate<'_>,
        (unseen, alone): (u32, bool),
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> Classification {
        let &Candidate { packet, range, context, whole, .. } = candidate;
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
            echo: packet.echo(),
            at_sender: is_at_sender(context),
            whole,
            syn: packet.syn(),
            ack: packet.ack,
            bare_fin: packet.fin() && packet.payload == 0,
        };
        // Data beyond the SYN: it was answered. Without a captured answer only doubling waits show
        // a timer.
        let is_answered = sender_model.has_heard() || board.high.as_u64() <= 1 || packet.syn();
        let sent = earlier.iter().filter_map(|&order| Some(board.log.get(order)?.at));
        let mut classification = if is_answered {
            sender_model.classify_retransmission(&again, board)
        } else if let Some(waited) = doubled(sent, packet.at) {
            let timed = sender_model.classify_retransmission(&again, board);
            Classification { proof: Proof { waited, frame: before, ..timed.proof }, ..timed }
        } else {
            Classification::unexplained(None, nth)
        };
        let is_answer = classification.kind == SegmentKind::RepeatedControl;
        if unseen == 0 && board.covers(range) && !is_answer {
            classification.proof.spurious = Some(Spurious::Acknowledged);
        }
        classification
    }

    /// A probe of one byte, old or new (Linux: [`Classifier::probe_without_data`]). The cumulative
    /// ACK last advanced when `advanced` says.
    fn probe_with_data(
        &mut self,
        candidate: &Candidate<'_>,
        advanced: Option<Instant>,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let &Candidate { packet, range, context, closed, .. } = candidate;
        if packet.payload > 1 || packet.syn() || packet.fin() {
            return None;
        }
        if closed && range.start == board.una {
            return Some(probe(SegmentKind::WindowProbe, Sign::ZeroWindow));
        }
        let (last, at) = self.last?;
        // Nothing but a FIN is in flight, whose timer runs beside that of keep-alives.
        let is_closing =
            self.fin == Some(board.high) && board.high.since(board.una) == Bytes::new(1);
        let since = if is_closing { advanced? } else { at };
        let silence = packet.at.since(since);
        let idle = silence >= SHORTEST_KEEP_ALIVE;
        // RFC 9293 section 3.8.4: below what is acknowledged, with nothing in flight. Where the
        // last write was one byte and its ACK may have been lost, a timer would send the same.
        let below = range.end == board.una && (board.una == board.high || is_closing);
        let is_first = silence >= LONGEST_FIRST_TIMEOUT && self.repeated != Some(range.start);
        let is_known = self.kept_alive == Some(range) || is_at_sender(context);
        let is_other = (last != range && !is_closing) || is_known || is_first;
        if !(below && idle && is_other) {
            return None;
        }
        self.kept_alive = Some(range);
        Some(probe(SegmentKind::KeepAlive, Sign::BelowAcknowledged))
    }

    /// Follows a packet of the peer.
    pub(crate) fn heard(&mut self, packet: &Packet) {
        if packet.syn() {
            self.asked = Some((packet.at, packet.frame));
        }
        if packet.rst() {
            self.refused = Some((packet.at, packet.frame));
        }
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
    pub(crate) fn passed(&mut self, packet: &Packet, range: Option<Range>) {
        self.send_order.passed(packet, range.is_some());
        if let Some(range) = range {
            if self.first.is_none() {
                self.first = Some(SendStamp::of(packet));
                self.asks = packet.syn() && packet.ack.is_none();
            }
            self.last = Some((range, packet.at));
            if packet.fin() {
                self.fin = Some(range.end);
            }
        }
    }

    /// Whether data missing before `packet` had been sent before the last packet, which lies below
    /// them: nothing was sent between the two, by the identifications. So the last packet was a
    /// retransmission, and a timer's: nothing above it had arrived.
    pub(crate) fn shows_timeout(&self, packet: &Packet, high: Offset) -> bool {
        self.last.is_some_and(|(last, _)| last.end == high)
            && self.send_order.step(packet) == Some(1)
    }

    /// Whether a packet that continues the stream is plain new data.
    #[inline]
    pub(crate) fn is_next(&self) -> bool {
        self.announced.is_none()
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

    pub(super) fn is_beside_sender(&self, context: Context<'_>) -> bool {
        is_at_sender(context) && self.counts.out_of_order == 0
    }
}

/// The wait for a transmission at `now`, if it is twice the one before: a timer's backoff (RFC 6298
/// section 5.5).
fn doubled(sent: impl DoubleEndedIterator<Item = Instant>, now: Instant) -> Option<Span> {
    let mut latest = sent.rev();
    let (last, before) = (latest.next()?, latest.next()?);
    let (waited, twice) = (now.since(last), last.since(before) * 2);
    let off = waited.as_nanos().abs_diff(twice.as_nanos());
    (waited >= SHORTEST_TIMER && off <= twice.as_nanos() / 8).then_some(waited)
}

/// Whether ACKs that pass the capture point reach the sender for certain.
fn is_at_sender(context: Context<'_>) -> bool {
    let (tap, sure) = context.distances.place(context.forward);
    tap == CapturePoint::Sender && sure >= Confidence::Medium
}

/// The first captured transmission of some of these data that is still known.
fn first_captured(range: Range, board: &Scoreboard) -> Option<SendStamp> {
    let orders = board.log.overlapping(range);
    let first = orders.into_iter().find_map(|order| board.log.get(order))?;
    Some(SendStamp::by_clock(first.clock, (first.at, first.frame)))
}

/// Whether the identification is as old as the place in the stream; retransmissions are newer.
fn is_of_old(step: i16, range: Range, board: &Scoreboard) -> bool {
    let since = board.high.since(range.start).as_u64() / range.len().max(1);
    step < -OVERTAKEN && u64::from(step.unsigned_abs()) * 2 >= since
}

pub(crate) fn probe(kind: SegmentKind, by: Sign) -> Classification {
    Classification { kind, timer: None, proof: Proof { by, nth: 1, ..Proof::default() } }
}
