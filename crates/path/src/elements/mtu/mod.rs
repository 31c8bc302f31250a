//! A limit to the size of packets, as of a link with a smaller MTU than the endpoints'.

mod fragments;

use std::net::{IpAddr, Ipv4Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant};
use tcplab_wire::{IpPacket, TooBigRepr, protocol};

use super::answerer::answerer;
use crate::behaviour::{Behaviour, Outbox, Transit};
use crate::fault::Fault;
use crate::text_or_table::text_or_table;
use crate::{Cause, Packet};

text_or_table! {
    MtuSpec, "Mtu", "The largest packet that passes.", "a size such as \"1400 B\", or a table",
    /// That size; larger ones are answered.
    Size(Bytes),
    /// In full.
    Table(MtuPlan),
}

/// The largest packet that passes, and the answer to a larger one. Larger IPv4 packets that allow
/// it (DF not set) are cut into fragments (RFC 791).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MtuLimit")]
pub struct MtuPlan {
    /// The largest packet that passes, in bytes of IP; from 68 B (RFC 791) to 65535 B. IPv6 needs
    /// at least 1280 B: its endpoints send packets of that size in any case (RFC 8201).
    pub size: Bytes,
    /// Whether ICMP "packet too big" answers a larger packet that may not be fragmented (RFC 792,
    /// RFC 1191, RFC 4443), with the receiver's address as source. Without it, the path is a black
    /// hole for large packets. Default: true.
    #[serde(default = "yes")]
    pub answer: bool,
}

fn yes() -> bool {
    true
}

/// What every link must take without further fragmentation: the longest header and eight bytes (RFC
/// 791 section 3.2).
const SMALLEST: Bytes = Bytes::new(68);
/// The largest length that an IPv4 header can hold.
const LARGEST: Bytes = Bytes::new(0xffff);

impl MtuSpec {
    pub(crate) fn plan(&self) -> Result<MtuPlan, Fault> {
        let (plan, below) = match *self {
            MtuSpec::Size(size) => (MtuPlan { size, answer: true }, ""),
            MtuSpec::Table(plan) => (plan, "size"),
        };
        let size = plan.size;
        if size < SMALLEST {
            let least = SMALLEST.as_u64();
            let what = format!("an MTU of {size} is too small: IP needs at least {least} B");
            return Err(Fault::below(below, what));
        }
        if size > LARGEST {
            let most = LARGEST.as_u64();
            let what = format!("no IP packet is as large as {size}: give at most {most} B");
            return Err(Fault::below(below, what));
        }
        Ok(plan)
    }
}

impl MtuPlan {
    pub(crate) fn describe(&self) -> String {
        let how = if self.answer { "with an ICMP error" } else { "silently" };
        let size = self.size.as_u64();
        format!("MTU {size} B: larger packets are fragmented if allowed, otherwise dropped {how}.")
    }
}

/// Looks at what is too large, and holds nothing.
#[derive(Debug)]
pub(crate) struct MtuLimit {
    plan: MtuPlan,
}

impl MtuLimit {
    /// # Panics
    /// When no header would fit.
    pub(crate) fn new(plan: MtuPlan) -> MtuLimit {
        let size = plan.size;
        assert!((SMALLEST..=LARGEST).contains(&size), "an MTU of {size} cannot be");
        MtuLimit { plan }
    }
}

impl Behaviour for MtuLimit {
    fn accept(&mut self, now: Instant, transit: Transit, out: &mut Outbox) {
        let MtuPlan { size: limit, answer } = self.plan;
        let mtu = limit.as_u64() as u16;
        if transit.packet.size() <= limit {
            return out.pass(transit);
        }
        match readable(&transit.packet.bytes) {
            Some(ip) if !ip.dont_fragment() => {
                let pieces = fragments::cut(ip.bytes(), ip.fragmentable().0, mtu.into());
                return pass_in_pieces(&transit, pieces, out);
            }
            Some(ip) if answer && may_be_answered(&ip) => {
                let answer = TooBigRepr { mtu, about: ip }.to_packet(&answerer(&ip));
                out.answer(now, transit.packet.id, answer);
            }
            _ => {}
        }
        out.drop(now, transit, Cause::TooBig { limit });
    }
}

/// The first fragment keeps the packet's id, the others get new ones.
fn pass_in_pieces(transit: &Transit, pieces: Vec<Vec<u8>>, out: &mut Outbox) {
    let id = transit.packet.id;
    for (index, bytes) in pieces.into_iter().enumerate() {
        let fragment = Some(fragments::offset(&bytes));
        let (id, origin) = match index {
            0 => (id, transit.origin),
            _ => (out.next_id(), Some(transit.origin.unwrap_or(id))),
        };
        out.pass(Transit { packet: Packet::new(id, bytes), origin, fragment, ..*transit });
    }
}

/// The headers of a packet, if a router would trust them: with a length that is that of the packet
/// and, in IPv4, a right checksum. Of others it would not say a word (RFC 1812 section 5.2.2).
fn readable(bytes: &[u8]) -> Option<IpPacket<'_>> {
    let ip = IpPacket::outermost(bytes).ok()?;
    let has_its_length = ip.is_whole() && ip.bytes().len() == bytes.len();
    (has_its_length && ip.header_checksum_is_right()).then_some(ip)
}

/// Whether a router may send an ICMP error about it: not about an error, not
/// about a later fragment, and neither to nor about what is not one host (RFC 1812 section 4.3.2.7,
/// RFC 4443 section 2.4 (e); the latter would allow to answer packets to a group, in whose name
/// nobody can speak).
fn may_be_answered(ip: &IpPacket<'_>) -> bool {
    let src_is_host = !ip.src().is_unspecified()
        && !ip.src().is_multicast()
        && !ip.src().is_loopback()
        && ip.src() != IpAddr::V4(Ipv4Addr::BROADCAST);
    let type_ = ip.payload().first();
    let is_fit = match ip.dst() {
        IpAddr::V4(dst) => {
            // Destination unreachable, source quench, redirect, time exceeded, parameter problem.
            let is_error = ip.protocol() == protocol::ICMP
                && type_.is_none_or(|type_| matches!(type_, 3 | 4 | 5 | 11 | 12));
            !is_error && !dst.is_multicast() && !dst.is_broadcast() && ip.fragment().offset == 0
        }
        IpAddr::V6(dst) => {
            // Errors have the high bit clear (RFC 4443 section 2.1); a redirect counts as one.
            let is_error = ip.protocol() == protocol::ICMPV6
                && type_.is_none_or(|type_| *type_ < 128 || *type_ == 137);
            !is_error && !dst.is_multicast()
        }
    };
    src_is_host && is_fit
}

#[cfg(test)]
mod tests;
