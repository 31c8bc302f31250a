//! What the analyser takes from a frame.

use std::net::SocketAddr;

use tcplab_units::Instant;
use tcplab_wire::{SackBlocks, SeqNumber, TcpFlags, TcpOption, TcpPacket};

use crate::table::Ends;

/// One TCP packet, numbers as they stand in the header.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with one another")]
pub(crate) struct Packet {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) ends: Ends,
    /// The lower end sent it.
    pub(crate) from_low: bool,
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
    /// The capture kept only a part of the options.
    pub(crate) options_cut: bool,
    /// Somebody wants to be told of this very packet, not only of sums.
    pub(crate) wanted: bool,
}

impl Packet {
    #[inline]
    pub(crate) fn read(tcp: &TcpPacket<'_>, at: Instant, frame: u64, wanted: bool) -> Packet {
        let timestamps = tcp.only_timestamps();
        if timestamps.is_some() || tcp.data_offset() <= 20 {
            return Packet::without_options(tcp, at, frame, wanted, timestamps);
        }
        let mut packet = Packet::without_options(tcp, at, frame, wanted, None);
        packet.take_options(tcp);
        packet
    }

    /// All but the options: written where it will stay, for it is larger than registers.
    #[inline]
    fn without_options(
        tcp: &TcpPacket<'_>,
        at: Instant,
        frame: u64,
        wanted: bool,
        timestamps: Option<(u32, u32)>,
    ) -> Packet {
        let (ends, from_low) = Ends::of(tcp);
        Packet {
            at,
            frame,
            ends,
            from_low,
            seq: tcp.seq(),
            ack: tcp.flags().contains(TcpFlags::ACK).then(|| tcp.ack()),
            flags: tcp.flags(),
            window: tcp.window(),
            payload: tcp.payload_len(),
            mss: None,
            window_scale: None,
            sack_permitted: false,
            timestamps,
            sack: SackBlocks::default(),
            options_cut: !tcp.options_complete(),
            wanted,
        }
    }

    fn take_options(&mut self, tcp: &TcpPacket<'_>) {
        for option in tcp.options() {
            match option {
                TcpOption::Mss(mss) => self.mss = Some(mss),
                // RFC 7323 section 2.3: more than 14 means 14.
                TcpOption::WindowScale(shift) => self.window_scale = Some(shift.min(14)),
                TcpOption::SackPermitted => self.sack_permitted = true,
                TcpOption::Timestamps { value, echo } => self.timestamps = Some((value, echo)),
                TcpOption::Sack(blocks) => self.sack = blocks,
                _ => {}
            }
        }
    }

    /// The end that sent it.
    pub(crate) fn src(&self) -> SocketAddr {
        if self.from_low { self.ends.low() } else { self.ends.high() }
    }
    /// The end it was sent to.
    pub(crate) fn dst(&self) -> SocketAddr {
        if self.from_low { self.ends.high() } else { self.ends.low() }
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
