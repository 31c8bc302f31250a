//! Segments as the packets that carry them, and back.

use std::net::{IpAddr, Ipv4Addr};

use tcplab_recording::Captured;
use tcplab_stack::{Data, Segment};
use tcplab_units::Bytes;
use tcplab_wire::{
    AccEcnOption, ChecksumState, FrameView, Ipv4Repr, QuotedSegment, SeqNumber, TcpFlags,
    TcpOption, TcpRepr,
};

/// The addresses of client and server, the only hosts.
pub(crate) const ADDRESSES: [Ipv4Addr; 2] =
    [Ipv4Addr::new(10, 98, 0, 1), Ipv4Addr::new(10, 98, 0, 2)];

/// Those that they have on a second path.
pub(crate) const SECOND_ADDRESSES: [Ipv4Addr; 2] =
    [Ipv4Addr::new(10, 98, 1, 1), Ipv4Addr::new(10, 98, 1, 2)];

/// One end of a connection on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) ip: Ipv4Addr,
    pub(crate) port: u16,
}

/// The IP fields of a packet besides its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marking {
    /// IPv4's identification.
    pub(crate) id: u16,
    /// Whether routers must not fragment it.
    pub(crate) dont_fragment: bool,
}

/// The header of IPv4 without options (RFC 791 section 3.1).
const IP_HEADER: u64 = 20;
/// The least that the headers of IPv4 and TCP take.
const HEADERS: usize = 40;
/// `sysctl_ip_default_ttl`.
pub(crate) const TTL: u8 = 64;

/// A packet captured in full.
pub(crate) fn whole(bytes: &[u8]) -> Captured<'_> {
    Captured { bytes, original_len: bytes.len() as u32 }
}

/// How long the packet of a segment is.
pub(crate) fn size(segment: &Segment) -> Bytes {
    Bytes::new(IP_HEADER + segment.header.header_len() as u64 + u64::from(segment.len()))
}

/// Writes the packet of a segment from the first of `ends` to the second into `out`, which is
/// cleared before.
pub(crate) fn write(segment: &Segment, ends: [Address; 2], marking: Marking, out: &mut Vec<u8>) {
    write_beginning(segment, ends, marking, usize::MAX, out);
}

/// The same without the payload bytes behind the first `most` of the packet, but with all headers.
/// Returns the length of the whole packet.
pub(crate) fn write_beginning(
    segment: &Segment,
    ends: [Address; 2],
    marking: Marking,
    most: usize,
    out: &mut Vec<u8>,
) -> u32 {
    let [from, to] = ends;
    let ip = Ipv4Repr { src: from.ip, dst: to.ip, id: marking.id, ttl: TTL, ecn: segment.ecn };
    let header = TcpRepr { src_port: from.port, dst_port: to.port, ..segment.header };
    let payload = segment.data.as_slice();
    let kept = payload.len().min(most.saturating_sub(HEADERS));
    out.clear();
    header.emit_beginning(&ip.into(), payload, kept, out);
    if !marking.dont_fragment {
        Ipv4Repr::let_fragment(out);
    }
    (out.len() + payload.len() - kept) as u32
}

/// An ICMP error: a segment was too large for the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooBig {
    /// The endpoints of the segment.
    pub(crate) ends: [Address; 2],
    pub(crate) sequence: SeqNumber,
    /// What the path takes, bytes of IP.
    pub(crate) mtu: u32,
}

/// The ICMP error in a packet to the host `to`, if it is one.
pub(crate) fn too_big(packet: &[u8], to: Ipv4Addr) -> Option<TooBig> {
    let ip = FrameView::of_packet(packet).ip()?;
    let (mtu, quoted) = tcplab_wire::too_big(&ip)?;
    let segment = QuotedSegment::of(quoted)?;
    let is_right = ip.header_checksum_is_right() && ip.dst() == IpAddr::V4(to);
    let (IpAddr::V4(src), IpAddr::V4(dst)) = (segment.src, segment.dst) else { return None };
    let ends = [(src, segment.src_port), (dst, segment.dst_port)];
    let ends = ends.map(|(ip, port)| Address { ip, port });
    is_right.then_some(TooBig { ends, sequence: segment.seq, mtu })
}

/// The segment in a packet that the path may have changed; none where `to` would not take it: its
/// checksum is wrong, it is cut, or it is not of this connection (RFC 9293 section 3.1).
pub(crate) fn segment(packet: &[u8], from: Address, to: Address) -> Option<Segment> {
    let tcp = FrameView::of_packet(packet).tcp()?;
    let is_ours = (tcp.src(), tcp.src_port()) == (IpAddr::V4(from.ip), from.port)
        && (tcp.dst(), tcp.dst_port()) == (IpAddr::V4(to.ip), to.port);
    let is_right = tcp.ip().header_checksum_is_right()
        && tcp.checksum_state() == ChecksumState::Right
        && tcp.anomaly().is_none();
    if !is_ours || !is_right {
        return None;
    }
    let mut header = TcpRepr {
        src_port: from.port,
        dst_port: to.port,
        seq: tcp.seq(),
        ack: tcp.ack(),
        flags: tcp.flags(),
        window: tcp.window(),
        urgent_pointer: tcp.urgent_pointer(),
        ..TcpRepr::default()
    };
    let opens = header.flags.contains(TcpFlags::SYN);
    for option in tcp.options() {
        match option {
            TcpOption::Mss(mss) if opens => header.mss = Some(mss),
            // RFC 7323 section 2.3: more than 14 means 14.
            TcpOption::WindowScale(shift) if opens => header.window_scale = Some(shift.min(14)),
            TcpOption::SackPermitted if opens => header.sack_permitted = true,
            TcpOption::Timestamps { value, echo } => header.timestamps = Some((value, echo)),
            TcpOption::Sack(blocks) => header.sack = blocks,
            TcpOption::Unknown { kind, bytes } => {
                header.acc_ecn = AccEcnOption::of(kind, bytes).or(header.acc_ecn);
            }
            _ => {}
        }
    }
    Some(Segment { ecn: tcp.ecn(), data: Data::copy_of(tcp.payload()), ..Segment::bare(header) })
}
