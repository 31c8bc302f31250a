//! In whose name a link answers.

use std::net::IpAddr;

use tcplab_wire::{Ecn, IpPacket, IpRepr, Ipv4Repr, Ipv6Repr};

/// The IP header of the answer to a packet. A router has its own addresses, an emulated link has
/// none. It uses the receiver's address, to which the sender has a route: hosts that check the
/// reverse path (RFC 3704) would drop an address without one (such as RFC 7600's 192.0.0.8). Hosts
/// learn from what the answer says what it is about. The identification is 0, as that of Linux's
/// RSTs (`tcp_v4_send_reset`).
pub(super) fn answerer(ip: &IpPacket<'_>) -> IpRepr {
    let (ttl, ecn) = (64, Ecn::NotEct);
    match (ip.dst(), ip.src()) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => Ipv4Repr { src, dst, id: 0, ttl, ecn }.into(),
        (IpAddr::V6(src), IpAddr::V6(dst)) => Ipv6Repr { src, dst, hop_limit: ttl, ecn }.into(),
        (src, dst) => unreachable!("{src} and {dst} stand in one header"),
    }
}
