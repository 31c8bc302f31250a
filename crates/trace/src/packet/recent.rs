//! Packets that a capture holds more than once.

use tcplab_units::{Instant, Span};

use super::Packet;

/// The longest delay of a capture duplicate, between two interfaces or ports.
pub(crate) const AT_ONCE: Span = Span::from_millis(10);
/// Without an identification: no sender retransmits sooner.
pub(crate) const SOONEST: Span = Span::from_millis(1);

/// Numbers of packets as one, as wyhash mixes: multiplied and folded.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xc2b2_ae3d_27d4_eb4f);
    (product >> 64) as u64 ^ product as u64
}

/// The packets captured last, as hashes: each replaces one by chance.
#[derive(Debug)]
pub(crate) struct RecentPackets(Box<[(u64, Instant)]>);

impl RecentPackets {
    /// Remembers about `count`, a power of two of at most 16 bits.
    pub(crate) fn new(count: usize) -> RecentPackets {
        RecentPackets(vec![(0, Instant::ZERO); count].into())
    }

    /// Whether duplicates of it can be told: equal ACKs of a receiver without identifications are
    /// none.
    pub(crate) fn can_tell(packet: &Packet) -> bool {
        packet.ip_id.unwrap_or(0) != 0 || packet.sequence_len() > 0
    }

    /// Whether an equal packet passed at once before; remembers this one.
    pub(crate) fn holds(&mut self, packet: &Packet) -> bool {
        const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
        let id = packet.ip_id.unwrap_or(0);
        let ack = packet.ack.map_or(0, tcplab_wire::SeqNumber::as_u32);
        let clock = packet.timestamps.map_or(0, |(value, _)| value);
        let place = u64::from(packet.seq.as_u32()) << 32 | u64::from(ack);
        let rest = u64::from(id) << 48 ^ u64::from(packet.payload) << 32 ^ u64::from(clock);
        let rest = rest ^ packet.ends.hash() as u64 ^ u64::from(packet.window) << 16;
        let rest = packet.sack.iter().fold(rest, |rest, block| {
            let (left, right) = (block.left.as_u32(), block.right.as_u32());
            (rest ^ u64::from(left) << 32 ^ u64::from(right)).wrapping_mul(ODD[1])
        });
        let mixed = (place.wrapping_mul(ODD[0]) ^ rest).wrapping_mul(ODD[1]);
        // The identification reaches the highest bits alone.
        let slot = (mixed >> 48) as usize % self.0.len();
        let (before, at) = std::mem::replace(&mut self.0[slot], (mixed, packet.at));
        before == mixed && packet.at.since(at) <= if id == 0 { SOONEST } else { AT_ONCE }
    }
}
