//! Packets as observers are told of them, without a capture.

use tcplab_units::{Instant, Offset};
use tcplab_wire::{SackBlocks, SeqNumber, TcpFlags};

use crate::observe::{Heard, Sent};
use crate::packet::Packet;
use crate::scoreboard::Told;
use crate::{Proof, Range, SegmentKind};

/// An acknowledgement with nothing in it.
pub(crate) fn packet(at: Instant) -> Packet {
    Packet {
        at,
        frame: 1,
        src: ([10, 0, 0, 1], 40_000).into(),
        dst: ([10, 0, 0, 2], 21).into(),
        seq: SeqNumber::new(1),
        ack: Some(SeqNumber::new(1)),
        flags: TcpFlags::ACK,
        window: 500,
        payload: 0,
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: SackBlocks::default(),
        options_cut: false,
        congestion_marked: false,
        wanted: true,
        ip_id: None,
        ttl: 64,
        copies_usual: false,
        fast_open: None,
        multipath: false,
        checksum: tcplab_wire::ChecksumState::Unknown,
    }
}

/// `packet`, whose data begin at `start`, judged to be a `kind`.
pub(crate) fn sent(packet: &Packet, start: u64, kind: SegmentKind) -> Sent<'_> {
    let payload = u64::from(packet.payload);
    let range = Range { start: Offset::new(start), end: Offset::new(start + payload) };
    Sent {
        packet,
        range,
        payload,
        kind,
        timer: None,
        proof: Proof::default(),
        high: range.start,
        una: range.start,
        in_flight: payload,
        window_edge: None,
    }
}

/// `packet` as an acknowledgement of everything before `ack`, where everything before `una` was
/// acknowledged before.
pub(crate) fn heard(packet: &Packet, ack: u64, una: u64) -> Heard<'_> {
    let told = Told { advanced: ack > una, ..Told::default() };
    Heard {
        packet,
        ack: Offset::new(ack),
        before: Offset::new(una),
        fresh: ack.saturating_sub(una),
        window: None,
        sack: &[],
        dsack: None,
        told,
        duplicate: false,
        high: Offset::new(ack),
        in_flight: 0,
    }
}
