//! What a sink gets of a packet beside what it acknowledges and carries.

use crate::direction::DirectionState;
use crate::packet::Packet;
use crate::{CapturePoint, Episode, UnusualPacket};

/// A packet for a sink that its segment, ACK and reset do not show as it was sent.
#[inline]
pub(super) fn unusual(
    packet: &Packet,
    own: &DirectionState,
    (segment, ack, reset): (bool, bool, bool),
) -> Option<Box<UnusualPacket>> {
    let is_hidden = !segment && !ack && !reset;
    let is_mixed = packet.rst() && (packet.syn() || packet.fin());
    let is_unusual = is_hidden || is_mixed || packet.ack.is_some() != ack;
    (packet.wanted && is_unusual).then(|| Box::new(packet.unusual(own.place_of(packet))))
}

/// A packet that is not analysed, for a sink.
#[cold]
pub(super) fn outside(packet: &Packet) -> Option<Box<UnusualPacket>> {
    packet.wanted.then(|| Box::new(packet.unusual(None)))
}

/// At the receiver lost packets are invisible, so there are no episodes.
pub(super) fn visible(episodes: Vec<Episode>, tap: CapturePoint) -> Vec<Episode> {
    if tap == CapturePoint::Receiver { Vec::new() } else { episodes }
}
