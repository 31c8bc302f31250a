//! From a captured frame to what it carries.

use crate::ip::{IpPacket, protocol};
use crate::link::{Carried, Headers};
use crate::{Anomaly, LinkType, TcpPacket, tunnel};

/// The most tunnels inside one another.
const TUNNELS: usize = 8;

/// The contents of a captured frame.
#[derive(Debug, Clone, Copy)]
pub enum FrameView<'a> {
    /// A TCP segment, or the first fragment of one; in a tunnel, the innermost.
    Tcp(TcpPacket<'a>),
    /// An IP packet of another protocol, or a fragment that does not hold the TCP header.
    Ip(IpPacket<'a>),
    /// Not IP: the `EtherType`, or the address family on loopback links.
    NotIp {
        /// The number by which the link header names what it carries.
        protocol: u32,
    },
    /// Malformed or truncated, and why.
    Anomalous {
        /// The anomaly.
        anomaly: Anomaly,
        /// The IP packet, if readable.
        ip: Option<IpPacket<'a>>,
    },
}

impl<'a> TcpPacket<'a> {
    /// The segment of the most common frame: IPv4 without options or fragments, in an Ethernet
    /// header without tags or bare, header and options captured whole and well-formed. A shortcut
    /// of [`FrameView::new`]; `None` for all other frames.
    #[inline]
    pub fn of_plain_frame(
        link: LinkType,
        captured: &'a [u8],
        original_len: u32,
    ) -> Option<TcpPacket<'a>> {
        TcpPacket::whole(plain_ip(link, captured, original_len)?)
    }
}

impl<'a> FrameView<'a> {
    /// Reads a frame of `original_len` bytes, of which `captured` was captured.
    #[inline]
    pub fn new(link: LinkType, captured: &'a [u8], original_len: u32) -> FrameView<'a> {
        match TcpPacket::of_plain_frame(link, captured, original_len) {
            Some(tcp) => FrameView::Tcp(tcp),
            None => FrameView::look(link, captured, original_len),
        }
    }

    pub(crate) fn look(link: LinkType, captured: &'a [u8], original_len: u32) -> FrameView<'a> {
        // Some captures claim less than they contain.
        let wire_len = original_len.max(captured.len() as u32);
        let (at, version) = match link.open(captured, wire_len) {
            Err(anomaly) => return FrameView::Anomalous { anomaly, ip: None },
            Ok(Carried::Other { protocol }) => return FrameView::NotIp { protocol },
            Ok(Carried::Ip { at, version }) => (at, version),
        };
        let rest = captured.get(at..).unwrap_or_default();
        match IpPacket::look(rest, wire_len.saturating_sub(at as u32), version) {
            Err(anomaly) => FrameView::Anomalous { anomaly, ip: None },
            Ok(ip) => FrameView::of_ip(innermost(ip)),
        }
    }

    fn of_ip(ip: IpPacket<'a>) -> FrameView<'a> {
        if ip.protocol() != protocol::TCP || ip.fragment().offset > 0 {
            return FrameView::Ip(ip);
        }
        match TcpPacket::look(ip) {
            Ok(tcp) => FrameView::Tcp(tcp),
            Err(anomaly) => FrameView::Anomalous { anomaly, ip: Some(ip) },
        }
    }

    /// Looks at an IP packet that is all there, without a link header.
    pub fn of_packet(packet: &'a [u8]) -> FrameView<'a> {
        FrameView::new(LinkType::RawIp, packet, packet.len() as u32)
    }

    /// The TCP segment, if it holds one.
    #[inline]
    pub fn tcp(&self) -> Option<TcpPacket<'a>> {
        match self {
            FrameView::Tcp(tcp) => Some(*tcp),
            _ => None,
        }
    }

    /// The IP packet, if it holds one whose header can be read.
    pub fn ip(&self) -> Option<IpPacket<'a>> {
        match self {
            FrameView::Tcp(tcp) => Some(tcp.ip()),
            FrameView::Ip(ip) => Some(*ip),
            FrameView::NotIp { .. } => None,
            FrameView::Anomalous { ip, .. } => *ip,
        }
    }

    /// What is wrong with it, if anything; also of a segment that can be read all the same.
    #[inline]
    pub fn anomaly(&self) -> Option<Anomaly> {
        match self {
            FrameView::Tcp(tcp) => tcp.anomaly(),
            FrameView::Ip(ip) => ip.anomaly(),
            FrameView::NotIp { .. } => None,
            FrameView::Anomalous { anomaly, .. } => Some(*anomaly),
        }
    }
}

/// The IP packet inside all tunnels; the packet itself if it is none, or if its content cannot be
/// read.
fn innermost(outer: IpPacket<'_>) -> IpPacket<'_> {
    let mut ip = outer;
    // More are no network's, and each costs time.
    for _ in 0..TUNNELS {
        let headers = Headers { bytes: ip.bytes(), wire_len: ip.total_len(), at: ip.header_len() };
        let Some(Carried::Ip { at, version }) = tunnel::inner(&ip, headers) else { break };
        let Some(rest) = ip.bytes().get(at..) else { break };
        match IpPacket::look(rest, ip.total_len().saturating_sub(at as u32), version) {
            Ok(inner) => ip = inner,
            Err(_) => break,
        }
    }
    ip
}

/// The most common TCP packet: IPv4 without options or fragments, in untagged Ethernet or bare.
#[inline]
fn plain_ip(link: LinkType, captured: &[u8], original_len: u32) -> Option<IpPacket<'_>> {
    let packet = match link {
        LinkType::Ethernet => {
            let (header, packet) = captured.split_first_chunk::<14>()?;
            (header[12..] == [0x08, 0x00]).then_some(packet)?
        }
        LinkType::RawIp | LinkType::Ipv4 => captured,
        _ => return None,
    };
    let before = (captured.len() - packet.len()) as u32;
    IpPacket::plain_tcp(packet, original_len.checked_sub(before)?)
}
