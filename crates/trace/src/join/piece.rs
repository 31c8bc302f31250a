//! Packets as both capture points recognise them.

use tcplab_units::Bytes;
use tcplab_wire::TcpFlags;

use super::headers::Headers;
use crate::packet::{Packet, mix};

/// The identity of a segment, without its IP identification.
///
/// Without PSH and ECN flags: offloading moves PSH, and routers mark packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) seq: u32,
    pub(crate) len: u32,
    control: u16,
    /// Acknowledgement, and those of window, timestamps and SACK blocks that devices between the
    /// captures leave alone, mixed.
    rest: u64,
}

/// What is left alone between the captures, so that it distinguishes packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) window: bool,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks of a packet")]
pub(crate) struct WireSegment {
    pub(crate) key: Key,
    pub(crate) headers: Headers,
    /// None where it is not known: in the large piece that it was cut out of.
    pub(crate) id: Option<u16>,
    /// Nanoseconds of the time that both captures share, roughly.
    pub(crate) at: i64,
    pub(crate) frame: u64,
    /// Its packet was no larger than a segment by the handshake: it left the sender in one piece.
    pub(crate) is_one: bool,
    /// No data of its packet came before it.
    pub(crate) is_first: bool,
    pub(crate) ack: Option<u32>,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
}

/// No packet is cut into more: the largest that Linux hands to a capture point, 512 kB
/// (`GSO_MAX_SIZE`), holds as many segments of the size that all must take (536 bytes, RFC 9293
/// section 3.7.1).
const MOST: u32 = 1_024;

const SYN: u16 = TcpFlags::SYN.bits();
const FIN: u16 = TcpFlags::FIN.bits();
const RST: u16 = TcpFlags::RST.bits();

impl Identity {
    pub(crate) const WHOLE: Identity = Identity { window: true, timestamps: true, sack: true };

    /// What both captures must have in common of a header. Of a SYN the number is enough, and
    /// devices change its options most.
    fn rest(self, packet: &Packet) -> u64 {
        let mut mixed = acknowledged(packet);
        if packet.syn() {
            return mixed;
        }
        if self.window {
            mixed = mix(u64::from(packet.window), mixed);
        }
        if let Some((value, echo)) = packet.timestamps.filter(|_| self.timestamps) {
            mixed = mix(mixed, u64::from(value) << 32 | u64::from(echo));
        }
        for block in packet.sack.as_slice().iter().filter(|_| self.sack) {
            mixed =
                mix(mixed, u64::from(block.left.as_u32()) << 32 | u64::from(block.right.as_u32()));
        }
        mixed
    }
}

/// The acknowledgement, or that there is none.
pub(crate) fn acknowledged(packet: &Packet) -> u64 {
    packet.ack.map_or(1 << 32, |ack| u64::from(ack.as_u32()))
}

/// The segments of a packet, cut to `segment` bytes of data; `is_one`, see [`WireSegment`].
pub(crate) fn pieces(
    packet: &Packet,
    headers: Headers,
    at: i64,
    segment: u32,
    is_one: bool,
    identity: Identity,
) -> impl Iterator<Item = WireSegment> {
    let rest = identity.rest(packet);
    let segment = segment.max(packet.payload.div_ceil(MOST)).max(1);
    let count = packet.payload.div_ceil(segment).max(1);
    let whole = *packet;
    (0..count).map(move |index| {
        let from = index * segment;
        let len = (whole.payload - from).min(segment);
        let (first, last) = (index == 0, index + 1 == count);
        let (syn, fin) = (whole.syn() && first, whole.fin() && last);
        let control = if syn { SYN } else { 0 }
            | if fin { FIN } else { 0 }
            | if whole.rst() { RST } else { 0 };
        let seq = whole.seq.advanced_by(from + u32::from(whole.syn() && !first)).as_u32();
        WireSegment {
            key: Key { seq, len, control, rest },
            headers,
            is_first: first,
            id: whole.ip_id.filter(|_| first),
            at,
            frame: whole.frame,
            is_one,
            ack: whole.ack.map(tcplab_wire::SeqNumber::as_u32),
            syn,
            fin,
            rst: whole.rst(),
        }
    })
}

/// The data of a full segment that bears these options, where the smaller one of the handshake's
/// segment sizes is `mss` (RFC 6691: options come out of it). `stripped`: timestamps differ between
/// the captures, so both count them whether they are there or not.
pub(crate) fn full_segment(mss: u16, packet: &Packet, stripped: bool) -> u32 {
    if stripped && packet.payload <= u32::from(mss) {
        return mss.into();
    }
    let stamps = if packet.timestamps.is_some() || stripped { 12 } else { 0 };
    let sack = match packet.sack.len() as u32 {
        0 => 0,
        blocks => 4 + 8 * blocks,
    };
    u32::from(mss).saturating_sub(stamps + sack).max(1)
}

impl Key {
    /// It carries data, SYN or FIN.
    pub(crate) fn takes_room(&self) -> bool {
        self.len > 0 || self.control & (SYN | FIN) != 0
    }
    pub(crate) fn payload(&self) -> Bytes {
        Bytes::new(self.len.into())
    }
}
