//! Packets as both capture points recognise them.

use tcplab_units::Bytes;
use tcplab_wire::TcpFlags;

use crate::packet::Packet;

/// The identity of a segment, without its IP identification.
///
/// Without PSH and ECN flags: offloading moves PSH, and routers mark packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) seq: u32,
    pub(crate) len: u32,
    control: u16,
    /// Acknowledgement, window, timestamps and SACK blocks, mixed.
    rest: u64,
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks of a packet")]
pub(crate) struct WireSegment {
    pub(crate) key: Key,
    /// None where it is not known: in the large piece that it was cut out of.
    pub(crate) id: Option<u16>,
    /// Nanoseconds of the time that both captures share, roughly.
    pub(crate) at: i64,
    pub(crate) frame: u64,
    /// Its packet was no larger than a segment by the handshake: it left the sender in one piece.
    pub(crate) is_one: bool,
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

/// What both captures must have in common of a header; options only if both have them whole.
pub(crate) fn rest(packet: &Packet, with_options: bool) -> u64 {
    let window = u64::from(packet.window);
    let mut mixed = mix(window, packet.ack.map_or(1 << 32, |ack| u64::from(ack.as_u32())));
    if with_options {
        if let Some((value, echo)) = packet.timestamps {
            mixed = mix(mixed, u64::from(value) << 32 | u64::from(echo));
        }
        for block in packet.sack.as_slice() {
            mixed =
                mix(mixed, u64::from(block.left.as_u32()) << 32 | u64::from(block.right.as_u32()));
        }
    }
    mixed
}

/// As wyhash mixes: multiplied and folded.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xc2b2_ae3d_27d4_eb4f);
    (product >> 64) as u64 ^ product as u64
}

/// The segments of a packet, cut to `segment` bytes of data; `is_one`, see [`WireSegment`].
pub(crate) fn pieces(
    packet: &Packet,
    at: i64,
    segment: u32,
    is_one: bool,
    with_options: bool,
) -> impl Iterator<Item = WireSegment> {
    let rest = rest(packet, with_options);
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
/// segment sizes is `mss` (RFC 6691: options come out of it).
pub(crate) fn full_segment(mss: u16, packet: &Packet) -> u32 {
    let stamps = if packet.timestamps.is_some() { 12 } else { 0 };
    let sack = match packet.sack.len() as u32 {
        0 => 0,
        blocks => 4 + 8 * blocks,
    };
    u32::from(mss).saturating_sub(stamps + sack).max(1)
}

impl Key {
    pub(crate) fn payload(&self) -> Bytes {
        Bytes::new(self.len.into())
    }
}
