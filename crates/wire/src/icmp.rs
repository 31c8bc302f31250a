//! ICMP errors: packet too big, and port unreachable.

use std::net::IpAddr;

use crate::{FrameView, IpPacket, IpRepr, Ipv4Repr, SeqNumber, checksum, protocol};

/// ICMP packet too big, to be built: path MTU discovery needs it (RFC 1191, RFC 8201).
///
/// In IPv4 it is Destination Unreachable (type 3), code 4, "fragmentation needed and DF set" (RFC
/// 792), with the next-hop MTU in the low half of the once unused word (RFC 1191 section 4). In
/// IPv6 it is Packet Too Big (type 2, code 0; RFC 4443 section 3.2).
#[derive(Debug, Clone, Copy)]
pub struct TooBigRepr<'a> {
    /// The largest packet that the next link takes, in bytes of IP; below 64 KiB.
    pub mtu: u16,
    /// The packet, quoted up to [`TooBigRepr::LONGEST_V4`] or [`TooBigRepr::LONGEST_V6`].
    pub about: IpPacket<'a>,
}

impl TooBigRepr<'_> {
    /// The longest message in IPv4, in bytes with its IP header: as much of the packet as keeps it
    /// within what every host takes (RFC 1812 section 4.3.2.3).
    pub const LONGEST_V4: usize = 576;
    /// The longest message in IPv6, bytes with IP header: the least MTU (RFC 4443 section 3.2).
    pub const LONGEST_V6: usize = 1280;

    /// The message with this IP header, checksums and all.
    ///
    /// # Panics
    /// If the header is of another version of IP than the packet that it is about.
    pub fn to_packet(&self, ip: &IpRepr) -> Vec<u8> {
        let (version, number, longest) = match ip {
            IpRepr::V4(_) => (4, protocol::ICMP, Self::LONGEST_V4),
            IpRepr::V6(_) => (6, protocol::ICMPV6, Self::LONGEST_V6),
        };
        let about = self.about;
        assert_eq!(about.version(), version, "an ICMP error has the IP version of its packet");
        let (type_, code) =
            if version == 4 { (UNREACHABLE, FRAGMENTATION_NEEDED) } else { (PACKET_TOO_BIG, 0) };
        // IPv6 has 32 bits for the MTU, of which the low half is where IPv4 has its 16.
        let error = Error { type_, code, word: self.mtu.into(), about, longest };
        error.to_packet(ip, number)
    }
}

/// "Port unreachable" to be built, in IPv4: what a host says of a datagram for a port that no
/// socket has. It is Destination Unreachable (type 3), code 3 (RFC 792; RFC 1122 section 4.1.3.1).
#[derive(Debug, Clone, Copy)]
pub struct PortUnreachableRepr<'a> {
    /// The datagram, which is quoted up to [`TooBigRepr::LONGEST_V4`] bytes in all.
    pub about: IpPacket<'a>,
}

impl PortUnreachableRepr<'_> {
    /// The message with this IP header, checksums and all.
    pub fn to_packet(&self, ip: &Ipv4Repr) -> Vec<u8> {
        let (about, longest) = (self.about, TooBigRepr::LONGEST_V4);
        let error = Error { type_: UNREACHABLE, code: PORT, word: 0, about, longest };
        error.to_packet(&(*ip).into(), protocol::ICMP)
    }
}

/// What a "too big" says, of IPv4 or IPv6: the largest packet that the next link takes, in bytes of
/// IP (0 from routers older than RFC 1191), and as much as it quotes of the packet that was too
/// large. None for what is no such message, or is damaged.
pub fn too_big<'a>(ip: &IpPacket<'a>) -> Option<(u32, &'a [u8])> {
    read_too_big(ip).filter(|(_, _, is_damaged)| !is_damaged).map(|(mtu, quoted, _)| (mtu, quoted))
}

/// Whether it is a "too big" with a wrong checksum, which no host believes.
pub fn is_damaged_too_big(ip: &IpPacket<'_>) -> bool {
    read_too_big(ip).is_some_and(|(_, _, is_damaged)| is_damaged)
}

/// The MTU, what is quoted, and whether the checksum is wrong.
fn read_too_big<'a>(ip: &IpPacket<'a>) -> Option<(u32, &'a [u8], bool)> {
    let message = ip.payload();
    let (type_, sum) = match (ip.version(), ip.protocol()) {
        (4, protocol::ICMP) => ([UNREACHABLE, FRAGMENTATION_NEEDED], checksum::internet(message)),
        (6, protocol::ICMPV6) => {
            let sum = checksum::transport(ip.src(), ip.dst(), protocol::ICMPV6, message);
            ([PACKET_TOO_BIG, 0], sum)
        }
        _ => return None,
    };
    // Unknown for a truncated one.
    let is_damaged = ip.is_whole() && sum != 0;
    if message.get(..2) != Some(&type_) {
        return None;
    }
    let word = u32::from_be_bytes(*message.get(4..HEADER)?.first_chunk()?);
    // The high half is unused in IPv4 (RFC 1191 section 4; RFC 4884 has a length there).
    let mtu = if ip.version() == 4 { word & 0xffff } else { word };
    Some((mtu, &message[HEADER..], is_damaged))
}

/// What ICMP quotes of a TCP segment at least: the header of IP and eight bytes (RFC 792).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotedSegment {
    /// Who sent it.
    pub src: IpAddr,
    /// Whom to.
    pub dst: IpAddr,
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's port.
    pub dst_port: u16,
    /// Its sequence number.
    pub seq: SeqNumber,
    /// The bytes of its packet, by IP's header.
    pub len: u32,
    /// Its bytes of data; none where too little of it is quoted.
    pub data: Option<u32>,
}

impl QuotedSegment {
    /// The segment that `quoted` begins with; none where it is no TCP, or a later fragment.
    pub fn of(quoted: &[u8]) -> Option<QuotedSegment> {
        let ip = match FrameView::of_packet(quoted) {
            FrameView::Anomalous { ip, .. } => ip?,
            view => view.ip()?,
        };
        let first = ip.protocol() == protocol::TCP && ip.fragment().offset == 0;
        let [a, b, c, d, seq @ ..] = *ip.payload().first_chunk::<8>().filter(|_| first)?;
        Some(QuotedSegment {
            src: ip.src(),
            dst: ip.dst(),
            src_port: u16::from_be_bytes([a, b]),
            dst_port: u16::from_be_bytes([c, d]),
            seq: SeqNumber::new(u32::from_be_bytes(seq)),
            len: ip.total_len(),
            data: ip
                .payload()
                .get(OFFSET)
                .and_then(|&byte| ip.payload_len().checked_sub(u32::from(byte >> 4) * 4)),
        })
    }
}

/// The bytes that "port unreachable" quotes, if an IPv4 packet is one that is whole and right: the
/// header of a datagram that did not reach its port, and what followed it.
pub fn port_unreachable<'a>(ip: &IpPacket<'a>) -> Option<&'a [u8]> {
    let message = ip.payload();
    let is_one = ip.version() == 4
        && ip.protocol() == protocol::ICMP
        && message.get(..2) == Some(&[UNREACHABLE, PORT])
        && ip.is_whole()
        && checksum::internet(message) == 0;
    if is_one { message.get(HEADER..) } else { None }
}

const UNREACHABLE: u8 = 3;
const PORT: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
/// Of ICMPv6.
const PACKET_TOO_BIG: u8 = 2;

/// An error about a packet, of either version.
struct Error<'a> {
    type_: u8,
    code: u8,
    /// The word after the checksum.
    word: u32,
    about: IpPacket<'a>,
    /// The longest message with its IP header.
    longest: usize,
}

impl Error<'_> {
    fn to_packet(&self, ip: &IpRepr, number: u8) -> Vec<u8> {
        let room = self.longest - ip.header_len() - HEADER;
        let quoted = &self.about.bytes()[..self.about.bytes().len().min(room)];
        let mut packet = Vec::with_capacity(ip.header_len() + HEADER + quoted.len());
        ip.emit(number, HEADER + quoted.len(), &mut packet);
        let at = packet.len();
        packet.extend_from_slice(&[self.type_, self.code, 0, 0]);
        packet.extend_from_slice(&self.word.to_be_bytes());
        packet.extend_from_slice(quoted);
        // Only ICMPv6 covers the pseudo-header (RFC 4443 section 2.3).
        let sum = match ip {
            IpRepr::V4(_) => checksum::internet(&packet[at..]),
            IpRepr::V6(_) => checksum::transport(ip.src(), ip.dst(), number, &packet[at..]),
        };
        packet[at + 2..at + 4].copy_from_slice(&sum.to_be_bytes());
        packet
    }
}

/// Where TCP's header says how long it is (RFC 9293 section 3.1).
const OFFSET: usize = 12;
/// Type, code, checksum, and a word such as the MTU.
const HEADER: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{LINUX_SYN, v4};
    use crate::{Ipv6Repr, TcpFlags, TcpRepr};

    fn look(packet: &[u8]) -> IpPacket<'_> {
        FrameView::of_packet(packet).ip().expect("an IP packet")
    }

    fn data(ip: &IpRepr, len: usize) -> Vec<u8> {
        TcpRepr { flags: TcpFlags::ACK, ..TcpRepr::default() }.to_packet(ip, &vec![7; len])
    }

    fn v6() -> Ipv6Repr {
        let (src, dst) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
        Ipv6Repr { src, dst, hop_limit: 64, ecn: crate::Ecn::NotEct }
    }

    /// Summed by hand: 0304 + 0578 and the SYN, whose IP header sums to ffff and whose TCP header
    /// sums to ffff less its pseudo-header (0a62 + 0001 + 0a62 + 0002 + 0006 + 0028 = 14f5).
    #[test]
    fn too_big_of_ipv4_byte_by_byte() {
        let back = Ipv4Repr { src: v4().dst, dst: v4().src, id: 0, ..v4() };
        let about = look(&LINUX_SYN);
        let packet = TooBigRepr { mtu: 1400, about }.to_packet(&back.into());
        let ip = look(&packet);
        assert!(ip.header_checksum_is_right());
        assert_eq!((ip.protocol(), ip.ttl(), ip.total_len()), (protocol::ICMP, 64, 88));
        let sum = 0x0304_u32 + 0x0578 + 0xffff + (0xffff - 0x14f5);
        let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
        let mut expected = vec![3, 4, 0, 0, 0, 0, 0x05, 0x78];
        expected[2..4].copy_from_slice(&checksum.to_be_bytes());
        expected.extend_from_slice(&LINUX_SYN);
        assert_eq!(ip.payload(), expected);
    }

    #[test]
    fn too_big_at_most_576_or_1280_bytes() {
        for (ip, lengths) in [
            (IpRepr::from(v4()), [(60, 88), (548, 576), (549, 576), (1500, 576)]),
            (IpRepr::from(v6()), [(60, 108), (1232, 1280), (1233, 1280), (9000, 1280)]),
        ] {
            for (about, len) in lengths {
                let about = data(&ip, about - ip.header_len() - 20);
                let packet = TooBigRepr { mtu: 1280, about: look(&about) }.to_packet(&ip);
                assert_eq!(packet.len(), len, "about {} B", about.len());
                let quoted = &look(&packet).payload()[HEADER..];
                assert_eq!(quoted, &about[..quoted.len()], "it is quoted from its first byte on");
            }
        }
    }

    #[test]
    fn icmpv6_checksum_covers_addresses() {
        let ip = IpRepr::from(v6());
        let about = data(&ip, 1400);
        let packet = TooBigRepr { mtu: 1300, about: look(&about) }.to_packet(&ip);
        let message = look(&packet).payload();
        assert_eq!((message[0], message[1]), (2, 0));
        assert_eq!(message[4..8], [0, 0, 0x05, 0x14]);
        assert_eq!(checksum::transport(ip.src(), ip.dst(), protocol::ICMPV6, message), 0);
        assert_ne!(checksum::internet(message), 0);
    }

    #[test]
    fn too_big_read_from_its_quote() {
        for (ip, longest) in [(IpRepr::from(v4()), 576), (IpRepr::from(v6()), 1280)] {
            let repr = TcpRepr {
                src_port: 40_000,
                dst_port: 80,
                seq: SeqNumber::new(0xfedc_ba98),
                flags: TcpFlags::ACK,
                ..TcpRepr::default()
            };
            let packet = repr.to_packet(&ip, &[7; 1_440]);
            let about = look(&packet);
            let message = TooBigRepr { mtu: 1400, about }.to_packet(&ip);
            assert_eq!(message.len(), longest);
            let (mtu, quoted) = too_big(&look(&message)).expect("it is whole and right");
            assert_eq!((mtu, quoted), (1400, &packet[..quoted.len()]));
            let segment = QuotedSegment::of(quoted).expect("a segment");
            assert_eq!((segment.src, segment.dst), (ip.src(), ip.dst()));
            assert_eq!((segment.src_port, segment.dst_port), (40_000, 80));
            assert_eq!(segment.seq, SeqNumber::new(0xfedc_ba98));
            assert_eq!((segment.len, segment.data), (packet.len() as u32, Some(1_440)));
            // RFC 792 promises no more than eight bytes of it.
            let less = QuotedSegment { data: None, ..segment };
            assert_eq!(QuotedSegment::of(&packet[..ip.header_len() + 8]), Some(less));
            assert_eq!(QuotedSegment::of(&packet[..ip.header_len() + 7]), None);
            for at in [ip.header_len(), ip.header_len() + 6, longest - 1] {
                let mut damaged = message.clone();
                damaged[at] ^= 1;
                assert_eq!(too_big(&look(&damaged)), None, "byte {at}");
                let is_type = at == ip.header_len();
                assert_eq!(is_damaged_too_big(&look(&damaged)), !is_type, "byte {at}");
            }
            assert!(!is_damaged_too_big(&look(&message)) && !is_damaged_too_big(&about));
            assert_eq!(too_big(&about), None, "a segment is no message");
        }
    }

    /// Summed by hand as above: 0303 and the SYN, less its pseudo-header.
    #[test]
    fn port_unreachable_byte_by_byte() {
        let back = Ipv4Repr { src: v4().dst, dst: v4().src, id: 0, ..v4() };
        let packet = PortUnreachableRepr { about: look(&LINUX_SYN) }.to_packet(&back);
        let sum = 0x0303_u32 + 0xffff + (0xffff - 0x14f5);
        let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
        let [high, low] = checksum.to_be_bytes();
        assert_eq!(look(&packet).payload()[..8], [3, 3, high, low, 0, 0, 0, 0]);
        assert_eq!(port_unreachable(&look(&packet)), Some(&LINUX_SYN[..]));
        let mut damaged = packet.clone();
        damaged[40] ^= 1;
        assert_eq!(port_unreachable(&look(&damaged)), None);
        let other = TooBigRepr { mtu: 1400, about: look(&LINUX_SYN) }.to_packet(&back.into());
        assert_eq!(port_unreachable(&look(&other)), None);
    }

    #[test]
    #[should_panic = "an ICMP error has the IP version of its packet"]
    fn error_of_other_ip_version_panics() {
        let about = look(&LINUX_SYN);
        TooBigRepr { mtu: 1400, about }.to_packet(&v6().into());
    }
}
