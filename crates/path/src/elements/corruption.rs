//! Random bit errors.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability, Rng};
use tcplab_wire::{FrameView, IpPacket, protocol};

use crate::behaviour::{Behaviour, Outbox, Streams, Transit};
use crate::fault::Fault;
use crate::text_or_table::text_or_table;

text_or_table! {
    CorruptSpec, "Corrupt", "Random bit errors.", "a probability such as \"1 %\", or a table",
    /// One bit anywhere, of each packet with that probability.
    Anywhere(Probability),
    /// In full.
    Table(CorruptionPlan),
}

/// Random bit errors. Checksums stay unchanged, so that the receiver detects the error: the
/// checksum of an IPv4 header covers that header, that of TCP its header, its payload and the
/// addresses. Two flipped bits may cancel in such a sum and stay undetected. A flipped bit in a
/// header may misroute a packet before any checksum is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Corruption")]
pub struct CorruptionPlan {
    /// For each packet.
    pub probability: Probability,
    /// Where the bits are. Default: `anywhere`.
    #[serde(default)]
    pub part: PacketPart,
    /// How many different bits change: 1 to 64; all bits of a part that has fewer. Default: 1.
    #[serde(default = "one")]
    pub bits: u8,
}

fn one() -> u8 {
    1
}

/// A part of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketPart {
    /// All of it.
    #[default]
    Anywhere,
    /// What IP and the transport carry: packets without any are spared. Of packets whose headers
    /// cannot be read it is all.
    Payload,
    /// The headers of IP and of the transport (TCP, UDP, ICMP). Packets whose IP header cannot be
    /// read are spared.
    Headers,
}

impl CorruptSpec {
    /// None when it never happens.
    pub(crate) fn plan(&self) -> Result<Option<CorruptionPlan>, Fault> {
        let plan = match self {
            CorruptSpec::Anywhere(probability) => {
                let part = PacketPart::Anywhere;
                CorruptionPlan { probability: *probability, part, bits: one() }
            }
            CorruptSpec::Table(plan) => *plan,
        };
        if !(1..=MOST_BITS).contains(&usize::from(plan.bits)) {
            let what = format!("{} bits: give 1 to {MOST_BITS}", plan.bits);
            return Err(Fault::below("bits", what));
        }
        Ok(Some(plan).filter(|plan| plan.probability != Probability::NEVER))
    }
}

/// So few that they need no allocation.
const MOST_BITS: usize = 64;

impl CorruptionPlan {
    pub(crate) fn describe(&self) -> String {
        let CorruptionPlan { probability, part, bits } = self;
        let bits = match bits {
            1 => "one bit".into(),
            bits => format!("{bits} bits"),
        };
        let part = match part {
            PacketPart::Anywhere => "each packet",
            PacketPart::Payload => "the payload of each packet",
            PacketPart::Headers => "the headers of each packet",
        };
        format!("Bit errors: {bits} of {part} flipped with a probability of {probability}.")
    }
}

/// Decides for each packet that comes.
#[derive(Debug)]
pub(crate) struct Corruption {
    plan: CorruptionPlan,
    /// Decides which packets are hit.
    rng: Rng,
    /// Decides which bits: a stream of its own, so that the number of bits does not change which
    /// packets are hit.
    bits: Rng,
}

impl Corruption {
    pub(crate) fn new(plan: &CorruptionPlan, streams: Streams) -> Corruption {
        Corruption { plan: *plan, rng: streams.own(), bits: streams.named("bits") }
    }

    /// Flips bits of the packet and keeps record of the first. Of a packet whose bytes are not
    /// here there is only the record.
    fn corrupt(&mut self, transit: &mut Transit) {
        let packet = &mut transit.packet;
        let part = bytes_of(self.plan.part, &packet.bytes, packet.size().as_u64());
        let (first, count) = (part.start * 8, (part.end - part.start) * 8);
        // Distinct bits, each set of them as likely as the others (R. W. Floyd's sampling: Bentley
        // and Floyd, A Sample of Brilliance, CACM 30, 1987).
        let mut chosen = [0; MOST_BITS];
        let wanted = u64::from(self.plan.bits).min(count);
        for (taken, most) in (count - wanted..count).enumerate() {
            let bit = self.bits.below(most + 1);
            chosen[taken] = if chosen[..taken].contains(&bit) { most } else { bit };
        }
        for bit in chosen[..wanted as usize].iter().map(|bit| first + bit) {
            if let Some(byte) = packet.bytes.get_mut((bit / 8) as usize) {
                *byte ^= 0x80 >> (bit % 8);
            }
            let bit = u32::try_from(bit).unwrap_or(u32::MAX);
            transit.corrupted = Some(transit.corrupted.map_or(bit, |before| before.min(bit)));
        }
    }
}

impl Behaviour for Corruption {
    fn accept(&mut self, _now: Instant, mut packet: Transit, out: &mut Outbox) {
        // A draw for every packet, so that the corrupted ones do not depend on their content.
        if self.plan.probability.happens(&mut self.rng) {
            self.corrupt(&mut packet);
        }
        out.pass(packet);
    }
}

/// Which bytes of a packet of `size` bytes belong to the part.
fn bytes_of(part: PacketPart, packet: &[u8], size: u64) -> Range<u64> {
    match part {
        PacketPart::Anywhere => 0..size,
        PacketPart::Payload => headers_of(packet)..size,
        PacketPart::Headers => 0..headers_of(packet),
    }
}

/// The length in bytes of the headers of IP and of the transport; 0 where there is no telling.
fn headers_of(packet: &[u8]) -> u64 {
    let view = FrameView::of_packet(packet);
    let Some(ip) = view.ip() else { return 0 };
    let transport = match view.tcp() {
        // One that claims to be shorter than it can be still has its fixed part.
        Some(tcp) => usize::from(tcp.data_offset()).max(TCP_HEADER),
        None => fixed_header(&ip),
    };
    (ip.header_len() + transport).min(packet.len()) as u64
}

/// The least length of a TCP header in bytes (RFC 9293 §3.1).
const TCP_HEADER: usize = 20;

/// The length in bytes of a transport header that is always the same: that of UDP (RFC 768), ICMP
/// (RFC 792) and ICMPv6 (RFC 4443 §2.1, with the four bytes that all its messages begin their body
/// with). Other protocols, and fragments but the first, are payload.
fn fixed_header(ip: &IpPacket<'_>) -> usize {
    match ip.protocol() {
        _ if ip.fragment().offset > 0 => 0,
        protocol::UDP | ICMP | ICMPV6 => 8,
        _ => 0,
    }
}

/// Numbers of protocols (IANA, Assigned Internet Protocol Numbers).
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

#[cfg(test)]
mod tests;
