//! What the analyser takes from a frame.

use std::net::SocketAddr;

use tcplab_units::Instant;
use tcplab_wire::{SackBlocks, SeqNumber, TcpFlags, TcpOption, TcpPacket};

/// One TCP packet, numbers as they stand in the header.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) src: SocketAddr,
    pub(crate) dst: SocketAddr,
    pub(crate) seq: SeqNumber,
    pub(crate) ack: Option<SeqNumber>,
    pub(crate) flags: TcpFlags,
    pub(crate) window: u16,
    /// Bytes of data, by the IP header.
    pub(crate) payload: u32,
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    /// Value and echo.
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) sack: SackBlocks,
    /// The identification field of IPv4.
    pub(crate) ip_id: Option<u16>,
    /// Time to live, or hop limit.
    pub(crate) ttl: u8,
    /// This capture holds many frames twice.
    pub(crate) copies_usual: bool,
    /// The capture kept only a part of the options.
    pub(crate) options_cut: bool,
    pub(crate) comment: Option<String>,
}

impl Packet {
    pub(crate) fn read(
        tcp: &TcpPacket<'_>,
        at: Instant,
        frame: u64,
        comment: Option<&str>,
    ) -> Packet {
        let mut packet = Packet {
            at,
            frame,
            src: SocketAddr::new(tcp.src(), tcp.src_port()),
            dst: SocketAddr::new(tcp.dst(), tcp.dst_port()),
            seq: tcp.seq(),
            ack: tcp.flags().contains(TcpFlags::ACK).then(|| tcp.ack()),
            flags: tcp.flags(),
            window: tcp.window(),
            payload: tcp.payload_len(),
            mss: None,
            window_scale: None,
            sack_permitted: false,
            timestamps: None,
            sack: SackBlocks::default(),
            ip_id: tcp.ip().id(),
            ttl: tcp.ip().ttl(),
            copies_usual: false,
            options_cut: !tcp.options_complete(),
            comment: comment.map(str::to_owned),
        };
        for option in tcp.options() {
            match option {
                TcpOption::Mss(mss) => packet.mss = Some(mss),
                // RFC 7323 section 2.3: more than 14 means 14.
                TcpOption::WindowScale(shift) => packet.window_scale = Some(shift.min(14)),
                TcpOption::SackPermitted => packet.sack_permitted = true,
                TcpOption::Timestamps { value, echo } => packet.timestamps = Some((value, echo)),
                TcpOption::Sack(blocks) => packet.sack = blocks,
                _ => {}
            }
        }
        packet
    }

    pub(crate) fn syn(&self) -> bool {
        self.flags.contains(TcpFlags::SYN)
    }
    pub(crate) fn fin(&self) -> bool {
        self.flags.contains(TcpFlags::FIN)
    }
    pub(crate) fn rst(&self) -> bool {
        self.flags.contains(TcpFlags::RST)
    }
    /// Whether it carries neither data nor a flag that counts in the sequence.
    pub(crate) fn is_bare(&self) -> bool {
        self.payload == 0 && !self.syn() && !self.fin() && !self.rst()
    }
    /// How far it moves the sequence. What a reset carries is a message, not the stream's data
    /// (RFC 9293 section 3.5.3).
    pub(crate) fn sequence_len(&self) -> u64 {
        if self.rst() {
            return 0;
        }
        u64::from(self.payload) + u64::from(self.syn()) + u64::from(self.fin())
    }
}
