//! Which timers of the sender can have expired.

use tcplab_units::{Instant, Span};

use super::{LEAST_PROBE, Moment, PROMPT, SenderModel};
use crate::direction::classification::{Classification, Ignored, RetransmittedPacket};
use crate::direction::knowledge::{Knowledge, THRESHOLD};
use crate::direction::scoreboard::Scoreboard;
use crate::{Proof, Range, Sign};

/// The minimum of the timeout above the RTT (`tcp_rto_min`), less a quarter for estimates.
const LEAST_VARIANCE: Span = Span::from_millis(150);

/// No common timer runs shorter above the RTT (Haiku: 100 ms), less a tenth.
const SHORTEST_VARIANCE: Span = Span::from_millis(90);

/// And at most that long, for a single segment (`TCP_RTO_MIN`, 200 ms, half as much added): later
/// it would have been sent before.
const LATEST_PROBE: Span = Span::from_millis(300);
/// Without any RTT known: 1 s (RFC 8985 section 7.2), half as much added.
const LATEST_PROBE_UNKNOWN: Span = Span::from_millis(1_500);
/// Nor does any timer run longer (`TCP_RTO_MAX`).
const LONGEST_TIMEOUT: Span = Span::from_secs(120);

/// The most transmissions searched for later ones that arrived.
const SEARCHED: usize = 64;

impl SenderModel {
    /// A retransmission whose trigger is known whatever else happened: ICMP, or a SYN's timer.
    pub(super) fn classify_at_once(
        &mut self,
        again: &RetransmittedPacket,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let by_icmp = self.requested_by_icmp(again, board);
        by_icmp.or_else(|| again.syn.then(|| self.repeats_syn(again, board)))
    }

    /// A SYN again: no ACK prompts one, so that its timer expired, which sending it started.
    fn repeats_syn(&mut self, again: &RetransmittedPacket, board: &Scoreboard) -> Classification {
        let &RetransmittedPacket { at, frame, nth, beyond, .. } = again;
        let sent = self.last_sent.map(|sent| Proof {
            by: Sign::Silence,
            frame: Some(sent.frame),
            waited: at.since(sent.at),
            ..Proof::default()
        });
        let proof = Proof { nth, ..sent.unwrap_or_else(|| self.silence_before(at, beyond)) };
        let is_head = again.range.end > board.una;
        self.retransmits(Moment { at, frame }, is_head.then_some(board.una));
        self.triggered_by_timer(again, (&Knowledge::default(), None), proof, board)
    }

    /// Whether the retransmission timer of the oldest segment can have expired.
    pub(super) fn may_expire(
        &self,
        at: Instant,
        beyond: Span,
        known: &Knowledge,
        board: &Scoreboard,
    ) -> bool {
        let moved = self.advanced.filter(|_| known.una == board.una).map(|moved| moved.at + beyond);
        let (Some(round_trip), Some(since)) = (self.round_trip, board.oldest_sent().max(moved))
        else {
            return false;
        };
        at.since(since) >= round_trip + beyond + SHORTEST_VARIANCE
    }

    /// Whether no timer can have run out in this time, which began when the same data were sent. A
    /// probe takes an RTT at least (RFC 8985 section 7.2), rounded down by a quarter; the
    /// retransmission timer runs longer (RFC 6298 section 2.3).
    pub(super) fn is_too_soon(
        &self,
        again: &RetransmittedPacket,
        ran: Span,
        may_be_probe: bool,
    ) -> bool {
        let near = self.round_trip;
        let Some(round_trip) = near.map(|near| near + again.beyond) else { return true };
        let least = if may_be_probe {
            LEAST_PROBE.max(round_trip * 3 / 4)
        } else {
            round_trip + SHORTEST_VARIANCE
        };
        ran < least
    }

    /// How long a timer ran at most, if sending the same data before started it: of data that are
    /// acknowledged and forgotten, since the last packet.
    pub(super) fn ran(again: &RetransmittedPacket, silence: Proof, board: &Scoreboard) -> Proof {
        let last = board.log.latest(again.range).and_then(|order| board.log.get(order));
        let Some(last) = last else { return silence };
        let (frame, waited) = (Some(last.frame), again.at.since(last.at));
        Proof { by: Sign::Silence, frame, waited, ..Proof::default() }
    }

    /// How long the retransmission timer of the oldest segment ran, if it expired (RFC 6298 section
    /// 5: restarted by sending it and by advancing ACKs).
    pub(super) fn overdue(
        &self,
        at: Instant,
        beyond: Span,
        ignored: Option<Ignored>,
        board: &Scoreboard,
    ) -> Option<Span> {
        let round_trip = self.round_trip?;
        // With SACK, missing data are retransmitted on each report. Without, only the first
        // duplicates trigger; far from the sender more duplicates may have arrived meanwhile.
        let near = beyond <= round_trip || self.known.duplicates > THRESHOLD;
        if !self.sack_refused || !near {
            return None;
        }
        let moved = self.advanced.map(|moved| moved.at + beyond);
        let ran = at.since(board.oldest_sent().max(moved)?);
        // More than an RTT after the cumulative ACK advanced nothing else answers duplicate ACKs.
        let sure = |ignored: Ignored| ignored.has_arrived;
        let least = if ignored.is_some_and(sure) { Span::ZERO } else { LEAST_VARIANCE };
        (ran >= round_trip + beyond + least).then_some(ran)
    }

    /// With SACK: how long `range` was known to be lost again but not retransmitted while the
    /// sender sent new data. RACK (RFC 8985 section 6.2) retransmits it first; others wait for the
    /// timer (RFC 6675 section 5.1).
    pub(super) fn ignored_loss(
        &self,
        at: Instant,
        beyond: Span,
        range: Range,
        board: &Scoreboard,
    ) -> Option<Span> {
        let is_prompted = self.last_heard.is_some_and(|heard| at.since(heard.at) <= PROMPT);
        let near = beyond.is_zero() && !self.sack_refused && self.timeout.is_none() && !is_prompted;
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
    pub(super) fn probe_is_due(&self, at: Instant, beyond: Span, board: &Scoreboard) -> bool {
        let Some(round_trip) = self.round_trip.map(|near| near + beyond) else { return false };
        let last = self.last_before(at, beyond, None);
        let quiet = last.map_or(Span::ZERO, |last| at.since(last.at));
        let age = board.oldest_sent().map_or(Span::ZERO, |sent| at.since(sent));
        let unacknowledged = board.log.iter().rev().take_while(|(_, t)| t.range.end > board.una);
        let several = unacknowledged.take(2).count() == 2;
        quiet <= self.latest_probe(beyond)
            && ((several && quiet >= round_trip * 3 / 2 + LEAST_PROBE)
                || (age >= round_trip + LEAST_VARIANCE && self.is_silent(at, beyond, last)))
    }

    /// The longest silence that a probe ends (RFC 8985 section 7.2): two RTTs and a delayed ACK,
    /// with as much again for estimates. After a longer one the retransmission timer expired.
    pub(super) fn latest_probe(&self, beyond: Span) -> Span {
        let Some(near) = self.round_trip else { return LATEST_PROBE_UNKNOWN };
        ((near + beyond) * 4 + LATEST_PROBE).min(LONGEST_TIMEOUT)
    }
}
