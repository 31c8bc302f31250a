//! What limited the sender, and for how long.

use tcplab_units::{Instant, Span};

/// What a connection that has something to send waits for (`enum tcp_chrono`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Limit {
    /// Nothing: there is nothing to send.
    #[default]
    Idle,
    /// The network.
    Busy,
    /// The peer's window.
    PeerWindow,
    /// Room in the send buffer.
    SendBuffer,
}

/// Times spent in each (`tcpi_busy_time` and the two that follow it).
#[derive(Debug, Default)]
pub(crate) struct Limits {
    current: Limit,
    since: Instant,
    busy: Span,
    peer_window: Span,
    send_buffer: Span,
}

impl Limits {
    pub(crate) fn set(&mut self, now: Instant, limit: Limit) {
        if limit != self.current {
            let [busy, peer_window, send_buffer] = self.times(now);
            *self = Limits { current: limit, since: now, busy, peer_window, send_buffer };
        }
    }

    /// Whether there is nothing to send.
    pub(crate) fn is_idle(&self) -> bool {
        self.current == Limit::Idle
    }

    /// Time with anything to send, of it time held back by the peer's window, and by the send
    /// buffer.
    pub(crate) fn times(&self, now: Instant) -> [Span; 3] {
        let since = now.since(self.since);
        let when = |counts: bool| if counts { since } else { Span::ZERO };
        [
            self.busy + when(self.current != Limit::Idle),
            self.peer_window + when(self.current == Limit::PeerWindow),
            self.send_buffer + when(self.current == Limit::SendBuffer),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_each_moment_counts_once() {
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        let mut limits = Limits::default();
        for (ms, limit) in
            [(10, Limit::Busy), (15, Limit::PeerWindow), (35, Limit::SendBuffer), (75, Limit::Idle)]
        {
            limits.set(at(ms), limit);
        }
        assert_eq!(limits.times(at(500)), [65, 20, 40].map(Span::from_millis));
    }
}
