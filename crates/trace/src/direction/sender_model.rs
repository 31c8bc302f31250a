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

use tcplab_units::{Instant, Offset, Span};

use super::scoreboard::Scoreboard;
use crate::observers::AckEffect;
use crate::ranges::Ranges;
use crate::{Proof, Range, SegmentKind, Sign, Timer};

/// Silence above half an RTT plus [`SLACK`], at most [`LONGEST`], means a timer.
const SLACK: Span = Span::from_millis(20);
/// Linux's minimum retransmission timeout (`TCP_RTO_MIN`, 200 ms) less a tenth.
const LONGEST: Span = Span::from_millis(180);

/// The minimum of the timeout above the RTT (`tcp_rto_min`), less a quarter for estimates.
const LEAST_VARIANCE: Span = Span::from_millis(150);

/// Timers may be late by two ticks of 100 Hz (the longest), another running timer, and rounding.
const TICKS: Span = Span::from_millis(50);

/// A probe's timer runs at least that long beyond two RTTs, on Linux with 250 ticks a second
/// (`TCP_TIMEOUT_MIN`, two ticks).
const LEAST_PROBE: Span = Span::from_millis(4);

/// And at most that long, for a single segment (`TCP_RTO_MIN`, 200 ms, half as much added): later
/// it would have been sent before.
const LATEST_PROBE: Span = Span::from_millis(300);
/// Nor does any timer run longer (`TCP_RTO_MAX`).
const LONGEST_TIMEOUT: Span = Span::from_secs(120);

/// The most transmissions searched for later ones that arrived.
const SEARCHED: usize = 64;

/// Duplicate ACKs that indicate a loss (RFC 5681 section 3.2, RFC 6675 section 2: `DupThresh`).
const THRESHOLD: u64 = 3;

/// The state of the sender of one direction, as far as the capture shows.
#[derive(Debug, Default)]
pub(crate) struct SenderModel {
    /// The smoothed RTT (RFC 6298 section 2), from samples at the capture point.
    round_trip: Option<Span>,
    last_heard: Option<Moment>,
    /// The ACK before, which the sender had while the last was in flight.
    heard_before: Option<Moment>,
    last_sent: Option<Moment>,
    /// When it last sent new data, probes excluded.
    last_new: Option<Instant>,
    /// When the cumulative ACK last advanced.
    advanced: Option<Instant>,
    /// Duplicate ACKs since then.
    duplicates: u64,
    /// The oldest unacknowledged byte when it was last retransmitted.
    head_retransmitted: Option<Offset>,
    /// Fast recovery until this is acknowledged (RFC 6582 section 3.2, RFC 6675 section 5).
    recovery: Option<Offset>,
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
}

/// When a packet passed, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    at: Instant,
    frame: u64,
}

#[derive(Debug)]
struct Timeout {
    /// Recovery ends when this is acknowledged.
    point: Offset,
    /// Later transmissions have at least this order.
    order: u64,
    /// Data SACKed then or retransmitted since: other data acknowledged below `point` came by the
    /// original, so the timeout was spurious (F-RTO, RFC 5682; Linux's `FLAG_ORIG_SACK_ACKED`).
    known: Ranges,
    /// F-RTO is still undecided.
    in_doubt: bool,
}

#[derive(Debug)]
struct TooBig {
    frame: u64,
    /// The path MTU, bytes.
    mtu: u32,
    /// Data sent until then lie below.
    point: Offset,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct NewData {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) range: Range,
    /// By its form it may be a tail loss probe.
    pub(crate) may_be_probe: bool,
    /// It ends with less than a full segment, and without FIN.
    pub(crate) small: bool,
    /// The round trip from the capture point to the sender.
    pub(crate) beyond: Span,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RetransmittedPacket {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) range: Range,
    /// Which transmission of these data it is, as far as captured.
    pub(crate) nth: u32,
    /// The frame of the previous captured one.
    pub(crate) before: Option<u64>,
    /// How many of them were lost before the capture point.
    pub(crate) unseen: u32,
    /// It is the highest data sent: only a timer can have triggered it.
    pub(crate) alone: bool,
    /// The round trip from the capture point to the sender.
    pub(crate) beyond: Span,
    /// It is a FIN without data.
    pub(crate) bare_fin: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Classification {
    pub(crate) kind: SegmentKind,
    pub(crate) timer: Option<Timer>,
    pub(crate) proof: Proof,
}

impl Classification {
    fn repeated_fin(proof: Proof) -> Classification {
        Classification { kind: SegmentKind::RepeatedControl, timer: None, proof }
    }
    pub(crate) fn new_data() -> Classification {
        Classification {
            kind: SegmentKind::New,
            timer: None,
            proof: Proof { nth: 1, ..Proof::default() },
        }
    }
}

impl SenderModel {
    /// SACK was not negotiated.
    pub(crate) fn refuse_sack(&mut self) {
        self.sack_refused = true;
    }
    /// Whether anything arrived from the peer.
    pub(crate) fn has_heard(&self) -> bool {
        self.last_heard.is_some()
    }

    /// Whether anything arrived from the peer after this frame.
    pub(crate) fn has_heard_since(&self, frame: u64) -> bool {
        self.last_heard.is_some_and(|last| last.frame > frame)
    }

    /// Whether a timer may have run out since the peer's last packet.
    pub(crate) fn is_silent_for_timer(&self, at: Instant) -> bool {
        self.last_heard.is_none_or(|last| at.since(last.at) >= LONGEST)
    }

    /// Follows a packet of the peer; `before`: the cumulative ACK until then.
    #[inline(always)]
    pub(crate) fn heard(
        &mut self,
        (at, frame): (Instant, u64),
        effect: AckEffect,
        before: Offset,
        duplicate: bool,
        board: &Scoreboard,
    ) {
        self.hears(at, frame);
        if let Some(sample) = effect.round_trip {
            // RFC 6298 section 2.3: weight one eighth.
            let smoothed = |old: Span| (old * 7 + sample) / 8;
            self.round_trip = Some(self.round_trip.map_or(sample, smoothed));
        }
        if self.timeout.is_some() {
            self.check_timeout(effect, before, board);
        }
        if effect.advanced {
            self.advanced = Some(at);
            self.duplicates = 0;
            for point in [&mut self.recovery, &mut self.probe, &mut self.spurious_until] {
                *point = point.filter(|&p| board.una < p);
            }
            self.too_big.take_if(|report| report.point <= board.una);
        }
        self.duplicates += u64::from(duplicate);
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
        self.hears(at, frame);
        let is_news = self.too_big.as_ref().is_none_or(|report| mtu < report.mtu);
        if is_news {
            self.too_big = Some(Box::new(TooBig { frame, mtu, point: board.high }));
        }
        is_news
    }

    /// [`SenderModel::heard`] for an ACK without news.
    #[inline]
    pub(crate) fn hears(&mut self, at: Instant, frame: u64) {
        self.heard_before = self.last_heard.replace(Moment { at, frame });
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
        let calm = board.sacked.is_empty() && self.recovery.is_none() && self.timeout.is_none();
        let probe = may_be_probe
            && board.una < board.high
            && calm
            && self.probe.is_none()
            && !self.sack_refused
            && self.probe_is_due(at, beyond, board);
        let (silence, last_new) = (probe.then(|| self.silence(at, beyond)), self.last_new);
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

    /// Classifies a retransmission; `board` does not contain it yet.
    pub(crate) fn classify_retransmission(
        &mut self,
        again: &RetransmittedPacket,
        board: &Scoreboard,
    ) -> Classification {
        let &RetransmittedPacket { at, frame, range, nth, unseen, alone, beyond, .. } = again;
        if let Some(classification) = self.requested_by_icmp(again, board) {
            return classification;
        }
        let (oldest, newest) = (range.start <= board.una, range.end >= board.high);
        let below = |point: Option<Offset>| point.is_some_and(|point| range.start < point);
        let after_timeout = below(self.timeout.as_ref().map(|timeout| timeout.point));
        let ignored_loss = self.ignored_loss(at, beyond, range, board);
        let by_rack = || {
            let due = board.reordering_deadline(range).filter(|_| !self.sack_refused);
            ignored_loss.is_none() && due.is_some_and(|due| at <= due + beyond + TICKS)
        };
        // RACK goes by time of sending: an arrived retransmission reveals earlier losses.
        let reported = board.sacked.end().is_some_and(|end| end > range.end)
            || self.duplicates > 0
            || self.recovery.is_some_and(|point| range.start < point)
            || by_rack();
        let silence = self.silence(at, beyond);
        // With loss evidence a sender does not wait; a busy host may, but no timer is that short.
        let prompted = reported && (silence.waited < LONGEST || by_rack());
        let silent = self.is_silent(at, beyond) && !prompted;
        // Without SACK only the timer reveals a lost retransmission (RFC 6582).
        let at_edge = oldest && range.end > board.una;
        let head_again =
            at_edge && board.sacked.is_empty() && self.head_retransmitted == Some(board.una);
        let overdue = self.overdue(at, beyond, board).filter(|_| !by_rack()).or(ignored_loss);
        let overdue = overdue.filter(|_| at_edge && !silent);
        // Triggered by an ACK without loss evidence.
        let goes_on = below(self.spurious_until) && !reported && !silent;
        let after_timeout = after_timeout || goes_on;
        self.last_sent = Some(Moment { at, frame });
        if at_edge {
            self.head_retransmitted = Some(board.una);
        }
        // BSD acknowledges with its FIN again until that is acknowledged (`tcp_output`).
        if again.bare_fin && !(silent || reported || after_timeout) {
            return Classification::repeated_fin(Proof { by: Sign::None, nth, ..silence });
        }
        // Far from the sender, its trigger has been answered meanwhile.
        let away = beyond > self.round_trip.unwrap_or_default();
        let answered = unseen > 0 || board.covers(range);
        let forgotten =
            away && answered && !silent && !reported && !alone && range.start > Offset::ZERO;
        if (silent && (oldest || newest))
            || head_again
            || overdue.is_some()
            || !(reported || after_timeout || forgotten)
        {
            // A lone SYN is never probed for.
            let probe = newest
                && unseen <= 1
                && range.start > Offset::ZERO
                && board.sacked.is_empty()
                && self.recovery.is_none()
                && self.timeout.is_none()
                && self.probe.is_none()
                && !self.sack_refused;
            let timer = if probe { Timer::Probe } else { Timer::Retransmission };
            self.fired(timer, again, board);
            let (kind, timer) = (SegmentKind::TimeoutRetransmission, Some(timer));
            let waited = overdue.unwrap_or(silence.waited);
            return Classification { kind, timer, proof: Proof { waited, nth, ..silence } };
        }
        self.triggered_by_ack(range, nth, after_timeout || (forgotten && self.going_back), board)
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
        if !is_it || self.is_silent(at, beyond) {
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
        range: Range,
        nth: u32,
        after_timeout: bool,
        board: &Scoreboard,
    ) -> Classification {
        let prompt = self.last_heard.map(|heard| heard.frame);
        let proof = |by| Proof { by, frame: prompt, nth, ..Proof::default() };
        if after_timeout {
            if let Some(timeout) = &mut self.timeout {
                timeout.known.insert(range);
                timeout.in_doubt = false;
            }
            let kind = SegmentKind::AfterTimeoutRetransmission;
            return Classification { kind, timer: None, proof: proof(Sign::AfterTimeout) };
        }
        let by = self.prompted_by(range, nth, board);
        self.recovery = self.recovery.or(Some(board.high));
        self.going_back = false;
        Classification { kind: SegmentKind::FastRetransmission, timer: None, proof: proof(by) }
    }

    /// What made the sender think `range` lost.
    fn prompted_by(&self, range: Range, nth: u32, board: &Scoreboard) -> Sign {
        let above = board.sacked.above(range.end);
        let untold = above.bytes == 0 && self.duplicates == 0 && self.recovery.is_none();
        if untold && !self.sack_refused {
            return Sign::Rack;
        }
        if self.sack_refused || above.bytes == 0 {
            // RFC 6582 section 3.2, step 3: a partial ACK in recovery is enough.
            return if self.recovery.is_some() && self.duplicates == 0 {
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
                let fresh = self.recovery.is_none() || self.timeout.is_some();
                let in_doubt = fresh && !self.sack_refused;
                let mut known = board.sacked.clone();
                known.insert(again.range);
                // Data lost before the capture point counts as sent, too (SND.NXT).
                let unseen = u64::from(again.unseen) * again.range.len();
                let sent = Offset::new(again.range.start.as_u64() + unseen);
                let (point, order) = (board.high.max(sent), board.log.next());
                self.timeout = Some(Box::new(Timeout { point, order, known, in_doubt }));
                self.spurious_until = None;
                self.recovery = None;
                self.too_big = None;
                // `tcp_retransmit_timer`: whatever probe was out is out of mind.
                self.probe = None;
                self.duplicates = 0;
                self.going_back = true;
            }
        }
    }

    /// How long both sides were silent from the sender's view, and since which frame.
    fn silence(&self, at: Instant, beyond: Span) -> Proof {
        let last = self.last_before(at, beyond);
        Proof {
            by: Sign::Silence,
            frame: last.map(|last| last.frame),
            waited: last.map_or(Span::ZERO, |last| at.since(last.at)),
            ..Proof::default()
        }
    }

    /// The sender's last transmission or reception before the packet that passes at `at`.
    fn last_before(&self, at: Instant, beyond: Span) -> Option<Moment> {
        let shifted = |heard: Moment| Moment { at: heard.at + beyond, ..heard };
        let heard = |heard: Option<Moment>| heard.map(shifted).filter(|heard| heard.at <= at);
        heard(self.last_heard).or_else(|| heard(self.heard_before)).max(self.last_sent)
    }

    /// Whether both sides were silent for longer than anything but a timer explains.
    pub(crate) fn is_silent(&self, at: Instant, beyond: Span) -> bool {
        let Some(last) = self.last_before(at, beyond) else { return false };
        let quiet = at.since(last.at);
        quiet > SLACK && {
            let limit = (self.round_trip.unwrap_or_default() + beyond) / 2 + SLACK;
            quiet > limit.min(LONGEST)
        }
    }

    /// How long the retransmission timer of the oldest segment ran, if it expired (RFC 6298 section
    /// 5: restarted by sending it and by advancing ACKs).
    fn overdue(&self, at: Instant, beyond: Span, board: &Scoreboard) -> Option<Span> {
        let round_trip = self.round_trip?;
        // With SACK, missing data are retransmitted on each report. Without, only the first
        // duplicates trigger; far from the sender more duplicates may have arrived meanwhile.
        let near = beyond <= round_trip || self.duplicates > THRESHOLD;
        if !self.sack_refused || !near {
            return None;
        }
        let moved = self.advanced.map(|moved| moved + beyond);
        let ran = at.since(board.oldest_sent().max(moved)?);
        (ran >= round_trip + beyond + LEAST_VARIANCE).then_some(ran)
    }

    /// With SACK: how long `range` was known to be lost again but not retransmitted while the
    /// sender sent new data. RACK (RFC 8985 section 6.2) retransmits it first; others wait for the
    /// timer (RFC 6675 section 5.1).
    fn ignored_loss(
        &self,
        at: Instant,
        beyond: Span,
        range: Range,
        board: &Scoreboard,
    ) -> Option<Span> {
        let near = beyond.is_zero() && !self.sack_refused && self.timeout.is_none();
        let round_trip = self.round_trip.filter(|_| near)?;
        let later = board.log.latest(range)? + 1..board.log.next();
        let mut later = later.take(SEARCHED).filter_map(|order| board.log.get(order));
        let known = later.find(|sent| board.covers(sent.range))?.at + round_trip;
        let went_on = self.last_new.is_some_and(|new| new >= known + round_trip);
        let ran = if went_on { at.since(known) } else { Span::ZERO };
        (ran >= round_trip + LEAST_VARIANCE).then_some(ran)
    }

    /// Whether a probe is due (RFC 8985 section 7.2): two RTTs after the last packet if more than
    /// one is in flight (a single one's ACK may be delayed), or, as in Linux
    /// (`tcp_schedule_loss_probe`), when the retransmission timer would expire. Both rounded down
    /// by a quarter: the sender's RTT estimate differs from ours.
    fn probe_is_due(&self, at: Instant, beyond: Span, board: &Scoreboard) -> bool {
        let Some(round_trip) = self.round_trip.map(|near| near + beyond) else { return false };
        let quiet = self.last_before(at, beyond).map_or(Span::ZERO, |last| at.since(last.at));
        let age = board.oldest_sent().map_or(Span::ZERO, |sent| at.since(sent));
        let unacknowledged = board.log.iter().rev().take_while(|(_, t)| t.range.end > board.una);
        let several = unacknowledged.take(2).count() == 2;
        quiet <= (round_trip * 4 + LATEST_PROBE).min(LONGEST_TIMEOUT)
            && ((several && quiet >= round_trip * 3 / 2 + LEAST_PROBE)
                || (age >= round_trip + LEAST_VARIANCE && self.is_silent(at, beyond)))
    }
}

impl Timeout {
    /// Whether an ACK shows that an original arrived.
    fn was_spurious(&mut self, effect: AckEffect, before: Offset, board: &Scoreboard) -> bool {
        if !self.in_doubt {
            return false;
        }
        let newly = Range { start: before, end: board.una.min(self.point) };
        if effect.advanced && !newly.is_empty() && !self.known.missing(newly).is_empty() {
            return true;
        }
        if effect.sacked {
            let original = |order: u64| {
                order < self.order && board.log.get(order).is_some_and(|sent| !sent.repeat)
            };
            if effect.earliest_sacked.is_some_and(original) {
                return true;
            }
            // RFC 5682 section 3.1, step 3: data sent after the timeout arrived first.
            self.in_doubt = false;
        }
        false
    }
}
