//! The cause of a state transition.

use serde::Serialize;
use tcplab_units::Instant;
use tcplab_wire::TcpFlags;

use crate::{StepCause, TcpState};

/// One edge of the diagram, walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Its place in the walk, from 1.
    pub step: usize,
    /// From this state.
    pub from: TcpState,
    /// To this one.
    pub to: TcpState,
    /// What happened.
    pub event: Event,
    /// How it is known.
    pub basis: Basis,
    /// The packet that shows it; none where none does.
    pub packet: Option<StepCause>,
    /// When: the packet's time, but not before the edge before it.
    pub at: Option<Instant>,
}

/// The event at an endpoint: a call of its application or a received packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// Its application listens.
    PassiveOpen,
    /// Its application connects.
    ActiveOpen,
    /// Its application closes, or closes its half; the FIN may have had to wait for data before it.
    Close,
    /// A SYN came.
    Syn,
    /// A SYN came that acknowledges its own.
    SynAck,
    /// Its SYN was acknowledged.
    AckOfSyn,
    /// A FIN came.
    Fin,
    /// The data missing before a FIN arrived, so that the FIN counts.
    FinInOrder,
    /// Its FIN was acknowledged.
    AckOfFin,
    /// It sent an RST: an abort, or an answer to unexpected data.
    ResetSent,
    /// An RST came.
    ResetReceived,
    /// It gave up what was not acknowledged in time (RFC 9293 section 3.10.8); no packet shows it.
    UserTimeout,
}

/// How an edge is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The packet was captured beside the end.
    Seen,
    /// A call, shown by the packet that it sent: it came at that time or before.
    Call,
    /// The packet was captured elsewhere; that it arrived is inferred.
    Passed,
    /// Inferred: no packet shows it, or only one that follows from it.
    Missing,
}

impl Event {
    /// The event between two states, from the packet that shows it and its sender.
    pub(super) fn between(from: TcpState, to: TcpState, cause: &StepCause, sent: bool) -> Event {
        match (from, to) {
            (_, TcpState::Closed | TcpState::Listen) if cause.flags.contains(TcpFlags::RST) => {
                if sent {
                    Event::ResetSent
                } else {
                    Event::ResetReceived
                }
            }
            (_, TcpState::Listen) => Event::PassiveOpen,
            (_, TcpState::SynSent) => Event::ActiveOpen,
            (_, TcpState::SynReceived) => Event::Syn,
            (TcpState::SynSent, TcpState::Established) => Event::SynAck,
            (_, TcpState::Established) => Event::AckOfSyn,
            (_, TcpState::FinWait1 | TcpState::LastAck) => Event::Close,
            (_, TcpState::CloseWait)
            | (TcpState::FinWait1, TcpState::Closing)
            | (TcpState::FinWait2, TcpState::TimeWait) => {
                if cause.flags.contains(TcpFlags::FIN) {
                    Event::Fin
                } else {
                    Event::FinInOrder
                }
            }
            (_, TcpState::FinWait2 | TcpState::Closing | TcpState::TimeWait | TcpState::Closed) => {
                Event::AckOfFin
            }
        }
    }

    /// Whether it is a call of the application, and not a packet that came.
    pub fn is_call(self) -> bool {
        matches!(self, Event::PassiveOpen | Event::ActiveOpen | Event::Close)
    }
}
