//! What ICMP says of a connection, but for packets that were too large.

use tcplab_units::Instant;
use tcplab_wire::SeqNumber;

use super::{Connection, ConnectionError};
use crate::state::State;

impl Connection {
    /// ICMP says that the segment that begins with `sequence` did not arrive, or was not wanted.
    /// A connection that is not the application's yet is lost; later the error is only remembered,
    /// as the reason of a timeout (RFC 1122 section 4.2.3.9; `tcp_v4_err`). A message counts if it
    /// quotes something outstanding (RFC 5927 section 4).
    pub fn handle_unreachable(
        &mut self,
        now: Instant,
        sequence: SeqNumber,
        error: ConnectionError,
    ) {
        let position = self.numbers.own.position(sequence);
        let pending = self.handshake.fast.pending;
        let known = self.state.is_synchronized() && !pending;
        let una = if known { self.sender.una() } else { 0 };
        let is_outstanding = (una as i64..=self.sent() as i64).contains(&position);
        if !is_outstanding || matches!(self.state, State::Closed | State::TimeWait) {
            return;
        }
        let opens = matches!(self.state, State::SynSent | State::SynReceived);
        if opens || pending && !self.receiver.is_accepted() {
            self.fail(now, error);
        } else {
            self.soft_error = Some(error);
        }
    }

    /// What ICMP said since the peer's last acknowledgement, and was not taken before.
    pub fn take_soft_error(&mut self) -> Option<ConnectionError> {
        self.soft_error.take()
    }

    /// An acknowledgement up to `position` shows that the path works (`tcp_ack`). Linux's fast path
    /// passes over one of nothing new that comes with data.
    pub(super) fn clear_soft_error(&mut self, position: u64, with_data: bool) {
        let una = self.sender.una();
        if position > una || position == una && !with_data {
            self.soft_error = None;
        }
    }
}
