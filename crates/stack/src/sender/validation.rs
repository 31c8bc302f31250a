//! Whether the window was used (RFC 2861, 7661; `tcp_cwnd_validate`), and what idleness means.

use tcplab_units::Instant;

use super::{Sender, Stream};
use crate::congestion::{Event, State};

/// The most that was used.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// When the round is over: at this position (`cwnd_usage_seq`).
    round: u64,
    /// Segments out while the window was not used up (`snd_cwnd_used`).
    segments: u32,
    /// The idle time that was seen to: when its last segment left.
    restarted: Option<Instant>,
}

impl Sender {
    /// After a burst; `limited`: the window held more back.
    pub(super) fn validate(&mut self, now: Instant, limited: bool, stream: &Stream) {
        let out = self.board.packets_out();
        if self.window.una >= self.used.round
            || limited
            || (!self.window.is_cwnd_limited && out > self.window.max_packets_out)
        {
            self.window.is_cwnd_limited = limited;
            self.window.max_packets_out = out;
            self.used.round = self.window.nxt;
        }
        if self.window.is_limited() {
            self.used.segments = 0;
            self.cwnd_since = now;
            return;
        }
        self.used.segments = self.used.segments.max(out);
        if self.config.window.slow_start_after_idle
            && now.since(self.cwnd_since) >= self.timeout.now
            && !self.controls
        {
            self.shrink_unused(now, stream);
        }
    }

    /// For a whole timeout less was sent than allowed: half of what was not used is given up
    /// (`tcp_cwnd_application_limited`).
    fn shrink_unused(&mut self, now: Instant, stream: &Stream) {
        if self.window.state == State::Open && !stream.buffer_full {
            let used = self.used.segments.max(self.config.window.initial);
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.set_cwnd(u32::midpoint(self.window.cwnd, used));
            }
            self.used.segments = 0;
        }
        self.cwnd_since = now;
    }

    /// New data after nothing was sent for longer than a timeout: the window is halved for each
    /// that has passed, down to the initial one (RFC 5681 section 4.1;
    /// `tcp_slow_start_after_idle_check`, `tcp_cwnd_restart`).
    pub(super) fn check_idle(&mut self, now: Instant) {
        let sent = self.window.last_sent;
        if !self.config.window.slow_start_after_idle
            || !self.board.is_empty()
            || self.controls
            || self.used.restarted == Some(sent)
        {
            return;
        }
        let idle = now.since(sent);
        let timeout = self.timeout.now;
        if idle <= timeout || timeout.is_zero() {
            return;
        }
        self.used.restarted = Some(sent);
        self.tell_event(now, Event::WindowRestart);
        self.window.ssthresh = self.current_ssthresh();
        let least = self.config.window.initial.min(self.window.cwnd);
        // As often as a whole timeout lies wholly within the time.
        let times = (idle.as_nanos() - 1) / timeout.as_nanos();
        let halved = self.window.cwnd.checked_shr(times.min(31) as u32).unwrap_or(0);
        self.set_cwnd(halved.max(least));
        self.cwnd_since = now;
        self.used.segments = 0;
    }
}
