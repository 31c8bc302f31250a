//! Fields of UDP and ICMP headers.

use super::cursor::Cursor;
use super::field::{FieldLayer, Said};
use crate::{ChecksumState, IpPacket, UdpPacket, checksum, protocol};

/// RFC 768.
pub(super) fn udp_header(cursor: &mut Cursor<'_>, ip: &IpPacket<'_>, end: usize) -> Option<()> {
    cursor.enter(FieldLayer::Udp, end);
    cursor.word("source port", Said::value)?;
    cursor.word("destination port", Said::value)?;
    cursor.word("length", |length| Said::value(length).meaning("bytes"))?;
    cursor.word("checksum", |sum| Said::hex16(sum).meaning(judge_udp(sum, ip)))?;
    Some(())
}

fn judge_udp(sum: u16, ip: &IpPacket<'_>) -> &'static str {
    let Some(udp) = UdpPacket::of(*ip) else { return "" };
    if ip.fragment().more {
        return "not verified: a fragment";
    }
    let length = u32::from(udp.length());
    let pseudo = checksum::pseudo_header(ip.src(), ip.dst(), protocol::UDP, length);
    match udp.checksum_state() {
        ChecksumState::Right if sum == 0 => "none",
        ChecksumState::Right => "right",
        ChecksumState::Unknown => "not verified: packet truncated",
        _ if pseudo.folded() == sum => "offloaded: the sum of the pseudo-header",
        _ => "wrong",
    }
}

/// RFC 792, RFC 4443.
pub(super) fn icmp_header(cursor: &mut Cursor<'_>, ip: &IpPacket<'_>, end: usize) -> Option<()> {
    cursor.enter(FieldLayer::Icmp, end);
    let is_v6 = ip.version() == 6;
    cursor.take::<1>("type", |[kind]| Said::value(kind).meaning(icmp_type(kind, is_v6)))?;
    cursor.take::<1>("code", |[code]| Said::value(code))?;
    let judged = match () {
        () if !ip.is_whole() => "not verified: packet truncated",
        () if ip.fragment().more => "not verified: a fragment",
        () if is_v6 => {
            match checksum::transport(ip.src(), ip.dst(), protocol::ICMPV6, ip.payload()) {
                0 => "right",
                _ => "wrong",
            }
        }
        () if checksum::internet(ip.payload()) == 0 => "right",
        () => "wrong",
    };
    cursor.word("checksum", |sum| Said::hex16(sum).meaning(judged))?;
    cursor.take::<4>("rest of header", |bytes| Said::bytes(&bytes)).map(drop)
}

fn icmp_type(kind: u8, is_v6: bool) -> &'static str {
    match (kind, is_v6) {
        (0, false) | (129, true) => "echo reply",
        (8, false) | (128, true) => "echo request",
        (3, false) | (1, true) => "destination unreachable",
        (2, true) => "packet too big",
        (5, false) | (137, true) => "redirect",
        (11, false) | (3, true) => "time exceeded",
        (12, false) | (4, true) => "parameter problem",
        (135, true) => "neighbour solicitation",
        (136, true) => "neighbour advertisement",
        _ => "",
    }
}
