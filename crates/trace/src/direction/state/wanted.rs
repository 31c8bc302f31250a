//! Segments and ACKs as sinks get them, boxed: those of packets that no sink wants pass as a null.

#![expect(clippy::unnecessary_box_returns, reason = "they pass through several calls")]

use tcplab_units::{Bytes, Offset};
use tcplab_wire::TcpFlags;

use crate::observers::{AckEvent, SendEvent};
use crate::packet::Packet;
use crate::{Ack, Segment};

/// An ACK of everything before `ack`, without news in a packet with data.
#[inline(never)]
pub(super) fn repetition(
    packet: &Packet,
    ack: Offset,
    window: Option<Bytes>,
    in_flight: u64,
) -> Box<Ack> {
    Box::new(Ack {
        at: packet.at,
        frame: packet.frame,
        flags: packet.flags,
        ack,
        window: window.or_else(|| none_left(packet)),
        sack: Vec::new(),
        dsack: None,
        duplicate: false,
        copied: false,
        reset: packet.rst(),
        zero: packet.window == 0,
        has_data: true,
        in_flight: Bytes::new(in_flight),
        comment: None,
        dropped: false,
    })
}

/// The segment for a sink. `sent` is a copy: a loan would keep it out of registers for all.
#[inline(never)]
pub(super) fn transmitted(sent: SendEvent<'_>) -> Box<Segment> {
    let packet = sent.packet;
    Box::new(Segment {
        at: packet.at,
        frame: packet.frame,
        flags: packet.flags,
        range: sent.range,
        payload: Bytes::new(sent.payload),
        syn: packet.syn(),
        fin: packet.fin(),
        psh: packet.flags.contains(TcpFlags::PSH),
        kind: sent.kind,
        timer: sent.timer,
        proof: sent.proof,
        in_flight: Bytes::new(sent.in_flight),
        comment: None,
        dropped: false,
    })
}

/// The ACK for a sink; `heard` is a copy for the same reason.
#[inline(never)]
pub(super) fn acknowledgement(heard: AckEvent<'_>) -> Box<Ack> {
    let AckEvent { packet, ack, window, sack, dsack, duplicate, copied, in_flight, .. } = heard;
    Box::new(Ack {
        at: packet.at,
        frame: packet.frame,
        flags: packet.flags,
        ack,
        // The window of a reset has no meaning.
        window: window.or_else(|| none_left(packet)).filter(|_| !packet.rst()),
        sack: sack.to_vec(),
        dsack,
        duplicate,
        copied,
        reset: packet.rst(),
        zero: packet.window == 0,
        has_data: packet.payload > 0 && !packet.rst(),
        in_flight: Bytes::new(in_flight),
        comment: None,
        dropped: false,
    })
}

/// A window of zero bytes, which is one in every scale.
fn none_left(packet: &Packet) -> Option<Bytes> {
    (packet.window == 0).then_some(Bytes::ZERO)
}
