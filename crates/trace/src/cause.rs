//! Why a segment was sent: prompted by an acknowledgement, or by a timer that ran out.
//!
//! A sender answers an acknowledgement within the moment (the kernel sends from the interrupt
//! that brought it), so what is sent after a *silence* of both sides was sent by a timer. Three
//! things other than these timers delay a sender. Pacing (a fraction of the round trip) and a
//! capture whose clock is read a little late must stay below the limit of silence. RACK's
//! reordering timer (RFC 8985 section 6.2) can take as long as a round trip; what it sends is
//! prompted by SACK evidence, and [`Scoreboard::reordering_deadline`] tells it. On the other side
//! stand the timers: a retransmission timer of 200 ms and more on Linux (RFC 6298 asks for 1 s),
//! and the probe timer of two round trips.

use tcplab_units::{Instant, Offset, Span};

use crate::scoreboard::{Scoreboard, Told};
use crate::{Range, SegmentKind, Timer};

/// Half a round trip and [`SLACK`] of silence, but never more than [`LONGEST`], mean a timer.
const SLACK: Span = Span::from_millis(20);
/// Linux's smallest retransmission timeout (`TCP_RTO_MIN`, 200 ms) less a tenth.
const LONGEST: Span = Span::from_millis(180);

/// A timer of Linux may be late by two ticks, another that is under way, and rounding: the ticks
/// of 100 Hz are the longest.
const TICKS: Span = Span::from_millis(50);

/// What the sender of one direction must know and feel, as far as the tap shows.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// The smoothed round trip (RFC 6298 section 2), from unblurred samples at the tap.
    round_trip: Option<Span>,
    last_heard: Option<Instant>,
    last_sent: Option<Instant>,
    /// Duplicate acknowledgements since the cumulative one last moved.
    duplicates: u64,
    /// The oldest byte when it was last sent again.
    head_resent: Option<Offset>,
    /// In fast recovery until this is acknowledged (RFC 6582 section 3.2, RFC 6675 section 5).
    recovery: Option<Offset>,
    /// After a timeout, until this is acknowledged.
    timeout: Option<Offset>,
    /// A probe is out, until this is acknowledged (RFC 8985 section 7.3: one at a time).
    probe: Option<Offset>,
    /// The connection agreed on SACK, or nobody knows; probes need it (RFC 8985 section 7.1).
    sack_refused: bool,
}

impl Judge {
    /// The handshake showed that SACK is not used.
    pub(crate) fn refuse_sack(&mut self) {
        self.sack_refused = true;
    }

    /// Anything came from the peer.
    pub(crate) fn heard(&mut self, at: Instant, told: Told, duplicate: bool, board: &Scoreboard) {
        self.last_heard = Some(at);
        if let Some(sample) = told.round_trip {
            // RFC 6298 section 2.3: a weight of one eighth.
            let smoothed = |old: Span| (old * 7 + sample) / 8;
            self.round_trip = Some(self.round_trip.map_or(sample, smoothed));
        }
        if told.advanced {
            self.duplicates = 0;
            for point in [&mut self.recovery, &mut self.timeout, &mut self.probe] {
                *point = point.filter(|&p| board.una < p);
            }
        }
        self.duplicates += u64::from(duplicate);
    }

    /// Judges data never sent before; `board` does not know of it yet.
    pub(crate) fn fresh(&mut self, at: Instant, range: Range, board: &Scoreboard) -> Option<Timer> {
        let calm = board.sacked.is_empty() && self.recovery.is_none() && self.timeout.is_none();
        let probe = board.una < board.high
            && calm
            && self.probe.is_none()
            && !self.sack_refused
            && self.silent(at)
            && self.probe_is_due(at, board);
        self.last_sent = Some(at);
        if probe {
            self.probe = Some(range.end);
        }
        probe.then_some(Timer::Probe)
    }

    /// Judges a repetition of `range`; `board` does not know of it yet.
    pub(crate) fn repeat(
        &mut self,
        at: Instant,
        range: Range,
        board: &Scoreboard,
    ) -> (SegmentKind, Option<Timer>) {
        let (oldest, newest) = (range.start <= board.una, range.end >= board.high);
        let after_timeout = self.timeout.is_some_and(|point| range.start < point);
        let told = board.sacked.end().is_some_and(|end| end > range.end)
            || self.duplicates > 0
            || self.recovery.is_some_and(|point| range.start < point);
        let by_rack = || board.reordering_deadline(range).is_some_and(|due| at <= due + TICKS);
        let silent = self.silent(at) && !(told && by_rack());
        // Without SACK nothing but the timer tells that a retransmission was lost (RFC 6582).
        let again = oldest && board.sacked.is_empty() && self.head_resent == Some(board.una);
        self.last_sent = Some(at);
        if oldest {
            self.head_resent = Some(board.una);
        }
        if (silent && (oldest || newest)) || again || !(told || after_timeout) {
            // A SYN, alone at the beginning, is never probed for.
            let probe = newest
                && range.start > Offset::ZERO
                && board.sacked.is_empty()
                && self.recovery.is_none()
                && self.timeout.is_none()
                && self.probe.is_none()
                && !self.sack_refused;
            let timer = if probe { Timer::Probe } else { Timer::Retransmission };
            self.fired(timer, board);
            return (SegmentKind::TimeoutRetransmission, Some(timer));
        }
        if after_timeout {
            return (SegmentKind::AfterTimeoutRetransmission, None);
        }
        self.recovery = self.recovery.or(Some(board.high));
        (SegmentKind::FastRetransmission, None)
    }

    fn fired(&mut self, timer: Timer, board: &Scoreboard) {
        match timer {
            Timer::Probe => self.probe = Some(board.high),
            Timer::Retransmission => {
                self.timeout = Some(board.high);
                self.recovery = None;
                self.duplicates = 0;
            }
        }
    }

    /// Whether both sides have been quiet for longer than anything but a timer explains.
    fn silent(&self, at: Instant) -> bool {
        let Some(last) = self.last_heard.max(self.last_sent) else { return false };
        let limit = self.round_trip.unwrap_or_default() / 2 + SLACK;
        at.since(last) > limit.min(LONGEST)
    }

    /// Whether a probe's time has come (RFC 8985 section 7.2): two round trips after the last
    /// packet, or, as in Linux (`tcp_schedule_loss_probe`), when the retransmission timer of the
    /// oldest segment would run out. Both are rounded down (by a quarter; by a quarter of the
    /// least variance term) since the sender's estimate is not quite ours.
    fn probe_is_due(&self, at: Instant, board: &Scoreboard) -> bool {
        let Some(round_trip) = self.round_trip else { return true };
        let quiet = self.last_heard.max(self.last_sent).map_or(Span::ZERO, |last| at.since(last));
        let age = board.oldest_sent().map_or(Span::ZERO, |sent| at.since(sent));
        quiet >= round_trip * 3 / 2 || age >= round_trip + Span::from_millis(150)
    }
}
