//! The model's host: its packets.

use tcplab_stack::{Segment, SendCause};

use crate::packet::Packet;

/// Any will do; scripts count from 0.
pub(super) const INITIAL_SEQUENCE: u32 = 1_000_000_000;
/// The MTU of an Ethernet, bytes.
pub(super) const MTU: u16 = 1500;
/// Bytes.
pub(super) const IPV4_HEADER: u8 = 20;

/// A packet that leaves, between these ports.
pub(super) fn addressed(
    segment: &Segment,
    cause: SendCause,
    local_port: u16,
    remote_port: u16,
) -> Packet {
    let cause = Some(cause.name());
    Packet { local_port, remote_port, cause, ..Packet::of_segment(segment) }
}
