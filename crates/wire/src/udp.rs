//! Datagrams of UDP (RFC 768): shown, and built.

use crate::{ChecksumState, IpPacket, IpRepr, checksum, protocol};

/// The header: both ports, length, checksum.
const HEADER: usize = 8;

/// A UDP datagram as a capture holds it, or the beginning of one.
#[derive(Debug, Clone, Copy)]
pub struct UdpPacket<'a> {
    ip: IpPacket<'a>,
    bytes: &'a [u8],
}

impl<'a> UdpPacket<'a> {
    /// The UDP datagram in an IP packet; none for other protocols and later fragments.
    pub fn of(ip: IpPacket<'a>) -> Option<UdpPacket<'a>> {
        let bytes = ip.payload();
        let is_one = ip.protocol() == protocol::UDP && ip.fragment().offset == 0;
        (is_one && bytes.len() >= HEADER).then_some(UdpPacket { ip, bytes })
    }

    /// The packet that carries it.
    pub fn ip(&self) -> IpPacket<'a> {
        self.ip
    }

    /// The sender's port.
    pub fn src_port(&self) -> u16 {
        self.word(0)
    }

    /// The receiver's port.
    pub fn dst_port(&self) -> u16 {
        self.word(2)
    }

    /// Header and data in bytes, as the header has it.
    pub fn length(&self) -> u16 {
        self.word(4)
    }

    /// As sent; 0 for none.
    pub fn checksum(&self) -> u16 {
        self.word(6)
    }

    /// Its data, as far as it was captured.
    pub fn payload(&self) -> &'a [u8] {
        let end = usize::from(self.length()).clamp(HEADER, self.bytes.len());
        &self.bytes[HEADER..end]
    }

    /// Whether the checksum is right; over IPv4 there may be none, which counts as right (RFC 768).
    pub fn checksum_state(&self) -> ChecksumState {
        let length = usize::from(self.length());
        if self.checksum() == 0 && self.ip.version() == 4 {
            return ChecksumState::Right;
        }
        if length < HEADER {
            return ChecksumState::Wrong;
        }
        match self.bytes.get(..length) {
            // A length that the packet does not have is as wrong as a sum.
            None if self.ip.is_whole() => ChecksumState::Wrong,
            None => ChecksumState::Unknown,
            Some(bytes) => {
                let (src, dst) = (self.ip.src(), self.ip.dst());
                match checksum::transport(src, dst, protocol::UDP, bytes) {
                    0 => ChecksumState::Right,
                    _ => ChecksumState::Wrong,
                }
            }
        }
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]])
    }
}

/// The header of a UDP datagram to be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpRepr {
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's port.
    pub dst_port: u16,
}

impl UdpRepr {
    /// Appends a packet with this header and `payload` to `out`, checksums and all.
    ///
    /// # Panics
    /// If the packet is too long for the IP header's length field.
    pub fn emit(&self, ip: &IpRepr, payload: &[u8], out: &mut Vec<u8>) {
        let length = HEADER + payload.len();
        ip.emit(protocol::UDP, length, out);
        let at = out.len();
        let length = u16::try_from(length).expect("a datagram is below 64 KiB");
        for word in [self.src_port, self.dst_port, length, 0] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        out.extend_from_slice(payload);
        // 0 means no checksum, so a sum of 0 is sent as 0xffff (RFC 768).
        let sum = match checksum::transport(ip.src(), ip.dst(), protocol::UDP, &out[at..]) {
            0 => 0xffff,
            sum => sum,
        };
        out[at + 6..at + 8].copy_from_slice(&sum.to_be_bytes());
    }

    /// A packet with this header and `payload`; see [`UdpRepr::emit`].
    pub fn to_packet(&self, ip: &IpRepr, payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::with_capacity(ip.header_len() + HEADER + payload.len());
        self.emit(ip, payload, &mut packet);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameView;
    use crate::tests::v4;

    fn look(packet: &[u8]) -> UdpPacket<'_> {
        UdpPacket::of(FrameView::of_packet(packet).ip().unwrap()).unwrap()
    }

    /// Summed by hand: the pseudo-header 0a62 + 0001 + 0a62 + 0002 + 0011 + 000b = 14e3, the
    /// header 8000 + 1389 + 000b = 9394, the data 6869 + 2100 (padded) = 8969; together 131e0,
    /// folded 31e1, its complement ce1e.
    #[test]
    fn datagram_byte_by_byte() {
        let packet = UdpRepr { src_port: 32_768, dst_port: 5001 }.to_packet(&v4().into(), b"hi!");
        assert_eq!(packet[9], 17);
        assert_eq!(packet[20..], [0x80, 0, 0x13, 0x89, 0, 11, 0xce, 0x1e, b'h', b'i', b'!']);
        let udp = look(&packet);
        assert_eq!((udp.src_port(), udp.dst_port(), udp.length()), (32_768, 5001, 11));
        assert_eq!((udp.payload(), udp.checksum_state()), (&b"hi!"[..], ChecksumState::Right));
    }

    /// With two bytes of data the pseudo-header sums to 14e2 and the header to 9393; 578a brings
    /// the sum to ffff, whose complement would say that there is none.
    #[test]
    fn checksum_zero_sent_as_ffff() {
        let checksum_with = |data: u16| {
            let repr = UdpRepr { src_port: 32_768, dst_port: 5001 };
            let packet = repr.to_packet(&v4().into(), &data.to_be_bytes());
            assert_eq!(look(&packet).checksum_state(), ChecksumState::Right);
            look(&packet).checksum()
        };
        assert_eq!([0x5789, 0x578a, 0x578b].map(checksum_with), [0x0001, 0xffff, 0xfffe]);
    }

    #[test]
    fn truncated_or_damaged_datagram_shown() {
        let whole = UdpRepr { src_port: 1, dst_port: 2 }.to_packet(&v4().into(), &[7; 40]);
        let mut damaged = whole.clone();
        damaged[40] ^= 1;
        assert_eq!(look(&damaged).checksum_state(), ChecksumState::Wrong);
        let link = crate::LinkType::RawIp;
        let cut = FrameView::new(link, &whole[..32], whole.len() as u32);
        let cut = UdpPacket::of(cut.ip().unwrap()).unwrap();
        assert_eq!((cut.payload().len(), cut.checksum_state()), (4, ChecksumState::Unknown));
        let head = FrameView::new(link, &whole[..24], whole.len() as u32);
        assert!(head.ip().and_then(UdpPacket::of).is_none(), "half a header is none");
        for length in [0, 7, 9, 60, 0xffff_u16] {
            let mut lies = whole.clone();
            lies[24..26].copy_from_slice(&length.to_be_bytes());
            let udp = look(&lies);
            assert_eq!(udp.checksum_state(), ChecksumState::Wrong, "{length}");
            assert!(udp.payload().len() <= 40);
        }
    }
}
