//! What a packet came to.

use crate::direction::AckOutcome;
use crate::{Ack, BareReset, Segment, TcpState, UnusualPacket};

/// Why a packet belongs to no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its sequence number is outside the connection's range.
    OutOfPlace,
    /// Its checksum is wrong, and its sender's were right.
    Damaged,
    /// It has data, and not the timestamps that both ends agreed on.
    Unstamped,
}

#[derive(Debug, Default)]
pub(crate) struct PacketOutcome {
    /// Sent by the client: forward data; ACK and episodes are of the reverse direction.
    pub(crate) forward: bool,
    pub(crate) segment: Option<Box<Segment>>,
    pub(crate) heard: AckOutcome,
    /// It is a reset without an acknowledgement.
    pub(crate) reset: Option<Box<BareReset>>,
    /// It shows itself otherwise, for a sink.
    pub(crate) unusual: Option<Box<UnusualPacket>>,
    /// The states of client and server that it led to, for a sink.
    pub(crate) states: Option<[Option<TcpState>; 2]>,
    /// It was counted but not analysed.
    pub(crate) refused: Option<Refusal>,
    /// State was dropped because a bound was reached.
    pub(crate) gave_up: bool,
}

/// The result of a packet on the fast path, as far as a sink wants it.
#[derive(Debug)]
pub(crate) struct PlainOutcome {
    /// As [`PacketOutcome::forward`].
    pub(crate) forward: bool,
    pub(crate) segment: Option<Box<Segment>>,
    pub(crate) ack: Option<Box<Ack>>,
}

impl PacketOutcome {
    /// Whether it has no result to pass on.
    #[inline]
    pub(crate) fn is_ordinary(&self) -> bool {
        let AckOutcome { ack, episodes, spurious, .. } = &self.heard;
        let is_silent = self.segment.is_none() && ack.is_none() && self.states.is_none();
        let is_shown = self.reset.is_some() || self.unusual.is_some();
        is_silent && !is_shown && episodes.is_empty() && spurious.is_empty()
    }
}
