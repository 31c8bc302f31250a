//! Resets of segments that belong to no connection.

use tcplab_wire::{SeqNumber, TcpFlags, TcpRepr};

use crate::Segment;

/// The RST that answers a segment of no connection; a RST is not answered (RFC 9293 section
/// 3.10.7.1). Ports are the caller's affair.
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    let header = &segment.header;
    let flags = header.flags;
    if flags.contains(TcpFlags::RST) {
        return None;
    }
    let (seq, ack, answer) = if flags.contains(TcpFlags::ACK) {
        (header.ack, SeqNumber::default(), TcpFlags::RST)
    } else {
        let controls =
            u32::from(flags.contains(TcpFlags::SYN)) + u32::from(flags.contains(TcpFlags::FIN));
        let end = header.seq.advanced_by(segment.len() + controls);
        (SeqNumber::default(), end, TcpFlags::RST | TcpFlags::ACK)
    };
    Some(Segment::bare(TcpRepr { seq, ack, flags: answer, ..TcpRepr::default() }))
}
