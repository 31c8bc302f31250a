//! Packets without data that a capture holds twice.
//!
//! Receivers repeat ACKs, which then differ in nothing but their IP identification. Without one, of
//! two equal ACKs the later is a copy only in a capture that holds many frames twice, and each has
//! one copy: of four equal ones two were sent.

use std::collections::VecDeque;

use tcplab_units::Instant;

use crate::fold::folded;
use crate::packet::{AT_ONCE, Packet, SOONEST, mix};

/// The most packets remembered: those of 10 ms, at one for two full segments at 5 Gbit/s.
const MOST: usize = 1 << 11;

/// The latest packets without data of one sender.
#[derive(Debug, Default)]
pub(super) struct RecentAcks {
    /// All that a copy has in common with a packet, mixed; and when it passed. In order, and no
    /// older than a copy comes late.
    recent: VecDeque<(u64, Instant)>,
}
folded! { RecentAcks { recent } }

impl RecentAcks {
    /// Whether the packet, not yet followed, is a copy; `numbered`: its identification tells it
    /// from other packets.
    pub(super) fn holds(&self, packet: &Packet, numbered: bool) -> bool {
        self.original(packet, numbered).is_some()
    }

    /// Follows a packet.
    pub(super) fn passed(&mut self, packet: &Packet, numbered: bool) {
        let is_old = |&(_, at): &(u64, Instant)| packet.at.since(at) > AT_ONCE;
        while self.recent.front().is_some_and(is_old) || self.recent.len() >= MOST {
            self.recent.pop_front();
        }
        match self.original(packet, numbered) {
            Some(_) if numbered => {}
            Some(place) => drop(self.recent.remove(place)),
            None => self.recent.push_back((mixed(packet), packet.at)),
        }
    }

    fn original(&self, packet: &Packet, numbered: bool) -> Option<usize> {
        let (within, equal) = (if numbered { AT_ONCE } else { SOONEST }, mixed(packet));
        self.recent.iter().position(|&(of, at)| of == equal && packet.at.since(at) <= within)
    }
}

fn mixed(packet: &Packet) -> u64 {
    let number = |number: Option<tcplab_wire::SeqNumber>| {
        number.map_or(0, |number| u64::from(number.as_u32()))
    };
    let (value, echo) = packet.timestamps.unwrap_or_default();
    let numbers = [
        number(Some(packet.seq)) << 32 | number(packet.ack),
        u64::from(value) << 32 | u64::from(echo),
        u64::from(packet.ip_id.unwrap_or(0)) << 32
            | u64::from(packet.window) << 16
            | u64::from(packet.flags.bits()),
    ];
    let blocks = packet.sack.as_slice().iter();
    let blocks = blocks.map(|block| number(Some(block.left)) << 32 | number(Some(block.right)));
    numbers.into_iter().chain(blocks).fold(1, mix)
}
