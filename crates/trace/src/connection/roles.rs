//! Which end is the client where no SYN tells.

use std::net::SocketAddr;

use crate::Roles;

/// Ports from here on are given to clients by the usual systems: 32,768 on Linux, 49,152 elsewhere
/// (RFC 6335 section 6).
const EPHEMERAL: u16 = 32_768;
/// Ports below are well known (RFC 6335 section 6).
const WELL_KNOWN: u16 = 1_024;

/// Of a connection whose SYN was not captured: whether the end that sent the first packet is the
/// client, and how that is known.
pub(super) fn guessed(from: SocketAddr, to: SocketAddr) -> (bool, Roles) {
    for bound in [EPHEMERAL, WELL_KNOWN] {
        match (from.port() >= bound, to.port() >= bound) {
            (true, false) => return (true, Roles::ByPorts),
            (false, true) => return (false, Roles::ByPorts),
            _ => {}
        }
    }
    (true, Roles::ByFirstPacket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_port_is_the_server() {
        for (from, to, known) in [
            (45_274, 5_201, (true, Roles::ByPorts)),
            (5_201, 45_274, (false, Roles::ByPorts)),
            (443, 8_080, (false, Roles::ByPorts)),
            (5_201, 5_202, (true, Roles::ByFirstPacket)),
            (50_000, 60_000, (true, Roles::ByFirstPacket)),
        ] {
            let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
            assert_eq!(guessed(end(from), end(to)), known, "{from} {to}");
        }
    }
}
