//! Resets of segments that belong to no connection.

use tcplab_wire::{TcpFlags, TcpRepr};

use crate::Segment;

/// The RST that answers a segment of no connection; see [`TcpRepr::reset_for`].
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    let header = &segment.header;
    let control = |flag| u32::from(header.flags.contains(flag));
    let len = segment.len() + control(TcpFlags::SYN) + control(TcpFlags::FIN);
    TcpRepr::reset_for(header.seq, header.ack, header.flags, len).map(Segment::bare)
}
