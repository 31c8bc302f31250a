//! Places in the stream of a direction.

use tcplab_units::Offset;
use tcplab_wire::{SeqNumber, SeqUnwrapper};

use super::{DirectionState, FARTHEST, offset};
use crate::packet::Packet;

impl DirectionState {
    pub(crate) fn initial(&self) -> Option<SeqNumber> {
        self.positions.map(|p| p.initial())
    }
    /// The end of all that was sent.
    pub(crate) fn high(&self) -> Offset {
        self.board.high
    }
    /// The end of all that was acknowledged.
    pub(crate) fn acked(&self) -> Offset {
        self.board.una
    }
    /// Whether this acknowledges nothing new.
    pub(crate) fn is_old_ack(&self, ack: SeqNumber) -> bool {
        let una = self.board.una.as_u64() as i64;
        self.positions.is_some_and(|positions| positions.position(ack) <= una)
    }
    /// Whether the number is near those seen.
    pub(crate) fn is_near(&self, seq: SeqNumber) -> bool {
        let far = |positions: SeqUnwrapper| {
            let high = self.board.high.as_u64() as i64;
            (positions.position(seq) - high).abs() > FARTHEST
        };
        self.positions.is_some_and(|positions| !far(positions))
    }
    /// Where a packet of this direction is in its stream.
    pub(crate) fn place_of(&self, packet: &Packet) -> Option<Offset> {
        self.positions.map(|positions| offset(positions.position(packet.seq)))
    }
}
