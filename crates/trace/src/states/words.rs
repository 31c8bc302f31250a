//! Names of states and events, and what they mean.

use super::{Basis, Event};
use crate::TcpState;

impl TcpState {
    /// Every state, in the order of a life.
    pub const ALL: [TcpState; 11] = [
        TcpState::Listen,
        TcpState::SynSent,
        TcpState::SynReceived,
        TcpState::Established,
        TcpState::FinWait1,
        TcpState::FinWait2,
        TcpState::CloseWait,
        TcpState::Closing,
        TcpState::LastAck,
        TcpState::TimeWait,
        TcpState::Closed,
    ];

    /// The standard's name, such as `FIN-WAIT-1`.
    pub fn name(self) -> &'static str {
        match self {
            TcpState::Listen => "LISTEN",
            TcpState::SynSent => "SYN-SENT",
            TcpState::SynReceived => "SYN-RECEIVED",
            TcpState::Established => "ESTABLISHED",
            TcpState::FinWait1 => "FIN-WAIT-1",
            TcpState::FinWait2 => "FIN-WAIT-2",
            TcpState::CloseWait => "CLOSE-WAIT",
            TcpState::Closing => "CLOSING",
            TcpState::LastAck => "LAST-ACK",
            TcpState::TimeWait => "TIME-WAIT",
            TcpState::Closed => "CLOSED",
        }
    }

    /// The state of a number of Linux (include/net/tcp_states.h), as in `TCP_INFO` and sock_diag.
    /// 12, NEW-SYN-RECV, is a SYN-RECEIVED without a socket of its own.
    pub fn from_linux(number: u64) -> Option<TcpState> {
        Some(match number {
            1 => TcpState::Established,
            2 => TcpState::SynSent,
            3 | 12 => TcpState::SynReceived,
            4 => TcpState::FinWait1,
            5 => TcpState::FinWait2,
            6 => TcpState::TimeWait,
            7 => TcpState::Closed,
            8 => TcpState::CloseWait,
            9 => TcpState::LastAck,
            10 => TcpState::Listen,
            11 => TcpState::Closing,
            _ => return None,
        })
    }

    /// What an end in this state waits for (RFC 9293 section 3.3.2).
    pub fn waits_for(self) -> &'static str {
        match self {
            TcpState::Listen => "a SYN from anywhere",
            TcpState::SynSent => "the SYN-ACK",
            TcpState::SynReceived => "the ACK of its own SYN",
            TcpState::Established => "nothing: data may flow both ways",
            TcpState::FinWait1 => "the ACK of its FIN and of the data before it",
            TcpState::FinWait2 => "the FIN of the other end",
            TcpState::CloseWait => "the local application to close",
            TcpState::Closing => "the ACK of its FIN (simultaneous close)",
            TcpState::LastAck => "the last ACK, of its FIN",
            TcpState::TimeWait => {
                "2 MSL: a lost last ACK can be retransmitted, and old packets expire"
            }
            TcpState::Closed => "nothing: there is no connection",
        }
    }
}

impl Event {
    /// In the words of RFC 9293's figure 5, with the call of the socket interface.
    pub fn words(self) -> &'static str {
        match self {
            Event::PassiveOpen => "passive OPEN: listen()",
            Event::ActiveOpen => "active OPEN: connect()",
            Event::Close => "CLOSE: close() or shutdown()",
            Event::Syn => "received SYN",
            Event::SynAck => "received SYN,ACK",
            Event::AckOfSyn => "received ACK of its SYN",
            Event::Fin => "received FIN",
            Event::FinInOrder => "received the data missing before the FIN",
            Event::AckOfFin => "received ACK of its FIN",
            Event::ResetSent => "sent RST",
            Event::ResetReceived => "received RST",
            Event::UserTimeout => "user timeout",
        }
    }
}

impl Basis {
    /// A remark on it, after the edge; empty for none.
    pub fn remark(self) -> &'static str {
        match self {
            Basis::Seen => "",
            Basis::Call => "at this time or earlier",
            Basis::Passed => "arrival inferred",
            Basis::Missing => "inferred",
        }
    }
}
