//! The retransmission timeout: how long, how it grows, what it does, when a connection is given up.

use tcplab_units::{Instant, Span};

use super::alarm::{Purpose, in_ticks};
use super::{GivenUp, Repeat, Sender, Stream, ToSend, micros};
use crate::SendCause;
use crate::config::{self, TimeoutAction, TimeoutRule};
use crate::congestion::{Event, State};

/// What a handshake without a measurement leaves the timeout at (RFC 6298 section 5.7,
/// `TCP_TIMEOUT_FALLBACK`).
pub(super) const FALLBACK: Span = Span::from_secs(3);

/// How often an orphaned connection repeats data that is still fresh (`tcp_orphan_retries`).
const ORPHAN_RETRIES: u32 = 8;

/// Haiku before August 2017 sets this after each acknowledgement without timestamps.
const OLD_HAIKU: Span = Span::from_secs(2);

/// The timeout as it stands.
#[derive(Debug)]
pub(super) struct Timeout {
    /// As the round trips have it.
    plain: Span,
    /// Backed off.
    pub(super) now: Span,
    /// How often it was backed off since the last measurement.
    pub(super) backoff: u32,
    /// Timeouts since the last progress (`icsk_retransmits`).
    pub(super) in_a_row: u32,
    /// All timeouts so far.
    pub(super) total: u64,
    /// What a stack of BSD's kind restores when the first timeout was needless.
    pub(super) before: Option<Before>,
}

/// A sender before its first timeout in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    /// Until when an acknowledgement shows that it was needless (`t_badrxtwin`).
    until: Instant,
    cwnd: u32,
    ssthresh: u32,
    high: u64,
    state: State,
}

impl Timeout {
    pub(super) fn new(initial: Span) -> Timeout {
        Timeout { plain: initial, now: initial, backoff: 0, in_a_row: 0, total: 0, before: None }
    }

    /// A new measurement; backing off ends (Karn).
    pub(super) fn set(&mut self, span: Span, most: Span) {
        self.plain = span.min(most);
        self.now = self.plain;
        self.backoff = 0;
    }

    /// Grows after it ran out.
    fn back_off(&mut self, config: &config::Timeout) {
        self.backoff += 1;
        let grown = if config.backoff.is_empty() {
            self.now * 2
        } else {
            self.plain * factor(&config.backoff, self.backoff)
        };
        self.now = grown.min(config.most);
    }
}

/// By what the timeout grew after `timeouts` in a row: as listed, then doubling.
fn factor(factors: &[u32], timeouts: u32) -> u64 {
    let last = factors.len() - 1;
    let beyond = (timeouts as usize).saturating_sub(last).min(32);
    u64::from(factors[(timeouts as usize).min(last)]) << beyond
}

/// How long `retries` repetitions take that begin `least` apart and double up to `most`
/// (`tcp_model_timeout`).
pub(super) fn modelled(retries: u32, least: Span, most: Span) -> Span {
    let ratio = (most.as_nanos() / least.as_nanos().max(1)).max(1);
    let doublings = ratio.ilog2();
    let exponent = retries.min(doublings).min(62);
    let growing = least * ((2_u64 << exponent) - 1);
    growing + most * u64::from(retries.saturating_sub(doublings))
}

impl Sender {
    /// The round trips changed (`tcp_set_rto`).
    pub(super) fn reset_timeout(&mut self) {
        if let Some(timeout) = self.trip.timeout() {
            let span = in_ticks(&self.config.host, Span::from_micros(timeout));
            self.timeout.set(span, self.config.timeout.most);
        }
    }

    /// After each acknowledgement of anything, on a stack that measures without timestamps like
    /// the old Haiku.
    pub(super) fn overrule_timeout(&mut self) {
        if self.config.timeout.rule == TimeoutRule::OldHaiku && !self.timestamps {
            self.timeout.set(OLD_HAIKU, self.config.timeout.most);
        }
    }

    /// Starts the timer from now on; if it stands for another purpose, from when the first segment
    /// was last sent (`tcp_rearm_rto`).
    pub(super) fn rearm_timeout(&mut self, now: Instant) {
        let waited = matches!(self.alarm.purpose(), Some(Purpose::Reordering | Purpose::LossProbe));
        self.rearm(now, waited);
    }

    /// Starts the timer; `waited`: from when the first segment was last sent.
    pub(super) fn rearm(&mut self, now: Instant, waited: bool) {
        let Some(head) = self.board.head() else {
            self.alarm.clear();
            return;
        };
        let mut span = self.timeout.now;
        if waited {
            let at = head.sent + self.timeout.now.as_micros();
            span = Span::from_micros(at.saturating_sub(micros(now)).max(1));
        }
        self.set_alarm(now, Purpose::Retransmit, span);
    }

    /// Sets the one timer; pacing delays it.
    pub(super) fn set_alarm(&mut self, now: Instant, purpose: Purpose, span: Span) {
        let span = (span + self.pace.delay(now)).min(self.config.timeout.most);
        self.alarm.set(&self.config.host, purpose, now, in_ticks(&self.config.host, span));
    }

    /// The timer ran out (`tcp_retransmit_timer`).
    pub(super) fn time_out(&mut self, now: Instant, stream: &Stream) -> Result<(), GivenUp> {
        if self.board.is_empty() {
            return Ok(());
        }
        if self.peer_window == 0 && !stream.orphaned {
            // The peer took its window back: the repetition is a probe, and the connection lives
            // as long as it is answered.
            if self.is_probed_in_vain(now) {
                return Err(GivenUp::Probes(self.timeout.in_a_row));
            }
            self.enter_loss(now);
            self.repeat_head(now, stream, SendCause::WindowProbe);
        } else {
            if self.is_hopeless(now, stream) {
                return Err(GivenUp::Retransmissions(self.timeout.in_a_row));
            }
            self.suspect_black_hole(now, stream);
            self.enter_loss(now);
            self.timeout.in_a_row += 1;
            self.timeout.total += 1;
            let nth = u8::try_from(self.timeout.in_a_row).unwrap_or(u8::MAX);
            self.repeat_head(now, stream, SendCause::Timeout(nth));
        }
        self.timeout.back_off(&self.config.timeout);
        let span = self.up_to_user_timeout(now, self.timeout.now);
        self.set_alarm(now, Purpose::Retransmit, span);
        Ok(())
    }

    fn repeat_head(&mut self, now: Instant, stream: &Stream, cause: SendCause) {
        let first = self.board.first();
        self.board.part(first);
        let sent: Option<ToSend> = self.repeat(now, stream, first, cause);
        self.outbox = sent;
        // What comes next the next acknowledgement decides.
        self.repeating = Repeat::Nothing;
    }

    /// Whether it has been tried for long enough (`tcp_write_timeout`).
    fn is_hopeless(&self, now: Instant, stream: &Stream) -> bool {
        let config = &self.config.timeout;
        let mut retries = u32::from(config.retries);
        if stream.orphaned {
            let alive = self.timeout.now < config.most;
            retries = if alive { ORPHAN_RETRIES } else { 0 };
        }
        if self.timeout.in_a_row == 0 {
            return false;
        }
        if !self.user_timeout.is_zero() {
            return self.since_first_repetition(now) >= self.user_timeout;
        }
        if config.counts_retries {
            return self.timeout.in_a_row >= retries;
        }
        self.since_first_repetition(now) >= modelled(retries, config.least, config.most)
    }

    /// How long ago something was first sent again, in ticks of the timestamps.
    pub(super) fn since_first_repetition(&self, now: Instant) -> Span {
        let ticks = self.undo.stamp.map_or(0, |stamp| self.ticks(micros(now)).wrapping_sub(stamp));
        self.config.host.timestamp_tick * u64::from(ticks)
    }

    /// `tcp_clamp_rto_to_user_timeout`.
    fn up_to_user_timeout(&self, now: Instant, span: Span) -> Span {
        if self.user_timeout.is_zero() {
            return span;
        }
        let left = self.user_timeout.saturating_sub(self.since_first_repetition(now));
        span.min(left.max(Span::from_nanos(1)))
    }

    /// `tcp_rtx_probe0_timed_out`: nothing was heard for longer than two of the longest timeouts.
    fn is_probed_in_vain(&self, now: Instant) -> bool {
        let mut patience = self.config.timeout.most * 2;
        let first = self.undo.stamp.map_or_else(
            || self.board.head().map_or(Span::ZERO, |h| Span::from_micros(micros(now) - h.sent)),
            |_| self.since_first_repetition(now),
        );
        if !self.user_timeout.is_zero() {
            if first > self.user_timeout {
                return true;
            }
            patience = patience.min(self.user_timeout);
        }
        now.since(self.heard_at) > patience && first > patience
    }

    /// What the timeout means for window and marks (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: Instant) {
        let was = self.window.state;
        self.path_mtu.timed_out();
        self.remember_before(now);
        self.mark_timed_out(micros(now));
        // Reduced once for each window; BSD reduces at every timeout.
        let fresh = was <= State::Disorder
            || self.high <= self.window.una
            || (was == State::Loss && self.timeout.in_a_row == 0);
        let goes_back = self.config.timeout.action == TimeoutAction::GoBack;
        if fresh || goes_back {
            if fresh {
                self.undo.prior_ssthresh = self.current_ssthresh();
                self.window.prior_cwnd = self.window.cwnd;
            }
            self.window.ssthresh = self.ask_ssthresh(now);
            self.tell_event(now, Event::Timeout);
            if fresh {
                self.begin_undo();
            }
        }
        self.set_cwnd(self.board.in_flight() + 1);
        self.window.count = 0;
        self.cwnd_since = now;
        // Duplicates in plenty before a timeout: the reordering reckoned with was too much.
        if was <= State::Disorder && self.board.sacked_out >= self.config.recovery.dupthresh {
            self.reordering = self.reordering.min(self.config.recovery.dupthresh);
        }
        self.set_state(now, State::Loss);
        self.high = self.window.nxt;
        self.probe.end();
        self.queue_cwr();
        // RFC 5682 section 3.1 step 1, section 3.2: not within another recovery, unless the same
        // segment timed out again.
        self.frto = self.config.recovery.frto
            && self.config.timeout.action != TimeoutAction::GoBack
            && (was < State::Recovery || self.timeout.in_a_row > 0);
    }

    /// `tcp_timeout_mark_lost`, RFC 6675 section 5.1, or BSD's `snd_nxt = snd_una`.
    fn mark_timed_out(&mut self, now: u64) {
        let action = self.config.timeout.action;
        // What the peer had SACKed at the very head it must have thrown away (RFC 2018 section 8).
        let reneged = self.board.head().is_some_and(super::scoreboard::Record::is_sacked);
        if reneged || action == TimeoutAction::GoBack {
            self.reneged |= reneged;
            self.board.forget_sacks();
        } else if !self.sack {
            self.board.sacked_out = 0;
        }
        let by_time = action == TimeoutAction::Scoreboard && self.is_rack() && !reneged;
        let first = self.board.first();
        for number in first..self.board.behind() {
            if by_time && number != first && self.rack_remaining(now, number, 0) > 0 {
                continue;
            }
            self.mark_lost(number);
        }
    }

    /// The first timeout in a row: what to go back to, should it have been needless.
    fn remember_before(&mut self, now: Instant) {
        let eighths = self.config.timeout.bad_retransmit_eighths;
        if eighths == 0 {
            return;
        }
        self.timeout.before = (self.timeout.in_a_row == 0).then(|| {
            let smoothed = self.trip.smoothed().unwrap_or(0);
            let within = Span::from_micros(smoothed * u64::from(eighths) / 8);
            Before {
                until: now + within,
                cwnd: self.window.cwnd,
                ssthresh: self.window.ssthresh,
                high: self.high,
                state: self.window.state,
            }
        });
    }

    /// BSD's bad retransmission: the acknowledgement came too soon to be one of the repetition, so
    /// window and threshold are restored and sending goes on behind the highest byte sent, as if
    /// nothing else were lost (`t_badrxtwin` in xnu's `tcp_input`).
    pub(super) fn check_bad_retransmit(&mut self, now: Instant) {
        let Some(before) = self.timeout.before.take() else { return };
        if now >= before.until {
            return;
        }
        self.board.forget_losses(true);
        self.set_cwnd(before.cwnd);
        self.window.ssthresh = before.ssthresh;
        self.high = before.high;
        self.undone += 1;
        let state = if before.state == State::Recovery { State::Recovery } else { State::Open };
        self.set_state(now, state);
        self.undo.clear();
        self.timeout.in_a_row = 0;
        self.timeout.now = self.timeout.plain;
        self.timeout.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_retries_are_the_time_the_kernel_documents() {
        // Documentation/networking/ip-sysctl: 924.6 s; and above 100 s for eight.
        let of = |retries| modelled(retries, Span::from_millis(200), Span::from_secs(120));
        assert_eq!(of(15), Span::from_millis(924_600));
        assert_eq!(of(8), Span::from_millis(102_200));
        assert_eq!(of(3), Span::from_millis(3_000));
    }

    #[test]
    fn timeouts_grow_as_listed_and_double_after() {
        let xnu = [1, 2, 4, 8, 16, 32, 64, 64];
        let factors: Vec<u64> = (1..10).map(|n| factor(&xnu, n)).collect();
        assert_eq!(factors, [2, 4, 8, 16, 32, 64, 64, 128, 256]);
        assert_eq!(factor(&[1], 3), 8);
    }
}
