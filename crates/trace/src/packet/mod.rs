//! The fields of a TCP packet that the analyser uses.

mod ends;
mod folded;
mod recent;
mod tree;

use std::net::SocketAddr;

use tcplab_units::{Bytes, Instant, Offset};
use tcplab_wire::{
    Anomaly, ChecksumState, Ecn, SackBlocks, SeqNumber, TcpFlags, TcpOption, TcpPacket,
};

use crate::UnusualPacket;
pub(crate) use ends::Ends;
pub(crate) use recent::{AT_ONCE, RecentPackets, SOONEST, mix};
pub(crate) use tree::Tree;

/// The bits of SYN, FIN and RST.
const CONTROL: u16 = TcpFlags::SYN.bits() | TcpFlags::FIN.bits() | TcpFlags::RST.bits();
/// These and URG: flags of packets that the fast path does not take.
const REMARKABLE: u16 = CONTROL | TcpFlags::URG.bits();
/// Experimental options (RFC 6994), and the identifier of Fast Open (RFC 7413 section 7).
const EXPERIMENT: u8 = 254;
const FAST_OPEN_EXPERIMENT: [u8; 2] = [0xf9, 0x89];

/// One TCP packet, numbers as in the header.
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
    /// Bytes of data, by the IP header; of a SYN those in its frame.
    pub(crate) payload: u32,
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    /// Value and echo reply.
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) sack: SackBlocks,
    /// The length of a fast open cookie (RFC 7413), 0 where one is asked for.
    pub(crate) fast_open: Option<u8>,
    /// What its option of multipath TCP says, if it carries one (RFC 8684).
    pub(crate) multipath: Option<MultipathOption>,
    /// The checksum state; checked only for SYN, FIN and RST.
    pub(crate) checksum: ChecksumState,
    pub(crate) ip_id: Option<u16>,
    pub(crate) ttl: u8,
    /// Many frames of this capture are duplicated.
    pub(crate) copies_usual: bool,
    /// A radio sent the frame again, as no acknowledgement of the link had come (IEEE 802.11).
    pub(crate) radio_retry: bool,
    /// Its time is of a millisecond or more.
    pub(crate) coarse: bool,
    /// The capture truncated the options.
    pub(crate) options_cut: bool,
    /// Marked congestion experienced (RFC 3168 section 5).
    pub(crate) congestion_marked: bool,
    /// A sink wants this packet, not only sums.
    pub(crate) wanted: bool,
    /// An ACK with no option but timestamps, unmarked, not wanted by a sink: nearly every packet.
    pub(crate) plain: bool,
}
impl Packet {
    #[inline(always)]
    pub(crate) fn read(tcp: &TcpPacket<'_>, at: Instant, frame: u64, wanted: bool) -> Packet {
        let timestamps = tcp.only_timestamps();
        if timestamps.is_some() || tcp.data_offset() <= 20 {
            return Packet::without_options(tcp, at, frame, wanted, timestamps);
        }
        Packet::with_options(*tcp, at, frame, wanted)
    }

    #[inline(never)]
    fn with_options(tcp: TcpPacket<'_>, at: Instant, frame: u64, wanted: bool) -> Packet {
        let mut packet = Packet::without_options(&tcp, at, frame, wanted, None);
        packet.plain = false;
        packet.take_options(&tcp);
        packet
    }

    /// Everything but the options; inlined, since the struct is larger than registers.
    #[inline(always)]
    fn without_options(
        tcp: &TcpPacket<'_>,
        at: Instant,
        frame: u64,
        wanted: bool,
        timestamps: Option<(u32, u32)>,
    ) -> Packet {
        let (ends, from_low) = Ends::of(tcp);
        let (flags, congestion_marked) = (tcp.flags(), tcp.ecn() == Ecn::Ce);
        let options_cut = !tcp.options_complete();
        let marked = congestion_marked || options_cut || flags.bits() & REMARKABLE != 0;
        let is_ack = flags.contains(TcpFlags::ACK);
        Packet {
            at,
            frame,
            ends,
            from_low,
            seq: tcp.seq(),
            ack: is_ack.then(|| tcp.ack()),
            flags,
            window: tcp.window(),
            payload: if flags.contains(TcpFlags::SYN) {
                payload_in_frame(*tcp)
            } else {
                tcp.payload_len()
            },
            mss: None,
            window_scale: None,
            sack_permitted: false,
            timestamps,
            sack: SackBlocks::default(),
            fast_open: None,
            multipath: None,
            checksum: if flags.bits() & CONTROL == 0 {
                ChecksumState::Unknown
            } else {
                checksum(*tcp)
            },
            ip_id: tcp.ip().id(),
            ttl: tcp.ip().ttl(),
            copies_usual: false,
            radio_retry: false,
            coarse: false,
            options_cut,
            congestion_marked,
            wanted,
            plain: is_ack && !marked,
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
                TcpOption::FastOpen(cookie) => self.fast_open = cookie_len(cookie),
                TcpOption::Unknown { kind: EXPERIMENT, bytes } => {
                    if let Some(cookie) = bytes.strip_prefix(&FAST_OPEN_EXPERIMENT) {
                        self.fast_open = cookie_len(cookie);
                    }
                }
                TcpOption::Mptcp(body) => {
                    self.multipath = self.multipath.max(Some(MultipathOption::of(body)));
                }
                _ => {}
            }
        }
    }

    pub(crate) fn src(&self) -> SocketAddr {
        if self.from_low { self.ends.low() } else { self.ends.high() }
    }
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
    /// Whether SYN, FIN or RST is set.
    pub(crate) fn is_control(&self) -> bool {
        self.flags.bits() & CONTROL != 0
    }
    pub(crate) fn end(&self) -> SeqNumber {
        self.seq.advanced_by(self.sequence_len() as u32)
    }
    /// The timestamp that it echoes (RFC 7323 section 3.2): 0 stands for none, as in a SYN and in
    /// packets of stacks that copy an empty field.
    #[inline]
    pub(crate) fn echo(&self) -> Option<u32> {
        self.timestamps.map(|(_, echo)| echo).filter(|echo| *echo != 0 && self.ack.is_some())
    }
    /// Whether it takes no sequence space.
    pub(crate) fn is_bare(&self) -> bool {
        self.payload == 0 && !self.syn() && !self.fin() && !self.rst()
    }
    /// Its sequence space. Data in a reset are a message, not stream (RFC 9293 section 3.5.3).
    pub(crate) fn sequence_len(&self) -> u64 {
        if self.rst() {
            return 0;
        }
        u64::from(self.payload) + u64::from(self.syn()) + u64::from(self.fin())
    }

    /// As sinks get it that show every packet; `place`: in the stream of its sender.
    #[cold]
    pub(crate) fn unusual(&self, place: Option<Offset>) -> UnusualPacket {
        let &Packet { at, frame, flags, payload, .. } = self;
        UnusualPacket { at, frame, flags, place, payload: Bytes::new(payload.into()) }
    }
}

/// What an option of multipath TCP says, as far as it ends something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MultipathOption {
    Other,
    /// The sender gives up an address (RFC 8684 section 3.4.2).
    RemoveAddress,
    /// The sender gives up the whole connection (RFC 8684 section 3.5).
    FastClose,
}

impl MultipathOption {
    /// The subtype stands in the first four bits (RFC 8684 section 8.1, table 4).
    fn of(body: &[u8]) -> MultipathOption {
        match body.first().map(|first| first >> 4) {
            Some(4) => MultipathOption::RemoveAddress,
            Some(7) => MultipathOption::FastClose,
            _ => MultipathOption::Other,
        }
    }
}

/// The data of a SYN, which has seldom any: no more than the frame had, if the IP header claims
/// more. (Of other segments the header is right, and the frame was cut by who wrote the capture.)
#[cold]
fn payload_in_frame(tcp: TcpPacket<'_>) -> u32 {
    let beyond = match tcp.anomaly() {
        Some(Anomaly::IpBeyondFrame { claimed, available }) => claimed - available,
        _ => 0,
    };
    tcp.payload_len().saturating_sub(beyond)
}

#[cold]
fn checksum(tcp: TcpPacket<'_>) -> ChecksumState {
    tcp.checksum_state()
}

/// The length of a cookie: an even number of bytes, 4 to 16, or none (RFC 7413 section 4.1.1).
fn cookie_len(cookie: &[u8]) -> Option<u8> {
    let len = cookie.len();
    (len == 0 || ((4..=16).contains(&len) && len.is_multiple_of(2))).then_some(len as u8)
}
