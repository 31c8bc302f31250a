//! Whether the peer is still there (RFC 9293 section 3.8.4, `tcp_keepalive_timer`).

use tcplab_units::{Instant, Span};
use tcplab_wire::TcpFlags;

use super::{Connection, ConnectionError, Transmit};
use crate::state::State;
use crate::{Segment, SendCause};

/// A probe does not follow sooner, whatever is asked for: zero, which Linux's sysctls allow, would
/// be due for ever. FreeBSD's are in milliseconds.
const LEAST: Span = Span::from_millis(1);

impl Connection {
    /// The option or its time changed, or the connection is new.
    pub(super) fn restart_keep_alive(&mut self, now: Instant) {
        let asks = self.options.keep_alive
            && self.state.is_synchronized()
            && self.state != State::TimeWait;
        self.timers.keep_alive.at = asks.then(|| {
            let left = self.options.keep_idle.saturating_sub(self.silent_for(now));
            self.timers.jiffies.deadline(now, left)
        });
    }

    /// The time since anything arrived from the peer (`keepalive_time_elapsed`).
    fn silent_for(&self, now: Instant) -> Span {
        let now = self.timers.jiffies.now(now);
        let heard = self.timers.jiffies.now(self.counters.last_ack);
        now.since(heard.max(self.receiver.acks.last_arrival))
    }

    pub(super) fn handle_keep_alive_timeout(&mut self, now: Instant) {
        if self.timers.keep_alive.at.is_none_or(|at| at > now) {
            return;
        }
        let idle = self.options.keep_idle.max(LEAST);
        let silent = self.silent_for(now);
        let outstanding = self.sender.una() < self.stream().end;
        let next = if outstanding {
            // Retransmissions serve the same purpose.
            idle
        } else if silent < idle {
            idle - silent
        } else if self.is_given_up(silent) {
            self.send_reset(now);
            self.fail(now, ConnectionError::TimedOut);
            self.timers.keep_alive.at = None;
            return;
        } else {
            self.send_keep_alive(now);
            self.options.keep_interval.max(LEAST)
        };
        self.timers.keep_alive.at = Some(self.timers.jiffies.deadline(now, next));
    }

    /// Enough probes, or, with TCP_USER_TIMEOUT, enough time.
    fn is_given_up(&self, silent: Span) -> bool {
        let user_timeout = self.options.user_timeout;
        if user_timeout.is_zero() {
            self.timers.keep_alive.probes >= self.options.keep_probes
        } else {
            silent >= user_timeout && self.timers.keep_alive.probes > 0
        }
    }

    /// A segment that the peer must answer: its number was acknowledged already
    /// (`tcp_xmit_probe_skb`).
    fn send_keep_alive(&mut self, now: Instant) {
        self.timers.keep_alive.probes = self.timers.keep_alive.probes.saturating_add(1);
        let header = self.header(now, self.sender.una() - 1, TcpFlags::ACK);
        self.receiver.acks.sent();
        self.counters.segments_out += 1;
        let segment = Segment::bare(header);
        self.output.queue.push_back(Transmit::single(segment, SendCause::KeepAlive));
    }
}
