//! Fields of IPv4 and IPv6 headers.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::cursor::Cursor;
use super::field::{FieldLayer, Said};
use crate::checksum;
use crate::ip::{EXTENSIONS, FRAGMENT, protocol};

/// The most extension headers whose fields are named.
const MOST_EXTENSIONS: usize = 16;

/// The fields of the header at the cursor, as far as they were captured; of IPv6 without extension
/// headers.
pub(super) fn ip_header(cursor: &mut Cursor<'_>, end: usize) -> Option<()> {
    cursor.enter(FieldLayer::Ipv4, end);
    match cursor.rest().first()? >> 4 {
        4 => ipv4(cursor),
        6 => {
            cursor.enter(FieldLayer::Ipv6, end);
            ipv6(cursor)
        }
        _ => None,
    }
}

/// RFC 791 section 3.1.
fn ipv4(cursor: &mut Cursor<'_>) -> Option<()> {
    let header = cursor.rest();
    let [first] = cursor.shared()?;
    let length = usize::from(first & 0xf) * 4;
    cursor.part("version", (1, 0, 1), Said::value(first >> 4));
    cursor.part("header length", (1, 0, 1), Said::value(length).meaning("bytes"));
    let [class] = cursor.shared()?;
    cursor.part("DSCP", (1, 0, 1), dscp(class >> 2));
    cursor.part("ECN", (1, 0, 1), ecn(class & 3));
    cursor.word("total length", |length| {
        Said::value(length).meaning(if length == 0 { "bytes: a super-packet" } else { "bytes" })
    })?;
    cursor.word("identification", |id| Said::hex16(id).meaning(id.to_string()))?;
    let [high, low] = cursor.shared()?;
    let flags = u16::from_be_bytes([high, low]);
    for (name, bit) in
        [("reserved bit", 0x8000), ("don't fragment", 0x4000), ("more fragments", 0x2000)]
    {
        cursor.part(name, (2, 0, 1), Said::bit(flags & bit != 0));
    }
    let offset = Said::value(u32::from(flags & 0x1fff) * 8).meaning("bytes");
    cursor.part("fragment offset", (2, 0, 2), offset);
    cursor.take::<1>("TTL", |[ttl]| Said::value(ttl))?;
    cursor.take::<1>("protocol", |[number]| Said::value(number).meaning(protocol_name(number)))?;
    let whole = header.get(..length.max(20));
    cursor.word("header checksum", |sum| {
        Said::hex16(sum).meaning(whole.map_or("not verified: header truncated".to_owned(), judge))
    })?;
    cursor.take::<4>("source", |bytes| Said::value(Ipv4Addr::from(bytes)))?;
    cursor.take::<4>("destination", |bytes| Said::value(Ipv4Addr::from(bytes)))?;
    let options = length.saturating_sub(20);
    if header.len() < length {
        return None;
    }
    cursor.block("options", options, Said::bytes);
    Some(())
}

/// Whether the checksum of this header is right.
fn judge(header: &[u8]) -> String {
    if checksum::internet(header) == 0 {
        return "right".to_owned();
    }
    let mut blank = header.to_vec();
    blank[10..12].fill(0);
    format!("wrong, should be {:#06x}", checksum::internet(&blank))
}

/// RFC 8200 section 3.
fn ipv6(cursor: &mut Cursor<'_>) -> Option<()> {
    let word: [u8; 4] = cursor.shared()?;
    let bits = u32::from_be_bytes(word);
    cursor.part("version", (4, 0, 1), Said::value(bits >> 28));
    cursor.part("DSCP", (4, 0, 2), dscp((bits >> 22 & 0x3f) as u8));
    cursor.part("ECN", (4, 1, 1), ecn((bits >> 20 & 3) as u8));
    cursor.part("flow label", (4, 1, 3), Said::value(format!("{:#07x}", bits & 0xf_ffff)));
    cursor.word("payload length", |length| Said::value(length).meaning("bytes"))?;
    cursor.take::<1>("next header", |[kind]| Said::value(kind).meaning(protocol_name(kind)))?;
    cursor.take::<1>("hop limit", |[limit]| Said::value(limit))?;
    cursor.take::<16>("source", |bytes| Said::value(Ipv6Addr::from(bytes)))?;
    cursor.take::<16>("destination", |bytes| Said::value(Ipv6Addr::from(bytes)))?;
    Some(())
}

/// Extension headers (RFC 8200 section 4; of IPv4, the authentication header) from one of this kind
/// on, up to `end`.
pub(super) fn extension_headers(
    cursor: &mut Cursor<'_>,
    layer: FieldLayer,
    first: u8,
    end: usize,
) -> Option<()> {
    cursor.enter(layer, end);
    let mut kind = first;
    for _ in 0..MOST_EXTENSIONS {
        if !EXTENSIONS.contains(&kind) || cursor.rest().is_empty() {
            break;
        }
        let [next] = cursor.take::<1>("next header", |[next]| {
            let (own, next_name) = (protocol_name(kind), protocol_name(next));
            Said::value(next).meaning(format!("{next_name}, behind this {own} header"))
        })?;
        if kind == FRAGMENT {
            cursor.take::<1>("reserved", |[byte]| Said::value(byte))?;
            let [high, low] = cursor.shared()?;
            let word = u16::from_be_bytes([high, low]);
            let offset = Said::value(word & 0xfff8).meaning("bytes");
            cursor.part("fragment offset", (2, 0, 2), offset);
            cursor.part("more fragments", (2, 1, 1), Said::bit(word & 1 != 0));
            cursor.double_word("identification", |id| Said::value(format!("{id:#010x}")))?;
        } else {
            let [words] = cursor.take::<1>("header length", |[words]| {
                Said::value(words)
                    .meaning(format!("{} bytes", crate::ip::extension_len(kind, words)))
            })?;
            let more = crate::ip::extension_len(kind, words).saturating_sub(2);
            cursor.block("contents", more, Said::bytes);
        }
        kind = next;
    }
    Some(())
}

/// RFC 2474, RFC 2597, RFC 3246, RFC 8622, RFC 9956.
fn dscp(codepoint: u8) -> Said {
    let name = match codepoint {
        0 => "default (CS0)".to_owned(),
        1 => "LE".to_owned(),
        44 => "voice admit".to_owned(),
        45 => "NQB".to_owned(),
        46 => "EF".to_owned(),
        class if class % 8 == 0 => format!("CS{}", class / 8),
        af if (10..=38).contains(&af) && af % 2 == 0 => format!("AF{}{}", af / 8, af % 8 / 2),
        _ => String::new(),
    };
    Said::value(codepoint).meaning(name)
}

/// RFC 3168 section 5.
fn ecn(bits: u8) -> Said {
    let names = ["not ECN-capable", "ECT(1)", "ECT(0)", "congestion experienced"];
    Said::value(bits).meaning(names[usize::from(bits & 3)])
}

/// The name of an IP protocol or extension header.
pub(super) fn protocol_name(number: u8) -> &'static str {
    match number {
        0 => "hop-by-hop options",
        protocol::ICMP => "ICMP",
        2 => "IGMP",
        protocol::IPV4 => "IPv4",
        protocol::TCP => "TCP",
        protocol::UDP => "UDP",
        protocol::IPV6 => "IPv6",
        43 => "routing",
        FRAGMENT => "fragment",
        protocol::GRE => "GRE",
        50 => "ESP",
        51 => "authentication",
        protocol::ICMPV6 => "ICMPv6",
        59 => "nothing",
        60 => "destination options",
        89 => "OSPF",
        protocol::ETHER_IP => "Ethernet in IP",
        132 => "SCTP",
        135 => "mobility",
        protocol::MPLS => "MPLS",
        139 => "HIP",
        140 => "shim6",
        _ => "unknown",
    }
}
