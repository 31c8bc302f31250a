//! What one sender sent before its latest packets, where a capture holds packets more than once.
//!
//! Between a packet and its copy lies what passed in the time of a queue: of a fast connection,
//! hundreds of packets.

use std::collections::VecDeque;

use tcplab_units::Instant;

use super::passed_packet::PassedPacket;
use super::recent_acks::RecentAcks;
use crate::fold::folded;
use crate::packet::AT_ONCE;

/// The most packets remembered: those of 10 ms at 5 Gbit/s.
const MOST: usize = 1 << 12;

#[derive(Debug, Default)]
pub(super) struct EarlierPackets {
    /// With data, no older than a copy comes late; in order.
    data: VecDeque<PassedPacket>,
    /// Without data.
    pub(super) acks: RecentAcks,
}
folded! { EarlierPackets { data, acks } }

impl EarlierPackets {
    /// Remembers a packet, or an empty place, at the time of a later one.
    pub(super) fn add(&mut self, packet: PassedPacket, now: Instant) {
        let is_old = |first: &PassedPacket| now.since(first.stamp.at) > AT_ONCE;
        while self.data.front().is_some_and(is_old) || self.data.len() >= MOST {
            self.data.pop_front();
        }
        if packet.stamp.frame > 0 && !is_old(&packet) {
            self.data.push_back(packet);
        }
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = &PassedPacket> {
        self.data.iter().rev()
    }
}
