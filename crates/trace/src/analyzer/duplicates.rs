//! Whether a capture holds many frames twice.
//!
//! That is known before frames are told apart by connection, so it depends on no other analysis. A
//! duplicate that this misses, or that is none, changes a share which is far from one in four.

use tcplab_units::{Instant, Span};

use crate::direction::COPIES_SHARE;
use crate::packet::Packet;

/// So many frames are all looked at, and of later ones the first in each period.
const FIRST: u64 = 1 << 12;
const PERIOD: u64 = 1 << 10;
const LOOKED_AT: u64 = 1 << 7;
/// Packets remembered, a power of two: each replaces one by chance.
const REMEMBERED: usize = 1 << 7;
/// The longest delay of a capture duplicate, between two interfaces or ports.
const AT_ONCE: Span = Span::from_millis(10);
/// Without an identification: no sender retransmits sooner.
const SOONEST: Span = Span::from_millis(1);

/// Counts packets that equal an earlier one.
#[derive(Debug)]
pub(super) struct Duplicates {
    recent: Box<[(u64, Instant)]>,
    count: u64,
    usual: bool,
}

impl Default for Duplicates {
    fn default() -> Duplicates {
        Duplicates { recent: vec![(0, Instant::ZERO); REMEMBERED].into(), count: 0, usual: false }
    }
}

impl Duplicates {
    /// Looks at a packet; whether many frames before it were duplicates, of all kinds of packets.
    #[inline(always)]
    pub(super) fn are_usual(&mut self, packet: &Packet) -> bool {
        if packet.frame <= FIRST || packet.frame % PERIOD < LOOKED_AT {
            self.look_at(packet);
        }
        self.usual
    }

    #[inline(never)]
    fn look_at(&mut self, packet: &Packet) {
        let later = packet.frame.saturating_sub(FIRST);
        let looked_at = later / PERIOD * LOOKED_AT + (later % PERIOD).min(LOOKED_AT);
        self.usual = (self.count + 1) * COPIES_SHARE >= packet.frame.min(FIRST) + looked_at;
        let id = packet.ip_id.unwrap_or(0);
        // Equal ACKs of a receiver without identifications are no duplicates.
        if id != 0 || packet.sequence_len() > 0 {
            self.count += u64::from(self.holds(packet, id));
        }
    }

    /// Whether an equal packet passed at once before; remembers this one.
    fn holds(&mut self, packet: &Packet, id: u16) -> bool {
        const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
        let ack = packet.ack.map_or(0, tcplab_wire::SeqNumber::as_u32);
        let clock = packet.timestamps.map_or(0, |(value, _)| value);
        let place = u64::from(packet.seq.as_u32()) << 32 | u64::from(ack);
        let rest = u64::from(id) << 48 ^ u64::from(packet.payload) << 32 ^ u64::from(clock);
        let rest = rest ^ packet.ends.hash() as u64;
        let mixed = (place.wrapping_mul(ODD[0]) ^ rest).wrapping_mul(ODD[1]);
        let slot = &mut self.recent[(mixed >> 32) as usize % REMEMBERED];
        let (before, at) = std::mem::replace(slot, (mixed, packet.at));
        before == mixed && packet.at.since(at) <= if id == 0 { SOONEST } else { AT_ONCE }
    }
}
