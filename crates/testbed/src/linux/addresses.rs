//! The addresses of both endpoints.

use std::net::Ipv4Addr;

use tcplab_scenario::Case;

/// A /24 across both ends keeps the kernel's reverse path filter out of play.
pub(crate) const ADDRESSES: [Ipv4Addr; 2] =
    [Ipv4Addr::new(10, 98, 0, 1), Ipv4Addr::new(10, 98, 0, 2)];
/// Those that they have on a second path.
pub(crate) const SECOND_ADDRESSES: [Ipv4Addr; 2] =
    [Ipv4Addr::new(10, 98, 1, 1), Ipv4Addr::new(10, 98, 1, 2)];
/// On one host: two addresses of its loopback, so that a packet shows whose it is.
const LOOPBACK: [Ipv4Addr; 2] = [Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 2)];

/// The addresses of client and server.
pub(crate) fn addresses(case: &Case) -> [Ipv4Addr; 2] {
    if case.path.same_host { LOOPBACK } else { ADDRESSES }
}
