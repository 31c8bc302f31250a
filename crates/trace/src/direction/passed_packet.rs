//! What is remembered of a packet that passed: its place, and the marks of its sender.

use tcplab_units::{Instant, Offset};

use crate::fold::folded;
use crate::packet::Packet;

/// No card cuts into smaller segments (RFC 9293 section 3.7.1), the last one aside.
const LEAST_PIECE: u32 = 536;

/// Identification and timestamp of one packet, and when it passed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SendStamp {
    pub(super) id: Option<u16>,
    pub(super) clock: Option<u32>,
    pub(crate) at: Instant,
    pub(crate) frame: u64,
}
folded! { SendStamp { id, clock, at, frame } }

impl SendStamp {
    /// Where it stands among all: by time, then by frame.
    pub(super) fn order(&self) -> (Instant, u64) {
        (self.at, self.frame)
    }
    pub(crate) fn of(packet: &Packet) -> SendStamp {
        SendStamp {
            id: number(packet),
            clock: packet.timestamps.map(|(value, _)| value),
            at: packet.at,
            frame: packet.frame,
        }
    }
    /// Of a packet whose identification was not kept.
    pub(crate) fn by_clock(clock: Option<u32>, (at, frame): (Instant, u64)) -> SendStamp {
        SendStamp { id: None, clock, at, frame }
    }
}

/// The sequence number of a packet without data above everything seen (RFC 9293 section 3.3.1:
/// SND.NXT): the data before it were sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Announced {
    pub(super) next: Offset,
    pub(super) stamp: SendStamp,
    /// It was sent after data that it overtook, and that was told.
    pub(super) overtook: bool,
}
folded! { Announced { next, stamp, overtook } }

/// A packet as far as a copy would equal it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PassedPacket {
    pub(super) seq: u32,
    pub(super) len: u32,
    pub(super) ack: u32,
    pub(super) ttl: u8,
    pub(super) stamp: SendStamp,
}
folded! { PassedPacket { seq, len, ack, ttl, stamp } }

impl PassedPacket {
    pub(super) fn of(packet: &Packet) -> PassedPacket {
        PassedPacket {
            seq: packet.seq.as_u32(),
            len: packet.payload,
            ack: packet.ack.map_or(0, tcplab_wire::SeqNumber::as_u32),
            ttl: packet.ttl,
            stamp: SendStamp::of(packet),
        }
    }

    /// Whether `piece` is one of this large packet by its place, marks and identification: pieces
    /// are of one size, the last one may be smaller, and each has the number after the one before.
    pub(super) fn has_piece(&self, piece: &PassedPacket) -> bool {
        let from = piece.seq.wrapping_sub(self.seq);
        let end = from.saturating_add(piece.len);
        let lies_in = piece.len < self.len && end <= self.len;
        let rest = piece.ack == self.ack && piece.ttl == self.ttl;
        let ids = piece.stamp.id.zip(self.stamp.id);
        let step = ids.map(|(id, of)| u32::from(id.wrapping_sub(of)));
        let is_numbered = step.is_some_and(|step| {
            from == step.saturating_mul(piece.len) || end == self.len && step <= from / LEAST_PIECE
        });
        lies_in && rest && is_numbered && piece.stamp.clock == self.stamp.clock
    }
}

/// Zero is not an identification: many senders use nothing else (Linux for SYN-ACKs and resets).
pub(super) fn number(packet: &Packet) -> Option<u16> {
    packet.ip_id.filter(|&id| id != 0)
}
