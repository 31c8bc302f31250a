//! The retransmission timer expires: what it does, and when a connection is given up.

use tcplab_units::{Instant, Span};

use super::interface::{GivenUp, Stream};
use super::parts::{Purpose, Retransmit};
use super::rto::time_of_retries;
use super::scoreboard::Record;
use super::{Sender, micros};
use crate::SendCause;
use crate::config::TimeoutAction;
use crate::congestion::{Event, State};

/// How often an orphaned connection retransmits data that is still fresh (`tcp_orphan_retries`).
const ORPHAN_RETRIES: u32 = 8;

impl Sender {
    /// The timer expired (`tcp_retransmit_timer`).
    pub(super) fn time_out(&mut self, now: Instant, stream: &Stream) -> Result<(), GivenUp> {
        if self.scoreboard.is_empty() {
            return Ok(());
        }
        if self.peer.window == 0 && !stream.orphaned {
            // The peer shrank its window to zero: the retransmission is a probe, and the connection
            // lives as long as it is answered.
            if self.is_probed_in_vain(now) {
                return Err(GivenUp::Probes(self.rto.in_a_row));
            }
            self.enter_loss(now);
            self.retransmit_head(now, stream, SendCause::WindowProbe);
        } else {
            if self.is_hopeless(now, stream) {
                return Err(GivenUp::Retransmissions(self.rto.in_a_row));
            }
            self.suspect_black_hole(now, stream);
            self.enter_loss(now);
            self.rto.in_a_row += 1;
            self.rto.total += 1;
            let nth = u8::try_from(self.rto.in_a_row).unwrap_or(u8::MAX);
            self.retransmit_head(now, stream, SendCause::Timeout(nth));
        }
        self.rto.back_off(&self.config.timeout);
        let span = self.up_to_user_timeout(now, self.rto.current);
        self.set_alarm(now, Purpose::Retransmit, span);
        Ok(())
    }

    fn retransmit_head(&mut self, now: Instant, stream: &Stream, cause: SendCause) {
        let first = self.scoreboard.first();
        self.output.waiting = self.retransmit(now, stream, first, 1, cause);
        // The next acknowledgement decides what follows.
        self.output.retransmit = Retransmit::Nothing;
    }

    /// Whether enough retransmissions were tried (`tcp_write_timeout`).
    fn is_hopeless(&self, now: Instant, stream: &Stream) -> bool {
        let config = &self.config.timeout;
        let mut retries = u32::from(config.retries);
        if stream.orphaned {
            let alive = self.rto.current < config.most;
            retries = if alive { ORPHAN_RETRIES } else { 0 };
        }
        if self.rto.in_a_row == 0 {
            return false;
        }
        if !self.rto.user_timeout.is_zero() {
            return self.since_first_retransmission(now) >= self.rto.user_timeout;
        }
        if config.counts_retries {
            return self.rto.in_a_row >= retries;
        }
        self.since_first_retransmission(now) >= time_of_retries(retries, config.least, config.most)
    }

    /// The time since the first retransmission, in ticks of the timestamps.
    pub(super) fn since_first_retransmission(&self, now: Instant) -> Span {
        let ticks = self.undo.stamp.map_or(0, |stamp| self.ticks(micros(now)).wrapping_sub(stamp));
        self.config.host.timestamp_tick * u64::from(ticks)
    }

    /// `tcp_clamp_rto_to_user_timeout`.
    fn up_to_user_timeout(&self, now: Instant, span: Span) -> Span {
        if self.rto.user_timeout.is_zero() {
            return span;
        }
        let left = self.rto.user_timeout.saturating_sub(self.since_first_retransmission(now));
        span.min(left.max(Span::from_nanos(1)))
    }

    /// Whether the peer was silent for longer than two of the longest timeouts
    /// (`tcp_rtx_probe0_timed_out`).
    fn is_probed_in_vain(&self, now: Instant) -> bool {
        let mut patience = self.config.timeout.most * 2;
        let first = self.undo.stamp.map_or_else(
            || {
                let since = |head: &Record| Span::from_micros(micros(now) - head.sent);
                self.scoreboard.head().map_or(Span::ZERO, since)
            },
            |_| self.since_first_retransmission(now),
        );
        if !self.rto.user_timeout.is_zero() {
            if first > self.rto.user_timeout {
                return true;
            }
            patience = patience.min(self.rto.user_timeout);
        }
        now.since(self.peer.heard_at) > patience && first > patience
    }

    /// The timeout changes window and marks (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: Instant) {
        let was = self.window.state;
        self.path_mtu.cut_to = 0;
        self.remember_before(now);
        self.mark_timed_out(now);
        // Reduced once for each window; BSD reduces at every timeout.
        let fresh = was <= State::Disorder
            || self.recovery.high <= self.window.una
            || (was == State::Loss && self.rto.in_a_row == 0);
        let goes_back = self.config.timeout.action == TimeoutAction::GoBack;
        if fresh || goes_back {
            if fresh {
                self.undo.prior_ssthresh = self.window.current_ssthresh();
                self.window.prior_cwnd = self.window.cwnd;
            }
            self.window.ssthresh = self.ask_ssthresh(now);
            self.inform(now, Event::Timeout);
            if fresh {
                self.begin_undo();
            }
        }
        self.set_cwnd(self.scoreboard.in_flight() + 1);
        self.window.count = 0;
        self.congestion.usage.since = now;
        // Many duplicate ACKs before a timeout: too much reordering was expected.
        if was <= State::Disorder && self.scoreboard.sacked_out >= self.config.recovery.dupthresh {
            self.recovery.reordering.reset();
        }
        self.set_state(now, State::Loss);
        self.recovery.high = self.window.nxt;
        self.recovery.loss_probe.high = None;
        self.queue_cwr();
        // RFC 5682 section 3.1 step 1, section 3.2: not during another recovery, unless the same
        // segment timed out again.
        self.recovery.frto = self.config.recovery.frto
            && self.config.timeout.action != TimeoutAction::GoBack
            && (was < State::Recovery || self.rto.in_a_row > 0);
    }

    /// `tcp_timeout_mark_lost`, RFC 6675 section 5.1, or BSD's `snd_nxt = snd_una`.
    fn mark_timed_out(&mut self, now: Instant) {
        let action = self.config.timeout.action;
        // The peer must have discarded a SACKed segment at the very head (RFC 2018 section 8).
        let reneged = self.scoreboard.head().is_some_and(Record::is_sacked);
        if reneged || action == TimeoutAction::GoBack {
            self.recovery.reneged |= reneged;
            self.scoreboard.forget_sacks();
        } else if !self.agreed.sack {
            self.scoreboard.sacked_out = 0;
        }
        let by_time = action == TimeoutAction::Scoreboard && !reneged;
        let (method, evidence) = self.evidence(now);
        let first = evidence.scoreboard.first();
        for number in first..evidence.scoreboard.behind() {
            if by_time && number != first && method.spares(&evidence, number) {
                continue;
            }
            evidence.scoreboard.mark_lost(number);
        }
    }
}
