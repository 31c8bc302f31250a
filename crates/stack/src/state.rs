//! The states of a connection, and what closing makes of each.

/// RFC 9293 section 3.3.2. LISTEN is a [`Listener`](crate::Listener), not a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum State {
    /// There is no connection, or no longer.
    #[default]
    Closed,
    /// A SYN was sent, none was received.
    SynSent,
    /// A SYN was received and one sent; the own is not acknowledged.
    SynReceived,
    /// Data flows both ways.
    Established,
    /// The application has closed; the FIN is not acknowledged.
    FinWait1,
    /// The FIN is acknowledged, the peer has not closed.
    FinWait2,
    /// The peer has closed, the application has not.
    CloseWait,
    /// Both have closed at once; the own FIN is not acknowledged.
    Closing,
    /// Both have closed, the peer first; the own FIN is not acknowledged.
    LastAck,
    /// Both FINs are acknowledged; what is still under way is waited for.
    TimeWait,
}

impl State {
    /// Every state.
    pub const ALL: [State; 10] = [
        State::Closed,
        State::SynSent,
        State::SynReceived,
        State::Established,
        State::FinWait1,
        State::FinWait2,
        State::CloseWait,
        State::Closing,
        State::LastAck,
        State::TimeWait,
    ];

    /// Whether both ends know one another's sequence numbers (RFC 9293 section 3.3.2).
    pub fn is_synchronized(self) -> bool {
        !matches!(self, State::Closed | State::SynSent | State::SynReceived)
    }

    /// Whether the application may still give data.
    pub fn may_write(self) -> bool {
        matches!(self, State::SynSent | State::SynReceived | State::Established | State::CloseWait)
    }

    /// Whether the peer may still send data: its FIN was not received in order.
    pub fn may_receive(self) -> bool {
        matches!(self, State::Established | State::FinWait1 | State::FinWait2)
    }

    /// Whether data is sent or retransmitted: the sender is active.
    pub(crate) fn is_sending(self) -> bool {
        self.is_synchronized() && !matches!(self, State::FinWait2 | State::TimeWait)
    }

    /// The state after the application closed its half, and whether a FIN is to be sent
    /// (`tcp_close_state`, RFC 9293 section 3.10.4).
    pub(crate) fn after_close(self) -> (State, bool) {
        match self {
            State::SynReceived | State::Established => (State::FinWait1, true),
            State::CloseWait => (State::LastAck, true),
            State::Closed | State::SynSent => (State::Closed, false),
            other => (other, false),
        }
    }

    /// The state after the peer's FIN arrived in order (`tcp_fin`, RFC 9293 section 3.10.7.4).
    pub(crate) fn after_fin(self) -> State {
        match self {
            State::SynReceived | State::Established => State::CloseWait,
            State::FinWait1 => State::Closing,
            State::FinWait2 => State::TimeWait,
            other => other,
        }
    }

    /// The state after all that was sent, FIN included, was acknowledged.
    pub(crate) fn after_all_acknowledged(self) -> State {
        match self {
            State::FinWait1 => State::FinWait2,
            State::Closing => State::TimeWait,
            State::LastAck => State::Closed,
            other => other,
        }
    }

    /// Its number in Linux (`include/net/tcp_states.h`).
    pub fn number(self) -> u8 {
        match self {
            State::Established => 1,
            State::SynSent => 2,
            State::SynReceived => 3,
            State::FinWait1 => 4,
            State::FinWait2 => 5,
            State::TimeWait => 6,
            State::Closed => 7,
            State::CloseWait => 8,
            State::LastAck => 9,
            State::Closing => 11,
        }
    }

    /// Whether breaking off sends a RST (`tcp_need_reset`, RFC 9293 section 3.10.5).
    pub(crate) fn resets_on_abort(self) -> bool {
        matches!(
            self,
            State::SynReceived
                | State::Established
                | State::FinWait1
                | State::FinWait2
                | State::CloseWait
        )
    }
}
