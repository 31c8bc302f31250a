//! Models the sender: why it sent a segment, on an ACK or on a timer.
//!
//! A sender answers an ACK at once (the kernel sends from the interrupt), so a segment after a
//! *silence* of both sides comes from a timer. Three other delays exist. Pacing (a fraction of the
//! RTT) and late capture timestamps must stay below the silence limit. RACK's reordering timer (RFC
//! 8985 section 6.2) can take up to an RTT; its transmissions follow SACK evidence, and
//! [`Scoreboard::reordering_deadline`] bounds it. The timers: the retransmission timer, 200 ms and
//! more on Linux (RFC 6298: 1 s), and the probe timer of two RTTs.
//!
//! Away from the sender, an ACK is answered after the round trip to the sender (`beyond`), and
//! until then it counts as not received. Losses before the capture point are invisible: after a
//! lost probe the next timeout looks like the first.

mod crossed;
mod silence;
mod timers;

use tcplab_units::{Instant, Offset, Span};
use tcplab_wire::SeqNumber;

use crate::direction::classification::{Classification, Ignored, NewData, RetransmittedPacket};
use crate::direction::knowledge::{HeardAck, InTransit, Knowledge, Revealed, THRESHOLD};
use crate::direction::passed_packet::SendStamp;
use crate::direction::scoreboard::Scoreboard;
use crate::direction::timeout::Timeout;
use crate::fold::folded;
use crate::observers::AckEffect;
use crate::ranges::Above;
use crate::{Proof, Range, SegmentKind, Sign, Timer};
use crossed::Crossed;

/// Silence above half an RTT plus [`SLACK`], at most [`SHORTEST_TIMER`], means a timer.
const SLACK: Span = Span::from_millis(20);
/// No retransmission timer runs out sooner: Linux's minimum (`TCP_RTO_MIN`, 200 ms) less a tenth.
pub(crate) const SHORTEST_TIMER: Span = Span::from_millis(180);

/// Timers may be late by two ticks of 100 Hz (the longest), another running timer, and rounding.
const TICKS: Span = Span::from_millis(50);

/// A sender answers an ACK within this time, where it is not busy.
const PROMPT: Span = Span::from_micros(100);

/// A probe's timer runs at least that long beyond two RTTs, on Linux with 250 ticks a second
/// (`TCP_TIMEOUT_MIN`, two ticks).
const LEAST_PROBE: Span = Span::from_millis(4);

/// The state of the sender of one direction, as far as the capture shows.
#[derive(Debug, Default)]
pub(crate) struct SenderModel {
    /// The smoothed RTT (RFC 6298 section 2), from samples at the capture point.
    round_trip: Option<Span>,
    last_heard: Option<Moment>,
    /// The ACK before, which the sender had while the last was in flight.
    heard_before: Option<Moment>,
    /// The peer's last packet with new data, and their end.
    heard_data: Option<HeardData>,
    last_sent: Option<Moment>,
    /// When it last sent new data, probes excluded.
    last_new: Option<Instant>,
    /// When the cumulative ACK last advanced.
    advanced: Option<Moment>,
    /// The ACKs that passed the capture point.
    known: Knowledge,
    /// Those that the sender had not received yet.
    in_transit: InTransit,
    /// The oldest unacknowledged byte when it was last retransmitted.
    head_retransmitted: Option<Offset>,
    timeout: Option<Box<Timeout>>,
    too_big: Option<Box<TooBig>>,
    /// After a spurious timeout that the sender did not detect, it keeps retransmitting up to here.
    spurious_until: Option<Offset>,
    /// The last transmission followed a timeout.
    going_back: bool,
    /// A probe is outstanding until this is acknowledged (RFC 8985 section 7.3: one at a time).
    probe: Option<Offset>,
    /// The end of the last segment that was not full (Linux: `snd_sml`).
    small_until: Offset,
    /// A small one was sent while another was unacknowledged: without Nagle's rule.
    sends_at_once: bool,
    /// SACK is known to be off; probes need it (RFC 8985 section 7.1).
    sack_refused: bool,
    /// ACKs that revealed a loss and were ignored until the timer that just expired.
    ignored: Option<Ignored>,
    /// What the sender knew of a loss before the last ACK, which acknowledged the lost data.
    crossed: Option<Box<Crossed>>,
}
folded! {
    SenderModel {
        round_trip, last_heard, heard_before, heard_data, last_sent, last_new, advanced, known,
        in_transit, head_retransmitted, timeout, too_big, spurious_until, going_back, probe,
        small_until, sends_at_once, sack_refused, ignored, crossed
    }
}

/// When a packet passed, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    at: Instant,
    frame: u64,
}
folded! { Moment { at, frame } }

/// A packet of the peer with new data.
#[derive(Debug, Clone, Copy)]
struct HeardData {
    moment: Moment,
    /// The sequence number after them.
    end: SeqNumber,
}
folded! { HeardData { moment, end } }

#[derive(Debug)]
struct TooBig {
    frame: u64,
    /// The path MTU, bytes.
    mtu: u32,
    /// Data sent until then lie below.
    point: Offset,
}
folded! { TooBig { frame, mtu, point } }

impl SenderModel {
    /// SACK was not negotiated.
    pub(crate) fn refuse_sack(&mut self) {
        self.sack_refused = true;
    }
    /// The round trip from the capture point to the sender, as in the handshake.
    pub(crate) fn opened(&mut self, reaction: Span) {
        self.in_transit.opened(reaction);
    }
    /// Whether anything arrived from the peer.
    pub(crate) fn has_heard(&self) -> bool {
        self.last_heard.is_some()
    }
    /// Whether anything arrived from the peer after this packet.
    pub(crate) fn has_heard_since(&self, sent: &SendStamp) -> bool {
        self.last_heard.is_some_and(|last| (last.at, last.frame) > sent.order())
    }

    /// When the cumulative ACK last advanced.
    pub(crate) fn advanced(&self) -> Option<Instant> {
        self.advanced.map(|moved| moved.at)
    }

    /// Whether a timer may have run out since the peer's last packet.
    pub(crate) fn is_silent_for_timer(&self, at: Instant) -> bool {
        self.last_heard.is_none_or(|last| at.since(last.at) >= SHORTEST_TIMER)
    }

    /// Follows a packet of the peer; `before`: the cumulative ACK until then.
    #[inline(always)]
    pub(crate) fn heard(
        &mut self,
        ack: HeardAck,
        effect: AckEffect,
        before: Offset,
        duplicate: bool,
        board: &Scoreboard,
    ) {
        let at = ack.at;
        self.hears(ack);
        if let Some(sample) = effect.round_trip {
            // RFC 6298 section 2.3: weight one eighth.
            let smoothed = |old: Span| (old * 7 + sample) / 8;
            self.round_trip = Some(self.round_trip.map_or(sample, smoothed));
        }
        if self.timeout.is_some() {
            self.check_timeout(effect, before, board);
        }
        if effect.advanced || effect.sacked || duplicate {
            self.in_transit.passed(ack, self.known);
        }
        if effect.advanced {
            self.advanced = Some(Moment { at, frame: ack.frame });
            let prompt = self.heard_before.map(|before| before.frame);
            self.crossed = Crossed::of(at, prompt, self.known);
            let Knowledge { recovery, recover, .. } = self.known;
            self.known = Knowledge { una: board.una, recovery, recover, ..Knowledge::default() };
            for point in [&mut self.known.recovery, &mut self.probe, &mut self.spurious_until] {
                *point = point.filter(|&p| board.una < p);
            }
            self.too_big.take_if(|report| report.point <= board.una);
        }
        self.known.duplicates += u64::from(duplicate);
        if duplicate || !board.sacked.is_empty() || self.known.recovery.is_some() {
            self.look_for_loss(ack, effect, board);
        }
    }

    /// Whether the ACK reveals that the oldest segment is lost.
    #[cold]
    fn look_for_loss(&mut self, ack: HeardAck, effect: AckEffect, board: &Scoreboard) {
        self.known.sacked = board.sacked.end();
        if self.known.revealed.is_none() && !board.is_head_resent() {
            let rule = self.known.rule(effect.advanced, self.timeout.is_some(), board);
            self.known.revealed = rule.map(|by| Revealed { by, ack, high: board.high });
        }
    }

    /// ICMP reported an outstanding packet as too big for this path MTU; returns whether new.
    #[cold]
    pub(crate) fn on_too_big(
        &mut self,
        at: Instant,
        frame: u64,
        mtu: u32,
        board: &Scoreboard,
    ) -> bool {
        self.hears(HeardAck { at, frame, clock: None, data_end: None });
        let is_news = self.too_big.as_ref().is_none_or(|report| mtu < report.mtu);
        if is_news {
            self.too_big = Some(Box::new(TooBig { frame, mtu, point: board.high }));
        }
        is_news
    }

    /// [`SenderModel::heard`] for an ACK without news.
    #[inline]
    pub(crate) fn hears(&mut self, ack: HeardAck) {
        let moment = Moment { at: ack.at, frame: ack.frame };
        self.heard_before = self.last_heard.replace(moment);
        if let Some(end) = ack.data_end
            && self.heard_data.is_none_or(|last| end.distance_from(last.end) > 0)
        {
            self.heard_data = Some(HeardData { moment, end });
        }
    }

    /// Ends the timeout when it is over or was spurious.
    #[cold]
    fn check_timeout(&mut self, effect: AckEffect, before: Offset, board: &Scoreboard) {
        let over = self.timeout.take_if(|timeout| {
            board.una >= timeout.point || timeout.was_spurious(effect, before, board)
        });
        self.spurious_until = over.map(|timeout| timeout.point).or(self.spurious_until);
    }

    /// Whether the sender transmitted too recently for a timer to trigger the next transmission.
    #[inline]
    pub(crate) fn has_just_sent(&self, at: Instant) -> bool {
        self.last_sent.is_some_and(|last| at.since(last.at) < LEAST_PROBE)
    }
    /// Follows new data, sent by no timer, that end with less than a full segment.
    #[inline]
    pub(crate) fn sends_small(&mut self, range: Range, una: Offset) {
        self.sends_at_once |= self.small_until > una;
        self.small_until = range.end;
    }
    /// Whether Nagle's rule holds back small segments (RFC 9293 section 3.7.4; Linux:
    /// `tcp_nagle_check`): one is unacknowledged, and never was another sent beside one.
    pub(crate) fn holds_small(&self, una: Offset) -> bool {
        self.small_until > una && !self.sends_at_once
    }
    /// [`SenderModel::classify_new`] where no timer can have triggered the transmission.
    #[inline]
    pub(crate) fn sends(&mut self, at: Instant, frame: u64) -> Classification {
        self.going_back = false;
        self.last_sent = Some(Moment { at, frame });
        self.last_new = Some(at);
        Classification::new_data()
    }

    /// Classifies new data; `board` does not contain it yet.
    pub(crate) fn classify_new(&mut self, new: &NewData, board: &Scoreboard) -> Classification {
        let &NewData { at, frame, range, may_be_probe, small, beyond } = new;
        let calm =
            board.sacked.is_empty() && self.known.recovery.is_none() && self.timeout.is_none();
        let probe = may_be_probe
            && board.una < board.high
            && calm
            && self.probe.is_none()
            && !self.sack_refused
            && self.probe_is_due(at, beyond, board);
        let (silence, last_new) = (probe.then(|| self.silence_before(at, beyond)), self.last_new);
        let mut classification = self.sends(at, frame);
        if silence.is_some() && small {
            self.small_until = range.end;
        } else if small {
            self.sends_small(range, board.una);
        }
        if let Some(silence) = silence {
            self.probe = Some(range.end);
            self.last_new = last_new;
            classification.timer = Some(Timer::Probe);
            classification.proof = Proof { nth: 1, ..silence };
        }
        classification
    }

    /// What the sender knew when it retransmitted; when the latest ACK passed that it is proven to
    /// have had then; and the frame of the last that it had.
    fn known_for(
        &mut self,
        again: &RetransmittedPacket,
        board: &Scoreboard,
    ) -> (Knowledge, Option<Instant>, Option<u64>) {
        let passing = (again.at, again.beyond);
        let (known, proven) = self.in_transit.known(passing, again.echo, self.known);
        let now = (self.known, self.advanced(), self.last_heard.map(|last| last.frame));
        if self.must_have_heard(again, &known, board) {
            return now;
        }
        match self.crossed.take_if(|ack| ack.is_crossed_by(again, &known)) {
            Some(ack) => (ack.known, proven, ack.prompt),
            None => (known, proven, now.2),
        }
    }

    /// Classifies a retransmission; `board` does not contain it yet.
    pub(crate) fn classify_retransmission(
        &mut self,
        again: &RetransmittedPacket,
        board: &Scoreboard,
    ) -> Classification {
        let &RetransmittedPacket { at, frame, range, nth, unseen, alone, beyond, .. } = again;
        if let Some(classification) = self.classify_at_once(again, board) {
            return classification;
        }
        let (known, proven, prompt) = self.known_for(again, board);
        let (oldest, newest) = (range.start <= known.una, range.end >= board.high);
        let below = |point: Option<Offset>| point.is_some_and(|point| range.start < point);
        let after_timeout = below(self.timeout.as_ref().map(|timeout| timeout.point));
        let at_edge = oldest && range.end > known.una;
        let ignored = self.ignored(again, (&known, proven), board).filter(|_| at_edge);
        let ignored_loss = self.ignored_loss(at, beyond, range, board);
        let by_rack = || {
            let calm = ignored_loss.is_none() && ignored.is_none();
            calm && self.may_be_rack(again, &known, board)
        };
        // RACK goes by time of sending: an arrived retransmission reveals earlier losses.
        let reported = known.sacked.is_some_and(|end| end > range.end)
            || known.duplicates > 0
            || below(known.recovery)
            || by_rack();
        let (last, silence) = self.silence_of(again, proven);
        // With loss evidence a sender does not wait; a busy host may, but no timer is that short.
        // Nothing but RACK's timer acts on less than a rule asks for.
        let unprompted = ignored.is_some() || known.is_little();
        let may_expire = at_edge && unprompted && self.may_expire(at, beyond, &known, board);
        let is_short = silence.waited < SHORTEST_TIMER && !may_expire;
        let prompted = reported && (is_short || by_rack());
        let silent = self.is_silent(at, beyond, last) && !prompted;
        // Without SACK only the timer reveals a lost retransmission (RFC 6582).
        let head_again =
            at_edge && known.sacked.is_none() && self.head_retransmitted == Some(known.una);
        let overdue =
            self.overdue(at, beyond, ignored, board).filter(|_| !by_rack()).or(ignored_loss);
        let overdue = overdue.filter(|_| at_edge && !silent);
        // Triggered by an ACK without loss evidence.
        let after_timeout = after_timeout || (below(self.spurious_until) && !reported && !silent);
        // RFC 6298 section 5.5: no ACK came after the timer's transmission, so it expired again.
        let expired_again = after_timeout && silent && self.has_sent_last(silence.frame);
        self.retransmits(Moment { at, frame }, at_edge.then_some(known.una));
        // BSD acknowledges with its FIN again (`tcp_output`).
        if again.bare_fin && !(silent || reported || after_timeout) {
            return Classification::repeated_fin(Proof { by: Sign::None, nth, ..silence });
        }
        // Far from the sender, its trigger has been answered meanwhile; without SACK, in recovery.
        let answered = unseen > 0 || board.covers(range);
        let away = beyond > self.round_trip.unwrap_or_default() && answered;
        let forgotten = away && !silent && !reported && !alone && range.start > Offset::ZERO;
        let goes_on = !self.sack_refused || below(Some(known.recover));
        let is_followed = forgotten && (self.going_back || (unseen == 0 && goes_on));
        let is_explained = reported || after_timeout || is_followed;
        let may_be_probe = newest && silence.waited >= LEAST_PROBE;
        let ran = if silent { silence } else { SenderModel::ran(again, silence, board) };
        let too_soon = !silent && self.is_too_soon(again, ran.waited, may_be_probe);
        let no_timer = too_soon || (!silent && unseen > 0 && !head_again);
        if !is_explained && overdue.is_none() && no_timer {
            return Classification::unexplained(prompt, nth);
        }
        let by_timer = (silent && (oldest || newest)) || expired_again || (head_again && !too_soon);
        if by_timer || overdue.is_some() || !is_explained {
            let proof = Proof { waited: overdue.unwrap_or(ran.waited), nth, ..ran };
            return self.triggered_by_timer(again, (&known, ignored), proof, board);
        }
        let after_timeout = after_timeout || (forgotten && self.going_back);
        self.triggered_by_ack((range, nth, prompt), after_timeout, &known, board)
    }

    /// Follows a retransmission, of the oldest segment if `head` says where that begins.
    fn retransmits(&mut self, moment: Moment, head: Option<Offset>) {
        self.last_sent = Some(moment);
        if let Some(una) = head {
            self.head_retransmitted = Some(una);
            self.forget_revealed(una);
        }
    }

    /// Whether RACK's reordering timer can have sent it.
    fn may_be_rack(
        &self,
        again: &RetransmittedPacket,
        known: &Knowledge,
        board: &Scoreboard,
    ) -> bool {
        let due = board.reordering_deadline(again.range).filter(|_| !self.sack_refused);
        // What was sent later and arrived is known only by ACKs that had come.
        let now = (self.known.una, self.known.sacked);
        let is_told = known.sacked.is_some() || (known.una, known.sacked) == now;
        is_told && due.is_some_and(|due| again.at <= due + again.beyond + TICKS)
    }

    /// A retransmission that a timer triggered, after this silence.
    fn triggered_by_timer(
        &mut self,
        again: &RetransmittedPacket,
        (known, ignored): (&Knowledge, Option<Ignored>),
        mut proof: Proof,
        board: &Scoreboard,
    ) -> Classification {
        // A lone SYN is never probed for.
        let probe = again.range.end >= board.high
            && again.unseen <= 1
            && again.range.start > Offset::ZERO
            && known.sacked.is_none()
            && known.recovery.is_none()
            && self.timeout.is_none()
            && self.probe.is_none()
            && !self.sack_refused
            && (again.unseen > 0 || proof.waited <= self.latest_probe(again.beyond));
        let timer = if probe { Timer::Probe } else { Timer::Retransmission };
        self.fired(timer, again, board);
        self.ignored = ignored.filter(|_| !probe);
        if let Some(ignored) = self.ignored.filter(|ignored| ignored.has_arrived) {
            (proof.by, proof.frame) = (Sign::IgnoredAcks, Some(ignored.frame));
        }
        let kind = SegmentKind::TimeoutRetransmission;
        Classification { kind, timer: Some(timer), proof }
    }

    /// The ACKs that revealed the loss of this segment long ago: they were lost behind the capture
    /// point, or the sender did not react to them. Away from the sender, where queues may delay the
    /// answer, that is proven if the sender had `proven`ly received ACKs that followed long after,
    /// and no retransmission can have been lost before the capture point.
    fn ignored(
        &self,
        again: &RetransmittedPacket,
        (known, proven): (&Knowledge, Option<Instant>),
        board: &Scoreboard,
    ) -> Option<Ignored> {
        let &RetransmittedPacket { at, beyond, at_sender, whole, .. } = again;
        let revealed = known.revealed?;
        let round_trip = self.round_trip.unwrap_or_default() + beyond;
        let waited = at.since(revealed.ack.at + beyond);
        let soon = round_trip / 2 + SLACK;
        // RACK's timer may take a round trip (RFC 8985 section 6.2).
        let long = if self.sack_refused { soon } else { round_trip * 5 / 4 + SLACK };
        let has_arrived = if at_sender {
            waited > long
        } else {
            whole && proven.is_some_and(|proven| proven.since(revealed.ack.at) > soon)
        };
        let (by, frame, duplicates) = (revealed.by, revealed.ack.frame, known.duplicates);
        let sent = board.high.since(revealed.high).as_u64();
        (has_arrived || waited > long).then_some(Ignored {
            by,
            frame,
            waited,
            duplicates,
            sent,
            has_arrived,
        })
    }

    /// The retransmission prompted by the first ACK is on its way.
    fn forget_revealed(&mut self, una: Offset) {
        let forget = |known: &mut Knowledge| {
            known.revealed = known.revealed.filter(|_| known.una > una);
        };
        forget(&mut self.known);
        self.in_transit.change(forget);
    }

    /// A timeout shows only now, by the data up to `point` that had been lost before.
    #[cold]
    pub(crate) fn learn_of_timeout(&mut self, point: Offset, board: &Scoreboard) {
        let (order, known) = (board.log.next(), board.sacked.clone());
        self.timeout = Some(Box::new(Timeout { point, order, known, in_doubt: false }));
    }

    /// What revealed the loss that the timer just repaired.
    pub(crate) fn take_ignored(&mut self) -> Option<Ignored> {
        self.ignored.take()
    }

    /// A retransmission that ICMP requested; `None` if it is none, or if a timer was faster.
    fn requested_by_icmp(
        &mut self,
        again: &RetransmittedPacket,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let &RetransmittedPacket { at, frame, range, nth, beyond, .. } = again;
        let report = self.too_big.as_ref()?;
        let is_it = range.start < report.point && again.before? < report.frame;
        if !is_it || self.is_silent(at, beyond, self.last_before(at, beyond, again.ack)) {
            return None;
        }
        let proof =
            Proof { by: Sign::PacketTooBig, frame: Some(report.frame), nth, ..Proof::default() };
        self.last_sent = Some(Moment { at, frame });
        self.going_back = false;
        if range.start <= board.una {
            self.head_retransmitted = Some(board.una);
        }
        Some(Classification { kind: SegmentKind::FastRetransmission, timer: None, proof })
    }

    /// A retransmission triggered by an ACK, after a timeout or not.
    fn triggered_by_ack(
        &mut self,
        (range, nth, prompt): (Range, u32, Option<u64>),
        after_timeout: bool,
        known: &Knowledge,
        board: &Scoreboard,
    ) -> Classification {
        let proof = |by| Proof { by, frame: prompt, nth, ..Proof::default() };
        if after_timeout {
            if let Some(timeout) = &mut self.timeout {
                timeout.known.insert(range);
                timeout.in_doubt = false;
            }
            let kind = SegmentKind::AfterTimeoutRetransmission;
            return Classification { kind, timer: None, proof: proof(Sign::AfterTimeout) };
        }
        let by = self.prompted_by(range, nth, known, board);
        let begin = |known: &mut Knowledge| {
            let point = *known.recovery.get_or_insert(board.high);
            known.recover = known.recover.max(point);
        };
        begin(&mut self.known);
        self.in_transit.change(begin);
        self.going_back = false;
        Classification { kind: SegmentKind::FastRetransmission, timer: None, proof: proof(by) }
    }

    /// What made the sender think `range` lost.
    fn prompted_by(&self, range: Range, nth: u32, known: &Knowledge, board: &Scoreboard) -> Sign {
        let mut above = board.sacked.above(range.end);
        if known.sacked.is_none_or(|end| end <= range.end) {
            above = Above::default();
        }
        let untold = above.bytes == 0 && known.duplicates == 0 && known.recovery.is_none();
        if untold && !self.sack_refused {
            return Sign::Rack;
        }
        if self.sack_refused || above.bytes == 0 {
            // RFC 6582 section 3.2, step 3: a partial ACK in recovery is enough.
            return if known.recovery.is_some() && known.duplicates == 0 {
                Sign::PartialAck
            } else {
                Sign::DuplicateAcks
            };
        }
        // RFC 6675 section 4, `IsLost`, which excludes retransmitted data.
        let lost = above.ranges >= THRESHOLD || above.bytes > (THRESHOLD - 1) * range.len();
        if lost && nth <= 2 { Sign::Sack } else { Sign::Rack }
    }

    fn fired(&mut self, timer: Timer, again: &RetransmittedPacket, board: &Scoreboard) {
        match timer {
            Timer::Probe => self.probe = Some(board.high),
            Timer::Retransmission => {
                // `tcp_enter_loss`: in doubt unless in recovery. Without SACK, ACKs of originals
                // prove nothing.
                let fresh = self.known.recovery.is_none() || self.timeout.is_some();
                let in_doubt = fresh && !self.sack_refused;
                let mut known = board.sacked.clone();
                known.insert(again.range);
                // Data lost before the capture point counts as sent, too (SND.NXT).
                let unseen = u64::from(again.unseen) * again.range.len();
                let sent = Offset::new(again.range.start.as_u64() + unseen);
                let (point, order) = (board.high.max(sent), board.log.next());
                self.timeout = Some(Box::new(Timeout { point, order, known, in_doubt }));
                self.spurious_until = None;
                self.too_big = None;
                // `tcp_retransmit_timer`: whatever probe was out is out of mind.
                self.probe = None;
                let reset = |known: &mut Knowledge| {
                    (known.duplicates, known.recovery, known.revealed) = (0, None, None);
                    known.recover = known.recover.max(point);
                };
                reset(&mut self.known);
                self.in_transit.change(reset);
                self.going_back = true;
            }
        }
    }
}
