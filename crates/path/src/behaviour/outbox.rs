//! Where elements put packets.

use std::collections::VecDeque;

use tcplab_units::Instant;

use super::transit::Transit;
use crate::direction::Direction;
use crate::packet::Packet;
use crate::verdict::{Cause, Departure, FIRST_MADE_ID, Fate};

/// Where elements put what leaves them.
#[derive(Debug)]
pub(crate) struct Outbox {
    direction: Direction,
    /// Packets on their way to the next element, in order.
    pub(crate) passed: Vec<Transit>,
    /// Packets that have left the link, in order of time.
    pub(crate) departures: VecDeque<Departure>,
    /// How many packets the link has made itself.
    made: u64,
}

impl Outbox {
    pub(crate) fn new(direction: Direction) -> Outbox {
        Outbox { direction, passed: Vec::new(), departures: VecDeque::new(), made: 0 }
    }
    /// Passes a packet on to the next element.
    pub(crate) fn pass(&mut self, packet: Transit) {
        self.passed.push(packet);
    }
    /// Drops a packet now.
    pub(crate) fn drop(&mut self, now: Instant, packet: Transit, cause: Cause) {
        self.departures.push_back(packet.depart(self.direction, now, Fate::Dropped(cause)));
    }
    /// Takes cross traffic off the path now.
    pub(crate) fn absorb(&mut self, now: Instant, packet: Transit) {
        self.departures.push_back(packet.depart(self.direction, now, Fate::Absorbed));
    }
    /// Hands a packet of the link's own, about the packet `origin`, back to where that came from,
    /// now.
    pub(crate) fn answer(&mut self, now: Instant, origin: u64, bytes: Vec<u8>) {
        let answer = Transit {
            origin: Some(origin),
            ..Transit::new(Packet::new(self.next_id(), bytes), now)
        };
        let back = self.direction.opposite();
        self.departures.push_back(answer.depart(back, now, Fate::Delivered));
    }
    /// Delivers what has passed the last element.
    pub(crate) fn deliver(&mut self, now: Instant) {
        if let [_] = self.passed[..] {
            // The usual case, without the machinery of the others.
            if let Some(packet) = self.passed.pop() {
                self.leave(now, packet);
            }
            return;
        }
        let mut passed = std::mem::take(&mut self.passed);
        for packet in passed.drain(..) {
            self.leave(now, packet);
        }
        self.passed = passed;
    }
    /// Delivers a packet now.
    pub(crate) fn leave(&mut self, now: Instant, packet: Transit) {
        let fate = if packet.is_background() { Fate::Absorbed } else { Fate::Delivered };
        self.departures.push_back(packet.depart(self.direction, now, fate));
    }
    /// The id of the next packet that the link makes itself: even ones on the forward link, odd
    /// ones on the reverse link, so that none is given twice in a trial.
    pub(crate) fn next_id(&mut self) -> u64 {
        let id = FIRST_MADE_ID + 2 * self.made + u64::from(self.direction == Direction::Reverse);
        self.made += 1;
        id
    }
    /// Lets a packet that the bottleneck has sent go on; cross traffic ends there.
    pub(crate) fn hand_on(&mut self, now: Instant, packet: Transit) {
        if packet.is_background() {
            self.absorb(now, packet);
        } else {
            self.pass(packet);
        }
    }
}
