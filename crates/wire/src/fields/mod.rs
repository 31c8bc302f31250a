//! Every field of a captured packet: where it stands, and what it says.
//!
//! Total, as the views are: each captured byte is in a field, whatever the packet claims.

mod cursor;
mod field;
mod ip;
mod link;
mod message;
mod options;
mod tcp;

use crate::anomaly::Layer;
use crate::ip::{IpPacket, protocol};
use crate::link::{Carried, Headers};
use crate::{Anomaly, LinkType, TcpPacket, tunnel};
use cursor::Cursor;
use field::Said;
pub use field::{Field, FieldLayer, Numbering, hex_digits};

/// The most tunnels inside one another.
const TUNNELS: usize = 8;

/// The fields of a frame of `original_len` bytes, of which `captured` was captured, from its first
/// byte to its last; in a tunnel those of all headers.
pub fn fields(
    link: LinkType,
    captured: &[u8],
    original_len: u32,
    numbering: &Numbering,
) -> Vec<Field> {
    // Some captures claim less than they contain.
    let wire_len = original_len.max(captured.len() as u32);
    let mut cursor = Cursor::new(captured);
    let carried = link.open(captured, wire_len);
    let _ = link::link_header(&mut cursor, link);
    match carried {
        Err(anomaly) => incomplete(&mut cursor, anomaly),
        Ok(Carried::Other { .. }) => {
            payload(&mut cursor, captured.len(), wire_len.saturating_sub(captured.len() as u32));
        }
        Ok(Carried::Ip { at, version }) => {
            rest_of_header(&mut cursor, FieldLayer::Link, at);
            let rest = captured.get(at..).unwrap_or_default();
            packets(&mut cursor, rest, wire_len.saturating_sub(at as u32), version, numbering);
        }
    }
    cursor.enter(FieldLayer::Padding, captured.len());
    cursor.block("padding", usize::MAX, |bytes| count(bytes, ""));
    cursor.into_fields()
}

/// The IP packet at the cursor and those inside it.
fn packets(
    cursor: &mut Cursor<'_>,
    bytes: &[u8],
    wire_len: u32,
    version: Option<u8>,
    numbering: &Numbering,
) {
    let (mut bytes, mut wire_len, mut version) = (bytes, wire_len, version);
    for tunnels in 0..=TUNNELS {
        let start = cursor.at();
        let ip = match IpPacket::look(bytes, wire_len, version) {
            Ok(ip) => ip,
            Err(anomaly) => {
                let _ = ip::ip_header(cursor, start + bytes.len());
                return incomplete(cursor, anomaly);
            }
        };
        let header_end = start + ip.header_len();
        let _ = ip::ip_header(cursor, header_end);
        let (layer, next) = match ip.version() {
            4 => (FieldLayer::Ipv4, bytes[9]),
            _ => (FieldLayer::Ipv6, bytes[6]),
        };
        let _ = ip::extension_headers(cursor, layer, next, header_end);
        rest_of_header(cursor, layer, header_end);
        match inner(&ip).filter(|_| tunnels < TUNNELS) {
            Some((at, inner_version)) => {
                if ip.protocol() == protocol::UDP {
                    let _ = message::udp_header(cursor, &ip, start + at);
                }
                rest_of_header(cursor, FieldLayer::Tunnel, start + at);
                bytes = &ip.bytes()[at..];
                (wire_len, version) = (ip.total_len().saturating_sub(at as u32), inner_version);
            }
            None => return transport(cursor, &ip, start + ip.bytes().len(), numbering),
        }
    }
}

/// Where the packet inside a tunnel begins, if it can be read, and the version that is announced.
fn inner(ip: &IpPacket<'_>) -> Option<(usize, Option<u8>)> {
    let headers = Headers { bytes: ip.bytes(), wire_len: ip.total_len(), at: ip.header_len() };
    let Carried::Ip { at, version } = tunnel::inner(ip, headers)? else { return None };
    let rest = ip.bytes().get(at..)?;
    IpPacket::look(rest, ip.total_len().saturating_sub(at as u32), version).ok()?;
    Some((at, version))
}

/// What the IP header announces; what was captured of it ends at `end`.
fn transport(cursor: &mut Cursor<'_>, ip: &IpPacket<'_>, end: usize, numbering: &Numbering) {
    let cut = ip.total_len().saturating_sub(ip.bytes().len() as u32);
    let known = match ip.protocol() {
        _ if ip.fragment().offset > 0 => Some(()),
        protocol::TCP => return tcp(cursor, ip, end, numbering),
        protocol::UDP => message::udp_header(cursor, ip, end),
        protocol::ICMP | protocol::ICMPV6 => message::icmp_header(cursor, ip, end),
        _ => Some(()),
    };
    match known {
        Some(()) => payload(cursor, end, cut),
        None => {
            cursor.block("not understood", usize::MAX, |bytes| {
                Said::bytes(bytes).meaning("header truncated")
            });
        }
    }
}

fn tcp(cursor: &mut Cursor<'_>, ip: &IpPacket<'_>, end: usize, numbering: &Numbering) {
    let cut = ip.total_len().saturating_sub(ip.bytes().len() as u32);
    let segment = TcpPacket::look(*ip);
    if tcp::tcp_segment(cursor, segment.as_ref().ok(), numbering, end).is_some() {
        return payload(cursor, end, cut);
    }
    cursor.enter(FieldLayer::Tcp, end);
    let kept = ip.payload().len() as u32;
    incomplete(
        cursor,
        match segment {
            Err(anomaly) => anomaly,
            Ok(tcp) if tcp.options_complete() => tcp.anomaly().unwrap_or(Anomaly::TcpDataOffset {
                claimed: tcp.data_offset(),
                segment: tcp.segment_len(),
            }),
            Ok(tcp) => Anomaly::Cut { layer: Layer::Tcp, kept, needed: tcp.data_offset().into() },
        },
    );
}

/// Bytes of a header up to `end` that have no field yet.
fn rest_of_header(cursor: &mut Cursor<'_>, layer: FieldLayer, end: usize) {
    let length = end.saturating_sub(cursor.at());
    cursor.enter(layer, end);
    cursor.block("more of the header", length, Said::bytes);
}

/// A header that cannot be read to its end, and why.
fn incomplete(cursor: &mut Cursor<'_>, anomaly: Anomaly) {
    let why = anomaly.to_string();
    if cursor.rest().is_empty() {
        cursor.part("not captured", (0, 0, 0), Said::value("").meaning(why));
    } else {
        cursor.block("not understood", usize::MAX, |bytes| Said::bytes(bytes).meaning(why));
    }
}

/// What the headers announce, up to `end`; `cut` bytes more were sent.
fn payload(cursor: &mut Cursor<'_>, end: usize, cut: u32) {
    cursor.enter(FieldLayer::Payload, end);
    let truncated = if cut > 0 { format!(", {cut} more not captured") } else { String::new() };
    if cursor.rest().is_empty() && cut > 0 {
        cursor.part("data", (0, 0, 0), Said::value(0).meaning(format!("bytes{truncated}")));
    }
    cursor.block("data", usize::MAX, |bytes| count(bytes, &truncated));
}

fn count(bytes: &[u8], more: &str) -> Said {
    let unit = if bytes.len() == 1 { "byte" } else { "bytes" };
    Said::value(bytes.len()).meaning(format!("{unit}{more}"))
}
