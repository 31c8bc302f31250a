//! Places in the stream of a direction.

use tcplab_units::{Offset, Span};
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
    /// Whether all that was sent ends before this number.
    pub(crate) fn ends_before(&self, end: SeqNumber) -> bool {
        let high = self.board.high.as_u64() as i64;
        self.positions.is_some_and(|positions| high < positions.position(end))
    }
    /// Whether the number is near those seen.
    pub(crate) fn is_near(&self, seq: SeqNumber) -> bool {
        let far = |positions: SeqUnwrapper| {
            let high = self.board.high.as_u64() as i64;
            (positions.position(seq) - high).abs() > FARTHEST
        };
        self.positions.is_some_and(|positions| !far(positions))
    }
    /// How much more time than the capture clock shows passed since the data were sent that this
    /// packet of the opposite direction acknowledges: the rest of the least round trip.
    pub(crate) fn missed(&self, packet: &Packet) -> Option<Span> {
        let ack = offset(self.positions?.position(packet.ack?));
        let mut sent = self.board.log.iter().rev().map(|(_, sent)| sent);
        let sent = sent.find(|sent| sent.range.end <= ack)?;
        let is_new = sent.range.end > self.board.una && !sent.repeat;
        let least = self.board.min_round_trip.filter(|_| is_new)?;
        Some(least.saturating_sub(packet.at.since(sent.at)))
    }
    /// The least time from data to their ACK.
    pub(crate) fn least_round_trip(&self) -> Option<Span> {
        self.board.min_round_trip
    }
    /// Where a packet of this direction is in its stream.
    pub(crate) fn place_of(&self, packet: &Packet) -> Option<Offset> {
        self.positions.map(|positions| offset(positions.position(packet.seq)))
    }
}
