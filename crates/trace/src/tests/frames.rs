//! Packet events for observers, without a capture.

use tcplab_units::{Instant, Offset};
use tcplab_wire::{Ecn, FrameView, IpRepr, Ipv4Repr, SeqNumber, TcpFlags, TcpRepr};

use crate::observers::SendEvent;
use crate::packet::Packet;
use crate::{Proof, Range, SegmentKind};

/// An acknowledgement with nothing in it.
pub(crate) fn packet(at: Instant) -> Packet {
    let (src, dst) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let ip = IpRepr::V4(Ipv4Repr { src, dst, id: 0, ttl: 64, ecn: Ecn::NotEct });
    let tcp = TcpRepr {
        src_port: 40_000,
        dst_port: 21,
        seq: SeqNumber::new(1),
        ack: SeqNumber::new(1),
        flags: TcpFlags::ACK,
        window: 500,
        ..TcpRepr::default()
    };
    let bytes = tcp.to_packet(&ip, &[]);
    let tcp = FrameView::of_packet(&bytes).tcp().expect("a TCP packet");
    Packet { ip_id: None, ..Packet::read(&tcp, at, 1, true) }
}

/// `packet`, whose data begin at `start`, judged to be a `kind`.
pub(crate) fn sent(packet: &Packet, start: u64, kind: SegmentKind) -> SendEvent<'_> {
    let payload = u64::from(packet.payload);
    let range = Range { start: Offset::new(start), end: Offset::new(start + payload) };
    SendEvent {
        packet,
        range,
        payload,
        kind,
        timer: None,
        proof: Proof::default(),
        high: range.start,
        una: range.start,
        whole: true,
        reduced: false,
        was_revealed: false,
        may_dsack: true,
        in_flight: payload,
        window_edge: None,
    }
}
