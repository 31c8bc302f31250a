//! How a super-packet falls into segments.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use super::{GsoType, OffloadError, VnetHeader};
use crate::checksum::{self, Sum};
use crate::{FrameView, SeqNumber, TcpFlags, TcpPacket, protocol};

/// Where a TCP header keeps its checksum.
pub(super) const TCP_CHECKSUM: u16 = 16;
/// The longest packet that an IPv4 header's length field allows.
const LONGEST: usize = 65_535;
const V6_HEADER: usize = 40;

/// What all segments of a super-packet have in common, and where each of them lies in it.
///
/// As Linux cuts (`tcp_gso_segment`, `inet_gso_segment`): all headers are repeated, the IPv4
/// identification counts up, FIN and PSH stay on the last segment and CWR on the first.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    src: IpAddr,
    dst: IpAddr,
    /// Identification of the first segment, in IPv4.
    id: Option<u16>,
    /// Length of the IPv4 header, or of the IPv6 header with its extensions.
    tcp_at: usize,
    header_len: usize,
    data_len: usize,
    /// Bytes of data per segment but the last; at least 1.
    step: usize,
    seq: SeqNumber,
    flags: TcpFlags,
}

impl Layout {
    /// The segments of at most `gso_size` bytes of data (any if 0) in `packet`, from its IP header.
    ///
    /// # Errors
    /// If it is not a whole, well-formed TCP segment.
    pub fn of(packet: &[u8], gso_size: u16) -> Result<Layout, OffloadError> {
        let view = FrameView::of_packet(packet);
        if let Some(anomaly) = view.anomaly() {
            return Err(OffloadError::Malformed(anomaly));
        }
        let tcp = view.tcp().ok_or(OffloadError::NotTcp { len: packet.len() })?;
        if tcp.ip().fragment().more {
            return Err(OffloadError::Fragment);
        }
        let layout = Layout::of_segment(&tcp, gso_size);
        let longest = layout.header_len + layout.step.min(layout.data_len);
        let counted = if layout.id.is_some() { longest } else { longest - V6_HEADER };
        if counted > LONGEST {
            return Err(OffloadError::TooLong { len: longest });
        }
        Ok(layout)
    }

    fn of_segment(tcp: &TcpPacket<'_>, gso_size: u16) -> Layout {
        let tcp_at = tcp.ip().header_len();
        let data_len = tcp.payload_len() as usize;
        Layout {
            src: tcp.src(),
            dst: tcp.dst(),
            id: tcp.ip().id(),
            tcp_at,
            header_len: tcp_at + usize::from(tcp.data_offset()),
            data_len,
            step: if gso_size == 0 { data_len.max(1) } else { usize::from(gso_size) },
            seq: tcp.seq(),
            flags: tcp.flags(),
        }
    }

    /// How many segments there are; at least 1.
    pub fn segments(&self) -> usize {
        self.data_len.div_ceil(self.step).max(1)
    }

    /// Length of all headers of each segment, in bytes.
    pub fn header_len(&self) -> usize {
        self.header_len
    }

    /// Most bytes of data per segment.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Length of the segment `index` in bytes of IP.
    pub fn size(&self, index: usize) -> usize {
        self.header_len + (self.data_len - index * self.step).min(self.step)
    }

    /// Where in the super-packet the data of these segments lies, as start and end.
    pub fn data(&self, segments: &RangeInclusive<usize>) -> (usize, usize) {
        let end = self.data_len.min((segments.end() + 1) * self.step);
        (self.header_len + segments.start() * self.step, self.header_len + end)
    }

    /// Appends segment `index` of `packet`, at most `keep` bytes, with right checksums.
    pub fn write_segment(&self, packet: &[u8], index: usize, keep: usize, into: &mut Vec<u8>) {
        let (from, to) = self.data(&(index..=index));
        let data = &packet[from..to];
        let start = into.len();
        into.extend_from_slice(&packet[..self.header_len]);
        let pseudo = self.address(&mut into[start..], &(index..=index), data.len());
        let sum = pseudo.with(&into[start + self.tcp_at..]).with(data).complement();
        put(&mut into[start..], self.tcp_at + usize::from(TCP_CHECKSUM), sum.to_be_bytes());
        into.extend_from_slice(&data[..data.len().min(keep.saturating_sub(self.header_len))]);
        into.truncate(start.saturating_add(keep));
    }

    /// Writes the headers of a super-packet with only these segments of `packet`, at most 65,535
    /// bytes; the returned header leaves the checksum to the reader.
    pub fn write_header(
        &self,
        packet: &[u8],
        segments: &RangeInclusive<usize>,
        into: &mut Vec<u8>,
    ) -> VnetHeader {
        let (from, to) = self.data(segments);
        into.clear();
        into.extend_from_slice(&packet[..self.header_len]);
        let pseudo = self.address(into, segments, to - from);
        put(into, self.tcp_at + usize::from(TCP_CHECKSUM), pseudo.folded().to_be_bytes());
        let is_cut = segments.start() < segments.end();
        VnetHeader::of_tcp(into, self.tcp_at, if is_cut { self.step } else { 0 })
    }

    /// Makes these headers those of a packet with `data_len` bytes of data, which are these
    /// segments; all but the checksum of TCP, which becomes 0 and still needs what is returned.
    fn address(&self, header: &mut [u8], segments: &RangeInclusive<usize>, data_len: usize) -> Sum {
        let len = self.header_len + data_len;
        address_ip(header, len, self.id.map(|id| id.wrapping_add(*segments.start() as u16)));
        let mut flags = self.flags;
        if *segments.start() > 0 {
            flags = flags.without(TcpFlags::CWR);
        }
        if segments.end() + 1 < self.segments() {
            flags = flags.without(TcpFlags::FIN | TcpFlags::PSH);
        }
        let tcp = &mut header[self.tcp_at..];
        let seq = self.seq.advanced_by((segments.start() * self.step) as u32);
        put(tcp, 4, seq.as_u32().to_be_bytes());
        put_flags(tcp, flags);
        put(tcp, usize::from(TCP_CHECKSUM), [0, 0]);
        let segment_len = (len - self.tcp_at) as u32;
        checksum::pseudo_header(self.src, self.dst, protocol::TCP, segment_len)
    }
}

impl VnetHeader {
    /// For a TCP packet with only the pseudo-header summed; `gso_size` is 0 for one segment.
    pub(super) fn of_tcp(header: &[u8], tcp_at: usize, gso_size: usize) -> VnetHeader {
        let flags =
            TcpFlags::from_bits(u16::from_be_bytes([header[tcp_at + 12], header[tcp_at + 13]]));
        let gso_type = match header[0] >> 4 {
            _ if gso_size == 0 => GsoType::None,
            4 => GsoType::TcpV4,
            _ => GsoType::TcpV6,
        };
        VnetHeader {
            needs_checksum: true,
            data_valid: false,
            gso_type,
            gso_ecn: gso_size > 0 && flags.contains(TcpFlags::CWR),
            hdr_len: header.len() as u16,
            gso_size: gso_size as u16,
            csum_start: tcp_at as u16,
            csum_offset: TCP_CHECKSUM,
        }
    }
}

/// Makes this the IP header of a packet of `len` bytes, and, in IPv4, of this identification.
pub(super) fn address_ip(header: &mut [u8], len: usize, id: Option<u16>) {
    let Some(id) = id else {
        put(header, 4, ((len - V6_HEADER) as u16).to_be_bytes());
        return;
    };
    put(header, 2, (len as u16).to_be_bytes());
    put(header, 4, id.to_be_bytes());
    put(header, 10, [0, 0]);
    let ip_header_len = usize::from(header[0] & 0xf) * 4;
    let sum = Sum::default().with(&header[..ip_header_len]).complement();
    put(header, 10, sum.to_be_bytes());
}

const ALL_FLAGS: u16 = 0x1ff;

pub(super) fn put_flags(tcp: &mut [u8], flags: TcpFlags) {
    let reserved_and_offset = u16::from_be_bytes([tcp[12], tcp[13]]) & !ALL_FLAGS;
    put(tcp, 12, (reserved_and_offset | flags.bits()).to_be_bytes());
}

pub(super) fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}
