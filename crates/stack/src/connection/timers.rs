//! When a connection wants to be called, and what it does then.

use tcplab_units::Instant;

use super::{Connection, ConnectionError};
use crate::state::State;

impl Connection {
    /// When to call [`Connection::handle_timeout`]; `None`: only something else makes it act.
    pub fn poll_at(&self) -> Option<Instant> {
        let own = match self.state {
            State::Closed | State::TimeWait => None,
            State::SynSent | State::SynReceived => self.handshake.retransmit_at,
            _ if self.handshake.fast.pending => self.handshake.retransmit_at,
            _ => {
                let sender = if self.state.is_sending() { self.sender.poll_at() } else { None };
                let receiver = self.receiver.acks.poll_at();
                Instant::earlier(Instant::earlier(sender, receiver), self.timers.keep_alive.at)
            }
        };
        Instant::earlier(own, self.timers.over_at)
    }

    /// A time that [`Connection::poll_at`] gave has come; earlier it does nothing. Poll for what
    /// is to be sent.
    pub fn handle_timeout(&mut self, now: Instant) {
        match self.state {
            State::Closed | State::TimeWait => {}
            State::SynSent | State::SynReceived => self.handle_handshake_timeout(now),
            _ if self.handshake.fast.pending => self.handle_handshake_timeout(now),
            _ => self.handle_synchronized_timeout(now),
        }
        if self.timers.over_at.is_some_and(|at| at <= now) {
            self.timers.over_at = None;
            self.enter(now, State::Closed);
        }
    }

    fn handle_synchronized_timeout(&mut self, now: Instant) {
        if let Some((cause, stamp)) = self.receiver.acks.handle_timeout(now, self.sender.rto()) {
            self.send_ack(stamp, cause);
        }
        if self.state.is_sending() && self.sender.poll_at().is_some_and(|at| at <= now) {
            self.make_room_for_options(now);
            let stream = self.stream();
            if self.sender.handle_timeout(now, &stream).is_err() {
                self.fail(now, ConnectionError::TimedOut);
                return;
            }
            self.terms.sending_mss = self.sender.full_mss();
        }
        self.handle_keep_alive_timeout(now);
    }
}
