//! The model's host: its packets.

use tcplab_stack::{Segment, SendCause};

use crate::Refusal;
use crate::packet::Packet;

/// Any will do; scripts count from 0.
pub(super) const INITIAL_SEQUENCE: u32 = 1_000_000_000;
/// The MTU of an Ethernet, bytes.
const MTU: u16 = 1500;
/// That which the suites give a device for IPv6, so that segments are as long as over IPv4.
const MTU_V6: u16 = 1520;
/// Bytes.
const TCP_HEADER: u16 = 20;

/// Its versions of IP, and its device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Host {
    /// Its packets are IPv6.
    pub(super) is_v6: bool,
    /// Its sockets are IPv6.
    pub(super) has_v6_sockets: bool,
    mtu: Option<u16>,
}

impl Host {
    /// A host on an Ethernet, whatever its version of IP: FreeBSD's suite gives no other device.
    pub(super) fn on_ethernet() -> Host {
        Host { mtu: Some(MTU), ..Host::default() }
    }

    /// Takes a setting if it is one of these.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<(), Refusal>> {
        let odd = || Err(Refusal("unknown value".into()));
        match (name, value) {
            ("host.ip_version", "ipv4" | "ipv6" | "ipv4-mapped-ipv6") => {
                self.is_v6 = value == "ipv6";
                self.has_v6_sockets = value != "ipv4";
            }
            ("device.mtu", _) => match value.parse() {
                Ok(mtu) if mtu >= 68 => self.mtu = Some(mtu),
                _ => return Some(odd()),
            },
            ("host.ip_version", _) => return Some(odd()),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// The largest packet of its device, bytes of IP.
    pub(super) fn mtu(self) -> u16 {
        self.mtu.unwrap_or(if self.is_v6 { MTU_V6 } else { MTU })
    }

    /// Bytes of an IP header.
    pub(super) fn ip_header(self) -> u8 {
        if self.is_v6 { 40 } else { 20 }
    }

    /// Data and options that a packet has room for, bytes.
    pub(super) fn room(self) -> u16 {
        self.mtu().saturating_sub(u16::from(self.ip_header()) + TCP_HEADER)
    }
}

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
