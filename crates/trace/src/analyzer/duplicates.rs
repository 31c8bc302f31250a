//! Whether a capture holds many frames twice.
//!
//! That is known before frames are told apart by connection, so it depends on no other analysis. A
//! duplicate that this misses, or that is none, changes a share which is far from one in four.

use crate::direction::COPIES_SHARE;
use crate::packet::{Packet, RecentPackets};

/// So many frames are all looked at, and of later ones the first in each period.
const FIRST: u64 = 1 << 12;
const PERIOD: u64 = 1 << 15;
const LOOKED_AT: u64 = 1 << 12;
/// Packets remembered: as many as may pass between a packet and its copy.
const REMEMBERED: usize = 1 << 12;

/// Counts packets that equal an earlier one.
#[derive(Debug)]
pub(super) struct Duplicates {
    recent: RecentPackets,
    count: u64,
    usual: bool,
}

impl Default for Duplicates {
    fn default() -> Duplicates {
        Duplicates { recent: RecentPackets::new(REMEMBERED), count: 0, usual: false }
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
        // What a radio repeats says nothing of the capture.
        if RecentPackets::can_tell(packet) && !packet.radio_retry {
            self.count += u64::from(self.recent.holds(packet));
        }
    }
}
