//! Cutting a super-packet into the segments it stands for.

use std::net::IpAddr;

use super::{GsoType, OffloadError, VnetHeader, complete_checksum};
use crate::checksum::{self, Sum};
use crate::{FrameView, SeqNumber, TcpFlags, TcpPacket, protocol};

/// Cuts super-packets, as a network card with TCP segmentation offload would. Keeps one buffer
/// and allocates nothing once that has grown.
#[derive(Debug, Default)]
pub struct Cutter {
    piece: Vec<u8>,
}

impl Cutter {
    /// A cutter.
    pub fn new() -> Cutter {
        Cutter::default()
    }

    /// Does whatever `header` says was left undone and hands each resulting packet to `each`, in
    /// order. `packet` begins with its IP header, and so must the offsets in `header`.
    ///
    /// # Errors
    /// If that cannot be done; `each` has then not been called.
    pub fn resolve(
        &mut self,
        header: VnetHeader,
        packet: &mut [u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), OffloadError> {
        match header.gso_type {
            GsoType::TcpV4 | GsoType::TcpV6 => self.cut(packet, header.gso_size, each),
            GsoType::None => {
                if header.needs_checksum {
                    complete_checksum(packet, header.csum_start, header.csum_offset)?;
                }
                each(packet);
                Ok(())
            }
            other => Err(OffloadError::NotTcpOffload(other)),
        }
    }

    /// Cuts an IP packet with a TCP segment into packets of at most `gso_size` bytes of data each
    /// (any amount if 0) and hands them to `each`, in order. A segment that needs no cutting comes
    /// out once. Checksums come out right whatever they were before.
    ///
    /// As Linux does (`tcp_gso_segment`, `inet_gso_segment`): all headers are repeated, the IPv4
    /// identification counts up, FIN and PSH stay on the last piece and CWR on the first.
    ///
    /// # Errors
    /// If `packet` is not a whole, well-formed TCP segment; `each` has then not been called.
    pub fn cut(
        &mut self,
        packet: &[u8],
        gso_size: u16,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), OffloadError> {
        let plan = Plan::of(packet, gso_size)?;
        self.piece.clear();
        self.piece.extend_from_slice(&packet[..plan.header_len]);
        let data = &packet[plan.header_len..plan.header_len + plan.data_len];
        let last = data.len().saturating_sub(1) / plan.step;
        for index in 0..=last {
            let from = index * plan.step;
            let to = data.len().min(from + plan.step);
            self.piece.truncate(plan.header_len);
            self.piece.extend_from_slice(&data[from..to]);
            plan.address(&mut self.piece, index, last);
            each(&self.piece);
        }
        Ok(())
    }
}

/// What all pieces of a super-packet have in common.
struct Plan {
    src: IpAddr,
    dst: IpAddr,
    /// Identification of the first piece, in IPv4.
    id: Option<u16>,
    /// Length of the IPv4 header, or of the IPv6 header with its extensions.
    tcp_at: usize,
    header_len: usize,
    data_len: usize,
    /// Bytes of data per piece but the last; at least 1.
    step: usize,
    seq: SeqNumber,
    flags: TcpFlags,
}

impl Plan {
    fn of(packet: &[u8], gso_size: u16) -> Result<Plan, OffloadError> {
        let view = FrameView::of_packet(packet);
        if let Some(anomaly) = view.anomaly() {
            return Err(OffloadError::Malformed(anomaly));
        }
        let tcp = view.tcp().ok_or(OffloadError::NotTcp { len: packet.len() })?;
        if tcp.ip().fragment().more {
            return Err(OffloadError::Fragment);
        }
        let plan = Plan::of_segment(&tcp, gso_size);
        let longest = plan.header_len + plan.step.min(plan.data_len);
        let counted = if plan.id.is_some() { longest } else { longest - 40 };
        if counted > usize::from(u16::MAX) {
            return Err(OffloadError::TooLong { len: longest });
        }
        Ok(plan)
    }

    fn of_segment(tcp: &TcpPacket<'_>, gso_size: u16) -> Plan {
        let tcp_at = tcp.ip().header_len();
        let data_len = tcp.payload_len() as usize;
        Plan {
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

    /// Makes the headers of `piece` those of the piece `index` of `0..=last`.
    fn address(&self, piece: &mut [u8], index: usize, last: usize) {
        self.address_ip(piece, index);
        let mut flags = self.flags;
        if index > 0 {
            flags = flags.without(TcpFlags::CWR);
        }
        if index < last {
            flags = flags.without(TcpFlags::FIN | TcpFlags::PSH);
        }
        let tcp = &mut piece[self.tcp_at..];
        let seq = self.seq.advanced_by((index * self.step) as u32);
        put(tcp, 4, seq.as_u32().to_be_bytes());
        let reserved_and_offset = u16::from_be_bytes([tcp[12], tcp[13]]) & !ALL_FLAGS;
        put(tcp, 12, (reserved_and_offset | flags.bits()).to_be_bytes());
        put(tcp, 16, [0, 0]);
        let pseudo = checksum::pseudo_header(self.src, self.dst, protocol::TCP, tcp.len() as u32);
        let sum = pseudo.with(tcp).complement();
        put(tcp, 16, sum.to_be_bytes());
    }

    fn address_ip(&self, piece: &mut [u8], index: usize) {
        let len = piece.len();
        let Some(id) = self.id else {
            put(piece, 4, ((len - 40) as u16).to_be_bytes());
            return;
        };
        put(piece, 2, (len as u16).to_be_bytes());
        put(piece, 4, id.wrapping_add(index as u16).to_be_bytes());
        put(piece, 10, [0, 0]);
        let ip_header_sum = Sum::default().with(&piece[..self.tcp_at]).complement();
        put(piece, 10, ip_header_sum.to_be_bytes());
    }
}

const ALL_FLAGS: u16 = 0x1ff;

fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}
