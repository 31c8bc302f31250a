//! The state of one direction: its data and the ACKs for it.

mod heard;
mod places;
mod plain;
mod recover;
mod sack;
mod wanted;

use std::mem::take;

use tcplab_units::{Bytes, Offset, Span};
use tcplab_wire::{SackBlocks, SeqNumber, SeqUnwrapper, TcpFlags};

use crate::bounds::REPETITIONS;
use crate::direction::Distances;
use crate::direction::causes::CauseCounts;
use crate::direction::classification::{Classification, NewData};
use crate::direction::feedback::EcnFeedback;
use crate::direction::knowledge::HeardAck;
use crate::direction::passed_packet::SendStamp;
use crate::direction::recovery::RecoveryTracker;
use crate::direction::retransmission::{Candidate, Classifier, Context, LogEntry, probe};
use crate::direction::scoreboard::{ReceivedAck, Scoreboard};
use crate::direction::sender_model::SenderModel;
use crate::direction::spurious::{FoundSpurious, PendingRetransmission, SpuriousDetector};
use crate::direction::transmissions::Transmission;
use crate::fast_path;
use crate::fold::folded;
use crate::observers::{AckEffect, AckEvent, Observers, SendEvent};
use crate::packet::Packet;
use crate::{
    Ack, BareReset, CapturePoint, Confidence, Episode, Flow, Range, Segment, SegmentKind, Sign,
    Spurious, Totals,
};
use sack::{NOTHING, blocks, offset};
use wanted::{acknowledgement, repetition, transmitted};

/// Larger distances cannot belong to the connection: windows are below 2³⁰ (RFC 7323 section 2.3).
const FARTHEST: i64 = 1 << 30;
/// A sender retransmits at most a window's worth below what is acknowledged. Windows between
/// captured ACKs may have been larger by this factor.
const WINDOWS: i64 = 4;
/// The window assumed at least, bytes: the largest without scaling (RFC 9293 section 3.1).
const LEAST_WINDOW: i64 = 65_535;

/// The state of one direction; results are passed on at once.
#[derive(Debug, Default)]
pub(crate) struct DirectionState {
    positions: Option<SeqUnwrapper>,
    board: Scoreboard,
    sender_model: SenderModel,
    recovery: Option<Box<RecoveryTracker>>,
    pub(crate) classifier: Classifier,
    spurious_detector: SpuriousDetector,
    causes: CauseCounts,
    /// Data of a full segment by the handshake, bytes; 0 if unknown.
    pub(crate) full_segment: u16,
    pub(crate) feedback: EcnFeedback,
    last_window: Option<u16>,
    window_edge: Option<Offset>,
    /// The end of the data, once a FIN was seen.
    data_end: Option<Offset>,
    /// ACK and window for which a repeated ACK has no news; cleared by any other event.
    settled: Option<(SeqNumber, u16)>,
    /// Every transmission so far passed the capture point, if it is not the receiver's.
    is_whole: bool,
    /// Its SYN was captured.
    from_syn: bool,
    /// Old state was dropped at a bound. The reader resets it.
    pub(crate) gave_up: bool,
    pub(crate) observers: Observers,
    pub(crate) totals: Totals,
}
folded! {
    DirectionState {
        positions, board, sender_model, recovery, classifier, spurious_detector, causes,
        full_segment, feedback, last_window, window_edge, data_end, settled,
        is_whole, from_syn, gave_up, observers, totals
    }
}

/// The result of an ACK for the opposite direction.
#[derive(Debug, Default)]
pub(crate) struct AckOutcome {
    pub(crate) ack: Option<Box<Ack>>,
    pub(crate) episodes: Vec<Episode>,
    /// Gaps that it acknowledges.
    pub(crate) gaps: u32,
    /// Retransmissions (frames) found to be spurious.
    pub(crate) spurious: Vec<(u64, Spurious)>,
}

/// The result of a packet for its own direction.
#[derive(Debug)]
pub(crate) struct Passed {
    pub(crate) segment: Option<Box<Segment>>,
    /// It duplicates an earlier packet or probes below the window: the other end takes no ACK from
    /// it (RFC 9293 section 3.10.7.4).
    pub(crate) unread: bool,
    /// It duplicates an earlier packet.
    pub(crate) copied: bool,
}

impl DirectionState {
    /// The initial sequence number was another: starts again.
    pub(crate) fn begin_again(&mut self, initial: SeqNumber) {
        self.positions = Some(SeqUnwrapper::new(initial));
        let without_sack = self.board.without_sack;
        self.board = Scoreboard::default();
        self.board.without_sack = without_sack;
        self.board.start_at(Offset::new(1));
        self.classifier = Classifier::default();
    }
    /// A SYN, FIN or RST of either direction.
    pub(crate) fn is_unsettled(&mut self) {
        self.settled = None;
    }
    /// The sender's reaction time: near zero at the sender, an RTT elsewhere (`is_away`).
    pub(crate) fn opened(&mut self, reaction: Span, is_away: bool) {
        self.sender_model.opened(reaction);
        self.observers.opened(reaction, is_away);
    }
    /// Whether the packet, not yet followed, is a duplicate that the network or the capture made.
    pub(crate) fn is_copy(&self, packet: &Packet, distances: &Distances) -> bool {
        let round_trip = distances.round_trip().or(self.board.min_round_trip);
        self.classifier.send_order.copy(packet, round_trip).is_some()
    }
    /// SACK was not negotiated.
    pub(crate) fn refuse_sack(&mut self) {
        self.sender_model.refuse_sack();
        self.board.without_sack = true;
    }

    /// Analyses a packet of this direction; `Err` if its number cannot belong to the connection.
    pub(crate) fn sent(
        &mut self,
        packet: &Packet,
        context: Context<'_>,
    ) -> Result<Passed, OutOfPlace> {
        self.settled = None;
        // An RST may be forged: its number is no start.
        if packet.rst() && self.positions.is_none() {
            return Ok(Passed { segment: None, unread: false, copied: false });
        }
        let start = self.place(packet)?;
        let len = packet.sequence_len();
        let closed = self.last_window == Some(0);
        let range = Range { start: offset(start), end: offset(start + len as i64) };
        let payload = if packet.rst() { 0 } else { u64::from(packet.payload) };
        if packet.fin() {
            self.data_end = Some(offset(start + len as i64 - 1));
        }
        let high = self.board.high;
        let classification = if len == 0 {
            let Some(probe) =
                self.classifier.probe_without_data(packet, start, closed, &self.board)
            else {
                let copied = self.classifier.send_order.repeats(packet);
                if copied {
                    self.causes.copied(packet);
                }
                if packet.congestion_marked && !copied && packet.is_bare() {
                    self.observers.on_marked_ack(packet);
                }
                if start > high.as_u64() as i64 && packet.is_bare() && self.classifier.has_data() {
                    self.classifier.announce(offset(start), packet);
                }
                self.classifier.passed(packet, None);
                return Ok(Passed { segment: None, unread: copied, copied });
            };
            self.classifier.passed(packet, None);
            probe
        } else {
            let whole = self.classifier.sees_all(context);
            let candidate = Candidate { packet, range, context, closed, whole };
            let classification = self.classify_and_log(&candidate, payload);
            self.classifier.passed(packet, Some(range));
            classification
        };
        self.is_whole = self.classifier.sees_all(context);
        let segment = self.segment(packet, range, payload, high, classification);
        let copied = classification.kind.is_copy();
        let unread = match classification.kind {
            SegmentKind::KeepAlive => true,
            SegmentKind::WindowProbe => len == 0,
            _ => copied,
        };
        Ok(Passed { segment, unread, copied })
    }

    /// A reset of this direction's sender that acknowledges nothing, for a sink. Of an end that
    /// sent nothing else, and whose data nobody acknowledged, it stands where data would begin.
    pub(crate) fn bare_reset(&self, packet: &Packet) -> BareReset {
        let place = offset(self.positions.map_or(1, |positions| positions.position(packet.seq)));
        let (at, frame, flags) = (packet.at, packet.frame, packet.flags);
        let zero = packet.window == 0;
        BareReset { at, frame, flags, place, zero, from_sender: true, comment: None }
    }

    /// Passes a classified packet to the observers and the sink.
    fn segment(
        &mut self,
        packet: &Packet,
        range: Range,
        payload: u64,
        high: Offset,
        classification: Classification,
    ) -> Option<Box<Segment>> {
        let ignored = self.sender_model.take_ignored();
        let mut sent = self.count(packet, range, payload, high, classification);
        sent.was_revealed = ignored.is_some();
        self.causes.sent(&sent, || pieces(payload, self.full_segment));
        if let Some(ignored) = ignored.filter(|ignored| ignored.has_arrived) {
            self.causes.ignored_acks(&sent, ignored);
        }
        self.observers.on_send(&sent);
        packet.wanted.then(|| transmitted(sent))
    }

    /// Counts a transmission; a copy is none.
    #[inline]
    fn count<'a>(
        &mut self,
        packet: &'a Packet,
        range: Range,
        payload: u64,
        high: Offset,
        Classification { kind, timer, proof }: Classification,
    ) -> SendEvent<'a> {
        if packet.sequence_len() > 0 && !kind.is_copy() {
            self.totals.segments += 1;
            self.totals.wire_segments += pieces(payload, self.full_segment);
            self.totals.data_segments += u64::from(payload > 0);
            self.totals.data += Bytes::new(payload);
        }
        let in_flight = self.board.in_flight();
        self.totals.max_in_flight = self.totals.max_in_flight.max(Bytes::new(in_flight));
        let (una, window_edge) = (self.board.una, self.window_edge);
        let whole = self.is_whole;
        // CWR alone may follow a loss (RFC 3168 section 6.1.2).
        let is_cwr = packet.flags.contains(TcpFlags::CWR);
        let reduced = is_cwr && take(&mut self.feedback.mark_echoed);
        SendEvent {
            packet,
            range,
            payload,
            kind,
            timer,
            proof,
            high,
            una,
            in_flight,
            whole,
            reduced,
            was_revealed: false,
            may_dsack: !self.board.without_sack,
            window_edge,
        }
    }

    /// Analyses the ACK in a packet of the opposite direction, which passed so.
    pub(crate) fn answered(
        &mut self,
        packet: &Packet,
        window: Option<Bytes>,
        &Passed { unread, copied, .. }: &Passed,
    ) -> AckOutcome {
        self.classifier.heard(packet);
        self.hear_flags(packet, unread, copied);
        let Some(number) = packet.ack else { return AckOutcome::default() };
        // Without captured data, everything acknowledged lies before the capture.
        let positions =
            *self.positions.get_or_insert_with(|| SeqUnwrapper::new(number.advanced_by(u32::MAX)));
        let ack = positions.position(number);
        if ack - self.board.high.as_u64() as i64 > FARTHEST {
            return AckOutcome::default();
        }
        let ack = offset(ack);
        self.settled = None;
        if fast_path::is_enabled() && !unread && self.is_repeated(packet, ack, window) {
            self.heard_again(packet, window);
            let flight = self.board.in_flight();
            let ack = packet.wanted.then(|| repetition(packet, ack, window, flight));
            return AckOutcome { ack, ..AckOutcome::default() };
        }
        let mut room = [NOTHING; SackBlocks::MOST];
        let edge = window.map(|window| ack + window);
        let (sack, unsent) = self.without_unsent(packet.sack.as_slice(), &positions, edge);
        let (sack, dsack) = blocks(sack, &positions, ack, &mut room);
        let duplicate = !unread && self.is_duplicate(packet, ack, sack);
        let answer = ReceivedAck { at: packet.at, ack, sack, dsack, echo: packet.echo() };
        let (before, high) = (self.board.una, self.board.high);
        let effect = self.board.on_ack(&answer);
        let gaps = self.acknowledge_gaps(packet, ack, high, effect.advanced);
        let fresh = self.data_before(ack).saturating_sub(self.data_before(before));
        self.window_edge = edge;
        let heard = AckEvent {
            packet,
            ack,
            before,
            fresh,
            window,
            sack,
            dsack,
            effect,
            duplicate,
            unread,
            copied,
            unsent,
            high: self.board.high,
            in_flight: self.board.in_flight(),
        };
        self.observers.on_ack(&heard);
        let spurious = self.spurious_detector.on_ack(&heard, self.board.min_round_trip);
        let spurious = spurious.iter().inspect(|found| self.causes.spurious(packet.at, **found));
        let spurious = spurious.map(|found| (found.sent.frame, found.why)).collect();
        // With SACK, duplicates are those with news (RFC 6675 section 2).
        let news = duplicate && !unsent;
        self.sender_model.heard(heard_in(packet), effect, before, news, &self.board);
        self.count_ack(packet, window, duplicate, copied);
        let bare_duplicate = news && sack.is_empty() && dsack.is_none();
        let ack = packet.wanted.then(|| acknowledgement(heard));
        let mut heard = AckOutcome { ack, gaps, spurious, episodes: Vec::new() };
        if self.recovery.is_some() || bare_duplicate || !self.board.sacked.is_empty() {
            heard.episodes = self.track_recovery(packet, &effect, bare_duplicate);
        } else {
            self.board.forget_acknowledged();
        }
        heard
    }

    /// The gaps that the cumulative ACK covers, never captured; `high`: the highest byte before.
    #[inline]
    fn acknowledge_gaps(
        &mut self,
        packet: &Packet,
        ack: Offset,
        high: Offset,
        advanced: bool,
    ) -> u32 {
        let gaps = &mut self.classifier.gaps;
        let count = gaps.count_before(self.board.una) + u32::from(self.board.una > high);
        if advanced && (ack > high || !gaps.is_empty()) && self.classifier.has_data() {
            self.classifier.gaps.acknowledged(ack, high, packet.at, packet.frame);
        }
        count
    }

    /// Whether a packet with data repeats the previous ACK with nothing outstanding.
    #[inline]
    fn is_repeated(&self, packet: &Packet, ack: Offset, window: Option<Bytes>) -> bool {
        let board = &self.board;
        let plain = packet.payload > 0
            && !packet.is_control()
            && !packet.sack_permitted
            && packet.mss.is_none()
            && packet.sack.as_slice().is_empty();
        let calm = ack == board.una
            && board.una == board.high
            && board.log.is_empty()
            && board.sacked.is_empty()
            && self.recovery.is_none()
            && self.spurious_detector.is_empty()
            && self.classifier.gaps.is_empty();
        let edge = window.map(|window| Offset::new(ack.as_u64() + window.as_u64()));
        let is_open = packet.window > 0
            && self.last_window == Some(packet.window)
            && self.window_edge == edge;
        plain && calm && is_open && self.observers.ignore_repeated_ack(ack, window)
    }

    /// [`DirectionState::answered`] for an ACK without news.
    #[inline]
    fn heard_again(&mut self, packet: &Packet, window: Option<Bytes>) {
        self.observers.on_repeated_ack(packet);
        self.settled = packet.ack.map(|ack| (ack, packet.window));
        let (ack, una) = (heard_in(packet), self.board.una);
        self.sender_model.heard(ack, AckEffect::default(), una, false, &self.board);
        self.totals.max_window = self.totals.max_window.max(window);
    }

    /// Bytes of data before `end`: the SYN is at 0, the FIN after the data.
    fn data_before(&self, end: Offset) -> u64 {
        end.min(self.data_end.unwrap_or(end)).as_u64().saturating_sub(1)
    }

    /// The remaining episodes at the end.
    pub(crate) fn finish(&self) -> Vec<Episode> {
        self.recovery.as_ref().map(|recovery| recovery.finish(&self.board)).unwrap_or_default()
    }

    /// Writes the sums and causes at the end; `path_rtt`: of the whole path.
    pub(crate) fn finish_into(&mut self, flow: &mut Flow, path_rtt: Option<Span>) {
        flow.initial_sequence = self.initial();
        flow.totals = self.totals;
        self.causes.finish(flow);
        self.classifier.gaps.finish(&mut flow.causes);
        self.observers.finish(flow, path_rtt);
        if !flow.windows.scale_negotiated {
            flow.shares.confidence = flow.shares.confidence.min(Confidence::Low);
        }
    }

    /// The position of the packet. The first number seen counts as the first byte of data.
    fn place(&mut self, packet: &Packet) -> Result<i64, OutOfPlace> {
        self.from_syn |= packet.syn();
        let Some(positions) = &mut self.positions else {
            let before = if packet.syn() { 0 } else { u32::MAX };
            let mut positions = SeqUnwrapper::new(packet.seq.advanced_by(before));
            let start = positions.advance(packet.seq);
            self.positions = Some(positions);
            self.board.start_at(offset(start));
            return Ok(start);
        };
        let start = positions.position(packet.seq);
        if packet.syn() && start == 1 && !self.classifier.has_data() {
            // A split handshake: the ACK before the SYN had its number.
            self.positions = None;
            return self.place(packet);
        }
        let (low, high) = (self.board.una.as_u64() as i64, self.board.high.as_u64() as i64);
        let reach = self.totals.max_window.map_or(FARTHEST, |window| {
            (window.as_u64() as i64).max(LEAST_WINDOW).saturating_mul(WINDOWS)
        });
        if start - high > FARTHEST || low - start > reach {
            return Err(OutOfPlace);
        }
        if !packet.rst() {
            positions.advance(packet.seq);
        }
        Ok(start)
    }

    fn classify_and_log(&mut self, candidate: &Candidate<'_>, payload: u64) -> Classification {
        let &Candidate { packet, range, context, closed, .. } = candidate;
        let high = self.board.high;
        if range.is_empty() {
            let classification = self.classifier.classify_before_first(packet);
            if classification.kind.is_retransmission() {
                self.totals.retransmissions += 1;
                self.totals.retransmitted += Bytes::new(payload);
            }
            return classification;
        }
        if range.start >= high {
            if let Some(early) = self.classifier.overtaken(candidate) {
                self.causes.overtook(early.at, early.frame);
            }
            let again =
                self.classifier.was_announced(candidate, &mut self.sender_model, &self.board);
            let classification = if let Some(again) = again {
                if again.kind.is_retransmission() {
                    self.sent_again(packet, range, payload, again);
                }
                again
            } else if closed && payload == 1 && range.start == self.board.una {
                // RFC 9293 section 3.8.6.1: the receiver may refuse the byte. That is no loss.
                self.classifier.probes(range.start);
                self.board.high = range.end;
                self.totals.unique += Bytes::new(payload);
                return probe(SegmentKind::WindowProbe, Sign::ZeroWindow);
            } else {
                let may_be_probe = self.may_be_probe(candidate, payload);
                let beyond = context.to_sender().unwrap_or_default();
                let small = !packet.fin() && self.ends_small(payload);
                let (at, frame) = (packet.at, packet.frame);
                let new = NewData { at, frame, range, may_be_probe, small, beyond };
                self.sender_model.classify_new(&new, &self.board)
            };
            // What came before the first captured data may have been in flight before the capture.
            if high < range.start && self.classifier.has_data() {
                if self.classifier.shows_timeout(packet, high) {
                    self.sender_model.learn_of_timeout(range.start, &self.board);
                }
                self.classifier
                    .gaps
                    .show(Range { start: high, end: range.start }, SendStamp::of(packet));
                self.gave_up |= take(&mut self.classifier.gaps.gave_up);
            }
            self.totals.unique += Bytes::new(payload);
            self.log(packet, range, payload, (classification, false));
            return classification;
        }
        let mut late = 0;
        let (classification, entry) =
            self.classifier.classify(candidate, &mut self.sender_model, &self.board, &mut late);
        // The part below the highest byte, less gaps and what was acknowledged before it came.
        let below = Range { start: range.start, end: range.end.min(high) };
        let seen_before = (below.len() - self.classifier.gaps.within(below)).saturating_sub(late);
        if !classification.kind.is_copy() {
            self.totals.unique += Bytes::new(payload.saturating_sub(seen_before));
        }
        self.classifier.gaps.fill(range);
        self.gave_up |= take(&mut self.classifier.gaps.gave_up)
            || classification.proof.nth as usize > REPETITIONS.most();
        if classification.kind.is_retransmission() {
            self.sent_again(packet, range, payload, classification);
        }
        if entry != LogEntry::NotLogged {
            self.log(packet, range, payload, (classification, entry == LogEntry::Retransmission));
        }
        classification
    }

    /// Whether new data may be a probe's (RFC 8985 section 7.3) by what it is: a probe sends what
    /// waits in the send buffer, so it is full-sized, or its predecessor was and did not end a
    /// write (PSH), or Nagle's rule held it back. An application's data are sent when they are
    /// written. A FIN needs no probe: no congestion window holds it back (`tcp_cwnd_test`). A
    /// capture point at the receiver sees the sender's pauses through the path: nothing decides.
    fn may_be_probe(&self, candidate: &Candidate<'_>, payload: u64) -> bool {
        let &Candidate { packet, context, .. } = candidate;
        let (capture_point, _) = context.distances.place(context.forward);
        let Some(full) = self.observers.full_size() else { return false };
        let last = self.board.log.next().checked_sub(1).and_then(|order| self.board.log.get(order));
        let goes_on = last.is_some_and(|last| last.payload >= full && !last.pushed);
        let waited = payload >= full || goes_on || self.sender_model.holds_small(self.board.una);
        capture_point != CapturePoint::Receiver && !packet.fin() && waited
    }

    /// Whether so much data leaves a segment that is not full, the last one.
    fn ends_small(&self, payload: u64) -> bool {
        let full = self.observers.full_size().unwrap_or(payload);
        payload != full && !payload.is_multiple_of(full)
    }

    fn sent_again(
        &mut self,
        packet: &Packet,
        range: Range,
        payload: u64,
        Classification { kind, timer, proof }: Classification,
    ) {
        self.totals.retransmissions += 1;
        self.totals.retransmitted += Bytes::new(payload);
        let clock = packet.timestamps.map(|(value, _)| value);
        let (at, frame) = (packet.at, packet.frame);
        let is_known = false;
        let mut sent =
            PendingRetransmission { range, at, frame, clock, payload, kind, timer, is_known };
        if let Some(why) = proof.spurious {
            self.causes.spurious(at, FoundSpurious { sent, why });
            sent.is_known = true;
        }
        // What answers the other end repeats itself without need, and no loss is behind it.
        if kind != SegmentKind::RepeatedControl {
            self.spurious_detector.sent(sent);
        }
    }

    /// Logs a transmission; starts recovery tracking on signs of loss.
    fn log(
        &mut self,
        packet: &Packet,
        range: Range,
        payload: u64,
        (classification, repeat): (Classification, bool),
    ) {
        let timer = classification.timer;
        if timer.is_some() || repeat {
            self.start_recovery(packet);
        }
        self.board.sent(Transmission { repeat, timer, ..Transmission::of(packet, range, payload) });
        self.gave_up |= take(&mut self.board.log.gave_up);
        if let Some(recovery) = &mut self.recovery
            && (timer.is_some() || repeat)
        {
            recovery.repeated(packet.at, &self.board);
        }
    }

    /// RFC 5681 section 2; new SACK information counts with any window (RFC 6675 section 2).
    fn is_duplicate(&self, packet: &Packet, ack: Offset, sack: &[Range]) -> bool {
        let outstanding = self.board.una < self.board.high;
        let same_window = self.last_window == Some(packet.window);
        let has_news = sack.iter().any(|&block| !self.board.covers(block));
        outstanding && packet.is_bare() && ack == self.board.una && (same_window || has_news)
    }
}

fn heard_in(packet: &Packet) -> HeardAck {
    let clock = packet.timestamps.map(|(value, _)| value);
    let data_end = (packet.payload > 0).then(|| packet.end());
    HeardAck { at: packet.at, frame: packet.frame, clock, data_end }
}

/// A sequence number outside the connection.
#[derive(Debug)]
pub(crate) struct OutOfPlace;

/// The segments on the wire of a packet with this data (offloading), `full` being a full segment.
fn pieces(payload: u64, full: u16) -> u64 {
    match u64::from(full) {
        full if full == 0 || payload <= full => 1,
        full => payload.div_ceil(full),
    }
}
