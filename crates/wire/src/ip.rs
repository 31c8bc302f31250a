//! IPv4 and IPv6 packets as they were seen.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::anomaly::{Anomaly, Layer};
use crate::checksum;

/// Numbers of the protocols that IP carries.
pub mod protocol {
    /// Internet Control Message Protocol (RFC 792).
    pub const ICMP: u8 = 1;
    /// Transmission Control Protocol.
    pub const TCP: u8 = 6;
    /// IPv4 in IP (RFC 2003).
    pub const IPV4: u8 = 4;
    /// User Datagram Protocol.
    pub const UDP: u8 = 17;
    /// IPv6 in IP (RFC 2473, RFC 4213).
    pub const IPV6: u8 = 41;
    /// Generic Routing Encapsulation (RFC 2784).
    pub const GRE: u8 = 47;
    /// Ethernet in IP (RFC 3378).
    pub const ETHER_IP: u8 = 97;
    /// MPLS in IP (RFC 4023).
    pub const MPLS: u8 = 137;
    /// Internet Control Message Protocol of IPv6 (RFC 4443).
    pub const ICMPV6: u8 = 58;
}

/// The two ECN bits of an IP header (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ecn {
    /// The sender does not take part.
    #[default]
    NotEct = 0,
    /// ECN-capable, second codepoint (L4S traffic, RFC 9331).
    Ect1 = 1,
    /// ECN-capable.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

/// Where in the original packet a fragment belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fragment {
    /// Bytes of the original payload that precede it.
    pub offset: u32,
    /// Whether more fragments follow.
    pub more: bool,
}

/// An IPv4 or IPv6 packet whose headers could be read.
#[derive(Debug, Clone, Copy)]
pub struct IpPacket<'a> {
    /// From the first byte of the IP header to the end of the packet or of what was kept of it.
    bytes: &'a [u8],
    /// As much of the header as both versions have.
    header: &'a [u8; 20],
    total_len: u32,
    transport_at: usize,
    /// Where the final destination's address is.
    dst_at: usize,
    protocol: u8,
    fragment: Fragment,
    anomaly: Option<Anomaly>,
}

impl<'a> IpPacket<'a> {
    /// The outermost headers of a packet, which routers obey, whatever is in it.
    ///
    /// # Errors
    ///
    /// When there is no header of IPv4 or IPv6.
    pub fn outermost(packet: &'a [u8]) -> Result<IpPacket<'a>, Anomaly> {
        IpPacket::look(packet, packet.len() as u32, None)
    }

    /// Reads the headers of a packet that had `wire_len` bytes of frame to itself.
    pub(crate) fn look(
        bytes: &'a [u8],
        wire_len: u32,
        announced: Option<u8>,
    ) -> Result<IpPacket<'a>, Anomaly> {
        let Some(first) = bytes.first() else {
            return Err(cut_or_short(Layer::Ip, 0, wire_len, 20));
        };
        let version = first >> 4;
        match version {
            _ if announced.is_some_and(|v| v != version) => Err(Anomaly::IpVersion(version)),
            4 => look_v4(bytes, wire_len),
            6 => look_v6(bytes, wire_len),
            other => Err(Anomaly::IpVersion(other)),
        }
    }

    /// An IPv4 packet without options, that is no fragment, that carries TCP and of which nothing
    /// is remarkable; `None` for any other. The same as [`IpPacket::look`] gives, sooner.
    #[inline]
    pub(crate) fn plain_tcp(bytes: &'a [u8], wire_len: u32) -> Option<IpPacket<'a>> {
        let header = bytes.first_chunk::<20>()?;
        let total_len = u32::from(u16::from_be_bytes([header[2], header[3]]));
        let plain = header[0] == 0x45
            && header[9] == protocol::TCP
            // No more than the reserved bit and "don't fragment".
            && header[6] | 0xc0 == 0xc0
            && header[7] == 0
            && (20..=wire_len).contains(&total_len);
        plain.then(|| IpPacket {
            bytes: without_padding(bytes, total_len),
            header,
            total_len,
            transport_at: 20,
            dst_at: V4_DST,
            protocol: protocol::TCP,
            fragment: Fragment::default(),
            anomaly: None,
        })
    }

    /// 4 or 6.
    #[inline]
    pub fn version(&self) -> u8 {
        self.header[0] >> 4
    }
    /// The sender's address and the receiver's ([`IpPacket::dst`]), if they are those of IPv4.
    #[inline]
    pub fn ipv4_ends(&self) -> Option<(Ipv4Addr, Ipv4Addr)> {
        let dst = || array::<4>(self.bytes, self.dst_at).into();
        (self.version() == 4).then(|| (array::<4>(self.header, 12).into(), dst()))
    }
    /// The sender's address.
    #[inline]
    pub fn src(&self) -> IpAddr {
        match self.ipv4_ends() {
            Some((src, _)) => src.into(),
            None => Ipv6Addr::from(array::<16>(self.bytes, 8)).into(),
        }
    }
    /// The receiver's address: where the sender wrote a route that is not yet at its end, the last
    /// on it, which checksums cover (RFC 8200 section 8.1).
    #[inline]
    pub fn dst(&self) -> IpAddr {
        match self.ipv4_ends() {
            Some((_, dst)) => dst.into(),
            None => Ipv6Addr::from(array::<16>(self.bytes, self.dst_at)).into(),
        }
    }
    /// The identification field of IPv4, which IPv6 has not.
    #[inline]
    pub fn id(&self) -> Option<u16> {
        (self.version() == 4).then(|| u16::from_be_bytes(array(self.header, 4)))
    }
    /// Time to live, or hop limit.
    #[inline]
    pub fn ttl(&self) -> u8 {
        match self.version() {
            4 => self.header[8],
            _ => self.header[7],
        }
    }
    /// The ECN bits.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        match self.traffic_class() & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
    /// The differentiated services codepoint, 0 to 63.
    pub fn dscp(&self) -> u8 {
        self.traffic_class() >> 2
    }
    /// Whether routers must not fragment it; always so in IPv6.
    pub fn dont_fragment(&self) -> bool {
        self.version() == 6 || self.header[6] & 0x40 != 0
    }
    /// Which part of a fragmented packet it is; the default for one that is whole.
    #[inline]
    pub fn fragment(&self) -> Fragment {
        self.fragment
    }
    /// What fragments of one packet have in common: the identification of IPv4, or that of the
    /// fragment header of IPv6; none without such a header.
    pub fn fragment_id(&self) -> Option<u32> {
        if let Some(id) = self.id() {
            return Some(u32::from(id));
        }
        self.fragment_header().map(|(_, at)| u32::from_be_bytes(array(self.bytes, at + 4)))
    }
    /// What is cut into fragments: where it begins, and the number of its protocol. In IPv6 it may
    /// begin with extension headers, behind the fragment header (RFC 8200 section 4.5).
    pub fn fragmentable(&self) -> (usize, u8) {
        match self.fragment_header() {
            Some((protocol, at)) => (at + extension_len(FRAGMENT, 0), protocol),
            // The authentication header of IPv4 is part of what is cut (RFC 4302 section 3.3.4).
            None if self.version() == 4 => (ipv4_header_len(self.bytes), self.bytes[9]),
            None => (self.transport_at, self.protocol),
        }
    }
    /// What follows the fragment header of IPv6, and where that header is.
    fn fragment_header(&self) -> Option<(u8, usize)> {
        if self.version() == 4 {
            return None;
        }
        let (mut at, mut kind) = (40, self.bytes[6]);
        while kind != FRAGMENT && EXTENSIONS.contains(&kind) && at < self.transport_at {
            (kind, at) = (self.bytes[at], at + extension_len(kind, self.bytes[at + 1]));
        }
        (kind == FRAGMENT && at < self.transport_at).then(|| (self.bytes[at], at))
    }
    /// Number of the protocol it carries, behind any extension headers.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.protocol
    }
    /// Length in bytes with all headers, by the IP header; where that says 0 (super-packets), the
    /// length on the wire.
    #[inline]
    pub fn total_len(&self) -> u32 {
        self.total_len
    }
    /// Length in bytes of all headers before the payload.
    #[inline]
    pub fn header_len(&self) -> usize {
        self.transport_at
    }
    /// Length of the payload in bytes, by the IP header.
    #[inline]
    pub fn payload_len(&self) -> u32 {
        self.total_len - self.transport_at as u32
    }
    /// As much of the payload as was kept.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.transport_at..]
    }
    /// As much of the packet as was kept, from the IP header on and without link padding.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
    /// Whether the capture kept all of it.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == u64::from(self.total_len)
    }
    /// What is wrong with it, though it could be read.
    #[inline]
    pub fn anomaly(&self) -> Option<Anomaly> {
        self.anomaly
    }
    /// Whether the checksum of the IPv4 header is right. IPv6 has none, and it is never wrong.
    pub fn header_checksum_is_right(&self) -> bool {
        self.version() == 6 || checksum::internet(&self.bytes[..ipv4_header_len(self.bytes)]) == 0
    }

    #[inline]
    fn traffic_class(&self) -> u8 {
        match self.version() {
            4 => self.header[1],
            _ => (self.header[0] << 4) | (self.header[1] >> 4),
        }
    }
}

/// RFC 791 section 3.1.
fn look_v4(bytes: &[u8], wire_len: u32) -> Result<IpPacket<'_>, Anomaly> {
    let header = ipv4_header_len(bytes);
    if header < 20 {
        return Err(Anomaly::IpHeaderLength(header as u8));
    }
    if bytes.len() < header {
        return Err(cut_or_short(Layer::Ip, bytes.len(), wire_len, header));
    }
    let total_len = match u16::from_be_bytes(array(bytes, 2)) {
        0 => wire_len,
        len => u32::from(len),
    };
    if total_len < header as u32 {
        return Err(Anomaly::TooShort { layer: Layer::Ip, len: total_len, needed: header as u32 });
    }
    let fragment = u16::from_be_bytes(array(bytes, 6));
    let fragment =
        Fragment { offset: u32::from(fragment & 0x1fff) * 8, more: fragment & 0x2000 != 0 };
    let packet = without_padding(bytes, total_len);
    let is_first = fragment.offset == 0;
    let (protocol, transport_at) = behind_authentication(packet, (bytes[9], header), is_first);
    let route = source_route(&bytes[20..header]).map(|at| 20 + at);
    Ok(IpPacket {
        bytes: packet,
        header: bytes.first_chunk().expect("the header is longer"),
        total_len,
        transport_at,
        dst_at: route.unwrap_or(V4_DST),
        protocol,
        fragment,
        anomaly: beyond_frame(total_len, wire_len),
    })
}

/// The protocol of an IPv4 packet, and where its payload begins: behind an authentication header
/// that was captured whole (RFC 4302 section 2), which the first fragment holds.
fn behind_authentication(packet: &[u8], plain: (u8, usize), is_first: bool) -> (u8, usize) {
    let (mut protocol, mut at) = plain;
    while is_first
        && protocol == AUTHENTICATION
        && let Some(&[next, told]) = packet.get(at..at + 2)
    {
        let end = at + extension_len(AUTHENTICATION, told);
        if end > packet.len() {
            break;
        }
        (protocol, at) = (next, end);
    }
    (protocol, at)
}

/// RFC 8200 sections 3 and 4.
fn look_v6(bytes: &[u8], wire_len: u32) -> Result<IpPacket<'_>, Anomaly> {
    const HEADER: usize = 40;
    if bytes.len() < HEADER {
        return Err(cut_or_short(Layer::Ip, bytes.len(), wire_len, HEADER));
    }
    let total_len = match u16::from_be_bytes(array(bytes, 4)) {
        0 => wire_len,
        len => HEADER as u32 + u32::from(len),
    };
    let packet = without_padding(bytes, total_len);
    let mut found = IpPacket {
        bytes: packet,
        header: packet.first_chunk().expect("the header is longer"),
        total_len,
        transport_at: HEADER,
        dst_at: V6_DST,
        protocol: bytes[6],
        fragment: Fragment::default(),
        anomaly: beyond_frame(total_len, wire_len),
    };
    // A later fragment holds no more headers, only the middle of something.
    while found.fragment.offset == 0 && EXTENSIONS.contains(&found.protocol) {
        let (at, kind) = (found.transport_at, found.protocol);
        let need = |n| {
            let cut = cut_or_short(Layer::Ip, packet.len(), total_len, n);
            let anomaly = found.anomaly.unwrap_or(cut);
            if packet.len() < n { Err(anomaly) } else { Ok(()) }
        };
        need(at + 8)?;
        let len = extension_len(kind, packet[at + 1]);
        need(at + len)?;
        if kind == FRAGMENT {
            let field = u16::from_be_bytes(array(packet, at + 2));
            found.fragment = Fragment { offset: u32::from(field & 0xfff8), more: field & 1 != 0 };
        }
        if kind == ROUTING {
            found.dst_at = routed_to(&packet[at..at + len]).map_or(found.dst_at, |to| at + to);
        }
        found.protocol = packet[at];
        found.transport_at = at + len;
    }
    Ok(found)
}

/// Where the destination is in a header of IPv4 and of IPv6.
const V4_DST: usize = 16;
const V6_DST: usize = 24;

/// Where the end of a source route is among the options of IPv4, if there is one and the packet is
/// still on its way there (RFC 791 section 3.1).
fn source_route(options: &[u8]) -> Option<usize> {
    const LOOSE: u8 = 131;
    const STRICT: u8 = 137;
    let mut at = 0;
    loop {
        let rest = options.get(at..)?;
        let (kind, len) = match *rest {
            [0, ..] | [] => return None,
            [1, ..] => (1, 1),
            [kind, len, ..] => (kind, usize::from(len)),
            [_] => return None,
        };
        if matches!(kind, LOOSE | STRICT) {
            let is_under_way = usize::from(*rest.get(2)?) <= len;
            let fits = (7..=rest.len()).contains(&len);
            return (is_under_way && fits).then(|| at + len - 4);
        }
        at += len.max(1);
    }
}

/// Where a routing header has the last address of a route that is not yet at its end (RFC 8200
/// section 4.4; RFC 5095 for type 0, RFC 6275 section 6.4 for 2, RFC 8754 section 2 for 4).
fn routed_to(header: &[u8]) -> Option<usize> {
    let (kind, left) = (header[2], header[3]);
    let at = match kind {
        _ if left == 0 => return None,
        // The addresses follow in the order of the way.
        0 => header.len() - 16,
        // One address; or the segments from the last to the first.
        2 | 4 => 8,
        _ => return None,
    };
    (header.len() >= 24).then_some(at)
}

const ROUTING: u8 = 43;
pub(crate) const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
/// Extension headers that are passed over: hop-by-hop, routing, fragment, authentication,
/// destination options, mobility, HIP, shim6.
pub(crate) const EXTENSIONS: [u8; 8] = [0, ROUTING, FRAGMENT, AUTHENTICATION, 60, 135, 139, 140];

/// Bytes of an extension header whose length field says `told`.
pub(crate) fn extension_len(kind: u8, told: u8) -> usize {
    match kind {
        FRAGMENT => 8,
        // RFC 4302 section 2.2 counts this one in 4-byte words, less two.
        AUTHENTICATION => (usize::from(told) + 2) * 4,
        _ => (usize::from(told) + 1) * 8,
    }
}

fn ipv4_header_len(bytes: &[u8]) -> usize {
    usize::from(bytes[0] & 0xf) * 4
}

#[inline]
fn without_padding(bytes: &[u8], total_len: u32) -> &[u8] {
    &bytes[..bytes.len().min(total_len as usize)]
}

fn beyond_frame(claimed: u32, available: u32) -> Option<Anomaly> {
    (claimed > available).then_some(Anomaly::IpBeyondFrame { claimed, available })
}

/// Whether a header is not to be seen because the capture cut it or because it was not sent.
pub(crate) fn cut_or_short(layer: Layer, kept: usize, sent: u32, needed: usize) -> Anomaly {
    let (kept, needed) = (kept as u32, needed as u32);
    if sent < needed {
        Anomaly::TooShort { layer, len: sent, needed }
    } else {
        Anomaly::Cut { layer, kept, needed }
    }
}

/// The `N` bytes at `at`, which must be there.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("the caller looked")
}
