//! Putting segments together again, as a receiving network card with its driver would.

use super::VnetHeader;
use super::layout::{TCP_CHECKSUM, address_ip, put, put_flags};
use crate::{SeqNumber, TcpFlags, checksum, protocol};

/// Consecutive segments of one flow on their way to become one super-packet.
///
/// It takes what Linux' generic receive offload takes (`inet_gro_receive`, `tcp_gro_receive`), so
/// the receiving kernel sees what a wire, a network card and its driver would have handed it:
/// the same addresses, TTL and DSCP, the same ECN marks, flags, window and acknowledgement, the
/// same options byte by byte (and so the same timestamps); data that follows on; segments of one
/// size, the last excepted; PSH and FIN on the last only.
///
/// The caller checks a segment's checksum before: the super-packet does not show it.
#[derive(Debug, Default)]
pub struct Merge {
    /// Those of the first segment.
    header: Vec<u8>,
    tcp_at: usize,
    /// Bytes of data of the first segment; 0 while there is none.
    step: usize,
    data_len: usize,
    segments: usize,
    /// The last one was short, or said that it is the last.
    closed: bool,
    /// FIN and PSH of the last one.
    last: TcpFlags,
}

/// A segment, or a super-packet, by its headers.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// From the IP header to the end of the TCP options.
    pub header: &'a [u8],
    /// Bytes of data.
    pub data_len: usize,
    /// Bytes of data of each segment but the last; `data_len` where there is one only.
    pub step: usize,
}

const V4_HEADER: usize = 20;
const V6_HEADER: usize = 40;
/// Without options.
const TCP_HEADER: usize = 20;
const LONGEST: usize = 65_535;
/// In IPv4, what says that a packet is a fragment.
const MORE_OR_OFFSET: u16 = 0x3fff;
/// What says of a segment that nothing may be merged behind it (`tcp_gro_receive`).
const CLOSING: [TcpFlags; 5] =
    [TcpFlags::URG, TcpFlags::PSH, TcpFlags::RST, TcpFlags::SYN, TcpFlags::FIN];

impl Merge {
    /// Nothing to merge with.
    pub fn new() -> Merge {
        Merge::default()
    }

    /// Forgets all it holds and begins with this piece.
    pub fn begin(&mut self, piece: Piece<'_>) {
        self.header.clear();
        self.header.extend_from_slice(piece.header);
        // IPv4 options and IPv6 extensions are never merged, as in Linux.
        let (tcp_at, next_header) = match piece.header {
            [0x45, ..] if piece.header.len() >= V4_HEADER + TCP_HEADER => {
                (V4_HEADER, piece.header[9])
            }
            [first, ..] if first >> 4 == 6 && piece.header.len() >= V6_HEADER + TCP_HEADER => {
                (V6_HEADER, piece.header[6])
            }
            _ => (0, 0),
        };
        self.tcp_at = tcp_at;
        (self.data_len, self.segments, self.closed) = (0, 0, false);
        self.last = TcpFlags::NONE;
        let is_tcp = next_header == protocol::TCP;
        self.step = if is_tcp { piece.step.min(piece.data_len) } else { 0 };
        if self.step > 0 {
            self.count(piece);
        }
    }

    /// Whether this piece may follow what it holds.
    pub fn takes(&self, piece: Piece<'_>) -> bool {
        let header = piece.header;
        if self.step == 0 || self.closed || piece.data_len == 0 || header.len() != self.header.len()
        {
            return false;
        }
        let fits = self.header.len() + self.data_len + piece.data_len <= LONGEST;
        let same_size = if piece.data_len > piece.step {
            piece.step == self.step
        } else {
            piece.data_len <= self.step
        };
        fits && same_size && self.ip_follows(header) && self.tcp_follows(header)
    }

    /// Adds a piece that it [takes](Merge::takes).
    pub fn add(&mut self, piece: Piece<'_>) {
        self.count(piece);
    }

    /// Makes of the first header that of the super-packet; see [`Merge::header`]. Only the
    /// pseudo-header is summed, as the header returned says.
    pub fn finish(&mut self) -> VnetHeader {
        let len = self.header.len() + self.data_len;
        let is_v4 = self.tcp_at == V4_HEADER;
        let id = is_v4.then(|| u16::from_be_bytes([self.header[4], self.header[5]]));
        address_ip(&mut self.header, len, id);
        let tcp = &mut self.header[self.tcp_at..];
        let ends = TcpFlags::FIN | TcpFlags::PSH;
        put_flags(tcp, flags(tcp).without(ends) | self.last);
        let addresses = if is_v4 { &self.header[12..20] } else { &self.header[8..40] };
        let sum = checksum::Sum::default()
            .with(addresses)
            .with(&[0, protocol::TCP])
            .with(&((len - self.tcp_at) as u32).to_be_bytes());
        let at = self.tcp_at + usize::from(TCP_CHECKSUM);
        put(&mut self.header, at, sum.folded().to_be_bytes());
        let gso_size = if self.segments > 1 { self.step } else { 0 };
        VnetHeader::of_tcp(&self.header, self.tcp_at, gso_size)
    }

    /// The headers of what it holds.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    fn count(&mut self, piece: Piece<'_>) {
        let flags = flags(&piece.header[self.tcp_at..]);
        self.data_len += piece.data_len;
        self.segments += piece.data_len.div_ceil(self.step);
        self.last = TcpFlags::NONE;
        for end in [TcpFlags::FIN, TcpFlags::PSH] {
            if flags.contains(end) {
                self.last |= end;
            }
        }
        self.closed =
            !piece.data_len.is_multiple_of(self.step) || CLOSING.iter().any(|c| flags.contains(*c));
    }

    fn ip_follows(&self, header: &[u8]) -> bool {
        let first = &self.header;
        if self.tcp_at == V6_HEADER {
            // All but the length.
            return first[..4] == header[..4] && first[6..40] == header[6..40];
        }
        let id = |header: &[u8]| u16::from_be_bytes([header[4], header[5]]);
        let counts_up = id(header) == id(first).wrapping_add(self.segments as u16);
        // Version and length of the header, DSCP and ECN; no fragment; TTL, protocol; addresses.
        counts_up
            && first[..2] == header[..2]
            && first[6..8] == header[6..8]
            && u16::from_be_bytes([header[6], header[7]]) & MORE_OR_OFFSET == 0
            && first[8..10] == header[8..10]
            && first[12..20] == header[12..20]
    }

    fn tcp_follows(&self, header: &[u8]) -> bool {
        let (first, next) = (&self.header[self.tcp_at..], &header[self.tcp_at..]);
        let seq = |tcp: &[u8]| SeqNumber::new(u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]));
        let may_differ = TcpFlags::CWR | TcpFlags::FIN | TcpFlags::PSH;
        first[..4] == next[..4]
            && seq(next) == seq(first).advanced_by(self.data_len as u32)
            && first[8..12] == next[8..12]
            && !flags(next).contains(TcpFlags::CWR)
            && flags(first).without(may_differ) == flags(next).without(may_differ)
            && first[12] >> 1 == next[12] >> 1
            && first[14..16] == next[14..16]
            && first[18..] == next[18..]
    }
}

fn flags(tcp: &[u8]) -> TcpFlags {
    TcpFlags::from_bits(u16::from_be_bytes([tcp[12], tcp[13]]))
}
