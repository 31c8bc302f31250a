//! Whether the window is used (RFC 2861, 7661; `tcp_cwnd_validate`), and idle times.

use tcplab_units::Instant;

use super::Sender;
use super::interface::Stream;
use crate::congestion::{Event, State};

impl Sender {
    /// After a burst; `limited`: the window held more back.
    pub(super) fn validate(&mut self, now: Instant, limited: bool, stream: &Stream) {
        let out = self.scoreboard.packets_out();
        let (flight, usage) = (&mut self.window.flight, &mut self.congestion.usage);
        if self.window.una >= usage.round
            || limited
            || (!flight.is_cwnd_limited && out > flight.max_packets_out)
        {
            flight.is_cwnd_limited = limited;
            flight.max_packets_out = out;
            usage.round = self.window.nxt;
        }
        if self.window.is_limited() {
            usage.segments = 0;
            usage.since = now;
            return;
        }
        usage.segments = usage.segments.max(out);
        if self.config.window.slow_start_after_idle
            && now.since(usage.since) >= self.rto.current
            && !self.congestion.sets_window
        {
            self.shrink_unused(now, stream);
        }
    }

    /// Less was sent than allowed for a whole timeout: the window loses half of what was not used
    /// (`tcp_cwnd_application_limited`).
    fn shrink_unused(&mut self, now: Instant, stream: &Stream) {
        if self.window.state == State::Open && !stream.buffer_full {
            let used = self.congestion.usage.segments.max(self.config.window.initial);
            if used < self.window.cwnd {
                self.window.ssthresh = self.window.current_ssthresh();
                self.set_cwnd(u32::midpoint(self.window.cwnd, used));
            }
            self.congestion.usage.segments = 0;
        }
        self.congestion.usage.since = now;
    }

    /// New data after an idle time longer than a timeout: the window is halved for each timeout
    /// that has passed, down to the initial one (RFC 5681 section 4.1;
    /// `tcp_slow_start_after_idle_check`, `tcp_cwnd_restart`).
    pub(super) fn check_idle(&mut self, now: Instant) {
        let sent = self.window.last_sent;
        if !self.config.window.slow_start_after_idle
            || !self.scoreboard.is_empty()
            || self.congestion.sets_window
            || self.congestion.usage.restarted == Some(sent)
        {
            return;
        }
        let idle = now.since(sent);
        let timeout = self.rto.current;
        if idle <= timeout || timeout.is_zero() {
            return;
        }
        self.congestion.usage.restarted = Some(sent);
        self.inform(now, Event::WindowRestart);
        self.window.ssthresh = self.window.current_ssthresh();
        let least = self.config.window.initial.min(self.window.cwnd);
        // Once for each whole timeout within the idle time.
        let times = (idle.as_nanos() - 1) / timeout.as_nanos();
        let halved = self.window.cwnd.checked_shr(times.min(31) as u32).unwrap_or(0);
        self.set_cwnd(halved.max(least));
        self.congestion.usage.since = now;
        self.congestion.usage.segments = 0;
    }
}
