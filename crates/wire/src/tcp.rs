//! Views of captured TCP segments.

use std::net::IpAddr;

use crate::anomaly::{Anomaly, Layer};
use crate::ip::{Ecn, IpPacket, array, cut_or_short, protocol};
use crate::options::{TcpOptions, kind};
use crate::{SeqNumber, TcpFlags, checksum};

/// The least length of a TCP header in bytes (RFC 9293 section 3.1).
const HEADER: usize = 20;

/// A TCP segment whose fixed header was captured whole.
#[derive(Debug, Clone, Copy)]
pub struct TcpPacket<'a> {
    ip: IpPacket<'a>,
    header: &'a [u8; HEADER],
    /// From the first byte of the TCP header on.
    segment: &'a [u8],
}

/// The state of a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChecksumState {
    /// Correct.
    Right,
    /// Only the pseudo-header's sum: captured before checksum offloading.
    Partial,
    /// Wrong.
    Wrong,
    /// Unknown: the segment was truncated.
    Unknown,
}

impl<'a> TcpPacket<'a> {
    #[inline]
    pub(crate) fn look(ip: IpPacket<'a>) -> Result<TcpPacket<'a>, Anomaly> {
        let segment = ip.payload();
        let Some(header) = segment.first_chunk() else {
            let cut = cut_or_short(Layer::Tcp, segment.len(), ip.payload_len(), HEADER);
            return Err(ip.anomaly().unwrap_or(cut));
        };
        Ok(TcpPacket { ip, header, segment })
    }

    /// A segment whose header and options were captured whole and are well-formed.
    #[inline]
    pub(crate) fn whole(ip: IpPacket<'a>) -> Option<TcpPacket<'a>> {
        let segment = ip.payload();
        let tcp = TcpPacket { ip, header: segment.first_chunk()?, segment };
        let whole = tcp.bad_data_offset().is_none() && tcp.options_complete();
        whole.then_some(tcp)
    }

    /// The IP packet that carries it.
    #[inline]
    pub fn ip(&self) -> IpPacket<'a> {
        self.ip
    }
    /// The sender's address.
    #[inline]
    pub fn src(&self) -> IpAddr {
        self.ip.src()
    }
    /// The receiver's address.
    #[inline]
    pub fn dst(&self) -> IpAddr {
        self.ip.dst()
    }
    /// The ECN bits of the IP header.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        self.ip.ecn()
    }
    /// The sender's port.
    #[inline]
    pub fn src_port(&self) -> u16 {
        u16::from_be_bytes(array(self.header, 0))
    }
    /// The receiver's port.
    #[inline]
    pub fn dst_port(&self) -> u16 {
        u16::from_be_bytes(array(self.header, 2))
    }
    /// Sequence number of the first byte of data, or of the SYN.
    #[inline]
    pub fn seq(&self) -> SeqNumber {
        SeqNumber::new(u32::from_be_bytes(array(self.header, 4)))
    }
    /// The acknowledgement field, whether or not [`TcpFlags::ACK`] makes it count.
    #[inline]
    pub fn ack(&self) -> SeqNumber {
        SeqNumber::new(u32::from_be_bytes(array(self.header, 8)))
    }
    /// The control bits.
    #[inline]
    pub fn flags(&self) -> TcpFlags {
        TcpFlags::from_bits(u16::from_be_bytes(array(self.header, 12)))
    }
    /// The window field as sent, not scaled.
    #[inline]
    pub fn window(&self) -> u16 {
        u16::from_be_bytes(array(self.header, 14))
    }
    /// The checksum field.
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes(array(self.header, 16))
    }
    /// The urgent pointer field, whether or not [`TcpFlags::URG`] makes it count.
    #[inline]
    pub fn urgent_pointer(&self) -> u16 {
        u16::from_be_bytes(array(self.header, 18))
    }
    /// Length of the header in bytes by its data offset, 0 to 60, valid or not.
    #[inline]
    pub fn data_offset(&self) -> u8 {
        (self.header[12] >> 4) * 4
    }
    /// Length of header and data in bytes, by the IP header.
    #[inline]
    pub fn segment_len(&self) -> u32 {
        self.ip.payload_len()
    }
    /// Bytes of data, by the IP header, captured or not; 0 if the data offset is invalid.
    #[inline]
    pub fn payload_len(&self) -> u32 {
        match self.bad_data_offset() {
            Some(_) => 0,
            None => self.segment_len() - u32::from(self.data_offset()),
        }
    }
    /// How far the segment moves the sequence: its data, and one each for SYN and FIN.
    #[inline]
    pub fn sequence_len(&self) -> u32 {
        let flags = self.flags();
        self.payload_len()
            + u32::from(flags.contains(TcpFlags::SYN))
            + u32::from(flags.contains(TcpFlags::FIN))
    }
    /// As much of the data as was kept.
    pub fn payload(&self) -> &'a [u8] {
        match self.bad_data_offset() {
            Some(_) => &[],
            None => self.segment.get(usize::from(self.data_offset())..).unwrap_or(&[]),
        }
    }
    /// The options, as far as they were kept.
    #[inline]
    pub fn options(&self) -> TcpOptions<'a> {
        let end = usize::from(self.data_offset()).clamp(HEADER, self.segment.len().max(HEADER));
        TcpOptions::new(&self.segment[HEADER..end], self.options_complete())
    }
    /// Value and echo of the timestamps, if the options are those and nothing else, laid out as
    /// RFC 7323 appendix A recommends and every segment of an established connection has them.
    #[inline]
    pub fn only_timestamps(&self) -> Option<(u32, u32)> {
        const LAYOUT: [u8; 4] = [kind::NO_OPERATION, kind::NO_OPERATION, kind::TIMESTAMPS, 10];
        let header = self.segment.first_chunk::<32>()?;
        let value = |at: usize| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let fits = self.data_offset() == 32 && self.segment_len() >= 32 && header[20..24] == LAYOUT;
        fits.then(|| (value(24), value(28)))
    }
    /// Whether all options were kept. If not, an option that is not seen may still have been sent.
    #[inline]
    pub fn options_complete(&self) -> bool {
        self.bad_data_offset().is_some() || self.segment.len() >= usize::from(self.data_offset())
    }
    /// What is wrong with the segment, though its header could be read.
    #[inline]
    pub fn anomaly(&self) -> Option<Anomaly> {
        self.bad_data_offset().or(self.ip.anomaly())
    }
    /// Whether the checksum fits (RFC 9293 section 3.1). Fragments cannot be judged.
    pub fn checksum_state(&self) -> ChecksumState {
        if !self.ip.is_whole() || self.ip.fragment().more {
            return ChecksumState::Unknown;
        }
        let pseudo =
            checksum::pseudo_header(self.src(), self.dst(), protocol::TCP, self.segment_len());
        if pseudo.with(self.segment).complement() == 0 {
            ChecksumState::Right
        } else if pseudo.folded() == self.checksum() {
            ChecksumState::Partial
        } else {
            ChecksumState::Wrong
        }
    }

    /// Whether a checksum shows that the packet was damaged: that of TCP, or of IPv4's header (RFC
    /// 791 section 3.1). None where that cannot be judged: of a cut packet, or of one captured
    /// before a network card completed it.
    pub fn is_damaged(&self) -> Option<bool> {
        if !self.ip.header_checksum_is_right() {
            return Some(true);
        }
        match self.checksum_state() {
            ChecksumState::Right => Some(false),
            ChecksumState::Wrong => Some(true),
            ChecksumState::Partial | ChecksumState::Unknown => None,
        }
    }

    #[inline]
    fn bad_data_offset(&self) -> Option<Anomaly> {
        let (claimed, segment) = (self.data_offset(), self.segment_len());
        let possible = usize::from(claimed) >= HEADER && u32::from(claimed) <= segment;
        (!possible).then_some(Anomaly::TcpDataOffset { claimed, segment })
    }
}
