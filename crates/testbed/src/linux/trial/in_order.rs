//! Packets that several processors saw, put in the order of their times.
//!
//! A processor takes a packet's place in the ring and its time one after the other, so two of them
//! may take the times in another order than the places. A packet waits here until those that were
//! seen before it have come to the ring.

use std::ops::Range;

use tcplab_units::Instant;

/// While this many bytes wait, packets are left in the ring: 10 ms at 25 Gbit/s, if captures keep
/// whole packets.
const MOST: usize = 32 << 20;

/// Packets that wait, with what is known of each.
#[derive(Debug)]
pub(super) struct InOrder<T> {
    waiting: Vec<Waiting<T>>,
    bytes: Vec<u8>,
    /// Scratch: the bytes of those that wait on.
    kept: Vec<u8>,
}

#[derive(Debug)]
struct Waiting<T> {
    at: Instant,
    known: T,
    bytes: Range<usize>,
}

impl<T> InOrder<T> {
    pub(super) fn new() -> InOrder<T> {
        InOrder { waiting: Vec::new(), bytes: Vec::new(), kept: Vec::new() }
    }

    /// Whether another packet may be put here.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.len() < MOST
    }

    /// Keeps a packet that was seen at `at`.
    pub(super) fn put(&mut self, at: Instant, known: T, packet: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(packet);
        self.waiting.push(Waiting { at, known, bytes: from..self.bytes.len() });
    }

    /// Hands on those seen until `until`, the oldest first, as far as `take` has room for them.
    /// Whether it had room for all.
    pub(super) fn hand_on(
        &mut self,
        until: Instant,
        mut take: impl FnMut(Instant, &T, &[u8]) -> bool,
    ) -> bool {
        self.waiting.sort_by_key(|packet| packet.at);
        let due = self.waiting.partition_point(|packet| packet.at <= until);
        let refused = self.waiting[..due]
            .iter()
            .position(|it| !take(it.at, &it.known, &self.bytes[it.bytes.clone()]));
        self.waiting.drain(..refused.unwrap_or(due));
        self.kept.clear();
        for packet in &mut self.waiting {
            let from = self.kept.len();
            self.kept.extend_from_slice(&self.bytes[packet.bytes.clone()]);
            packet.bytes = from..self.kept.len();
        }
        std::mem::swap(&mut self.bytes, &mut self.kept);
        refused.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// Those handed on, while there is room for `room`.
    fn handed_on(packets: &mut InOrder<char>, until: u64, room: usize) -> (String, bool) {
        let mut taken = String::new();
        let all = packets.hand_on(at(until), |when, name, bytes| {
            assert_eq!(bytes, [when.as_nanos() as u8; 3]);
            let is_room = taken.len() < room;
            taken.extend(Some(*name).filter(|_| is_room));
            is_room
        });
        (taken, all)
    }

    #[test]
    fn packets_come_in_order_of_their_times_once_those_before_them_are_here() {
        let mut packets = InOrder::new();
        for (when, name) in [(10, 'a'), (30, 'd'), (20, 'b'), (20, 'c'), (40, 'f')] {
            packets.put(at(when), name, &[when as u8; 3]);
        }
        assert_eq!(handed_on(&mut packets, 29, 9), ("abc".into(), true));
        packets.put(at(35), 'e', &[35; 3]);
        assert_eq!(handed_on(&mut packets, 50, 2), ("de".into(), false));
        assert_eq!(handed_on(&mut packets, 50, 2), ("f".into(), true));
        assert_eq!(handed_on(&mut packets, 50, 2), (String::new(), true));
    }

    #[test]
    fn there_is_no_room_for_more_than_a_bounded_number_of_bytes() {
        let mut packets = InOrder::new();
        let large = vec![0; 1 << 20];
        let count = (0..).take_while(|_| {
            let has_room = packets.has_room();
            packets.put(Instant::ZERO, (), &large);
            has_room
        });
        assert_eq!(count.count(), 32);
        assert!(packets.hand_on(Instant::ZERO, |_, (), _| true) && packets.has_room());
    }
}
