//! The diagram itself, as data.

use crate::TcpState;

/// An edge of RFC 9293's figure 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// From this state.
    pub from: TcpState,
    /// To this one.
    pub to: TcpState,
    /// What causes it, in the figure's words.
    pub on: &'static str,
    /// The action, in the figure's words; empty for none.
    pub does: &'static str,
}

const fn edge(from: TcpState, to: TcpState, on: &'static str, does: &'static str) -> Transition {
    Transition { from, to, on, does }
}

/// The edges of figure 5. An RST, sent or received, leads from any state to CLOSED (its note 3);
/// one received in SYN-RECEIVED after a passive OPEN leads to LISTEN (its note 1).
pub const DIAGRAM: &[Transition] = &[
    edge(TcpState::Closed, TcpState::Listen, "passive OPEN", ""),
    edge(TcpState::Listen, TcpState::Closed, "CLOSE", ""),
    edge(TcpState::Closed, TcpState::SynSent, "active OPEN", "snd SYN"),
    edge(TcpState::SynSent, TcpState::Closed, "CLOSE", ""),
    edge(TcpState::Listen, TcpState::SynReceived, "rcv SYN", "snd SYN,ACK"),
    edge(TcpState::SynReceived, TcpState::Listen, "rcv RST", ""),
    edge(TcpState::Listen, TcpState::SynSent, "SEND", "snd SYN"),
    edge(TcpState::SynSent, TcpState::SynReceived, "rcv SYN", "snd SYN,ACK"),
    edge(TcpState::SynReceived, TcpState::Established, "rcv ACK of SYN", ""),
    edge(TcpState::SynSent, TcpState::Established, "rcv SYN,ACK", "snd ACK"),
    edge(TcpState::SynReceived, TcpState::FinWait1, "CLOSE", "snd FIN"),
    edge(TcpState::Established, TcpState::FinWait1, "CLOSE", "snd FIN"),
    edge(TcpState::Established, TcpState::CloseWait, "rcv FIN", "snd ACK"),
    edge(TcpState::FinWait1, TcpState::FinWait2, "rcv ACK of FIN", ""),
    edge(TcpState::FinWait1, TcpState::Closing, "rcv FIN", "snd ACK"),
    edge(TcpState::CloseWait, TcpState::LastAck, "CLOSE", "snd FIN"),
    edge(TcpState::FinWait2, TcpState::TimeWait, "rcv FIN", "snd ACK"),
    edge(TcpState::Closing, TcpState::TimeWait, "rcv ACK of FIN", ""),
    edge(TcpState::LastAck, TcpState::Closed, "rcv ACK of FIN", ""),
    edge(TcpState::TimeWait, TcpState::Closed, "timeout = 2 MSL", ""),
];
