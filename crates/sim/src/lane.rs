//! One direction of the path, between the stacks.

use std::collections::VecDeque;

use tcplab_path::{Direction, Link, LinkPlan, Packet, Verdict};
use tcplab_stack::Segment;
use tcplab_units::Instant;

use crate::packets::{self, Address, Marking};

/// A link, and the segments on it: they are serialised only if the link reads packets.
#[derive(Debug)]
pub(crate) struct Lane {
    link: Link,
    reads: bool,
    /// Segments that were not serialised, with the client's port, in the order of their ids; `None`
    /// for one that has left.
    kept: VecDeque<(u64, Option<Kept>)>,
}

/// A segment, with the client's port.
type Kept = (u16, Box<Segment>);

/// A packet that left a link, with its verdict.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) verdict: Verdict,
    pub(crate) what: Carried,
}

/// A packet that left a link, delivered or not.
#[derive(Debug)]
pub(crate) enum Carried {
    /// The unchanged segment, of the connection with this client port.
    Untouched(u16, Box<Segment>),
    /// A packet that the link saw, and may have changed or made.
    Bytes(Vec<u8>),
}

impl Lane {
    /// The link of `plan`; `seed` is the trial's.
    pub(crate) fn new(plan: &LinkPlan, seed: u64, direction: Direction) -> Lane {
        Lane {
            link: Link::new(plan, seed, direction),
            reads: plan.reads_packets(),
            kept: VecDeque::new(),
        }
    }

    /// A segment goes onto the link, from the first of `ends` to the second, of the connection of
    /// the client's `port`.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        id: u64,
        (port, segment): Kept,
        marking: Marking,
        ends: [Address; 2],
    ) {
        let packet = if self.reads {
            let mut bytes = Vec::new();
            packets::write(&segment, ends, marking, &mut bytes);
            Packet::new(id, bytes)
        } else {
            let size = packets::size(&segment);
            self.kept.push_back((id, Some((port, segment))));
            Packet::of_size(id, size)
        };
        self.link.handle_packet(now, packet);
    }

    /// When something may next come out of it.
    pub(crate) fn poll_at(&self) -> Option<Instant> {
        self.link.next_departure()
    }

    /// Whether no packet of an endpoint is on it.
    pub(crate) fn is_empty(&self) -> bool {
        self.link.in_flight().next().is_none()
    }

    /// The next packet that left until `now`.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Out> {
        let departure = self.link.poll(now)?;
        let what = self.carried(departure.verdict.id, departure.packet);
        Some(Out { verdict: departure.verdict, what })
    }

    /// The trial is over: what is still on the link.
    pub(crate) fn drain(&mut self, now: Instant) -> Vec<Verdict> {
        self.kept.clear();
        self.link.drain(now).into_iter().map(|departure| departure.verdict).collect()
    }

    fn carried(&mut self, id: u64, packet: Packet) -> Carried {
        let at = match self.kept.front() {
            // Nearly always.
            Some((front, _)) if *front == id => Ok(0),
            _ => self.kept.binary_search_by_key(&id, |(id, _)| *id),
        };
        let segment = at.ok().and_then(|at| self.kept[at].1.take());
        while self.kept.front().is_some_and(|(_, segment)| segment.is_none()) {
            self.kept.pop_front();
        }
        match segment {
            Some((port, segment)) => Carried::Untouched(port, segment),
            None => Carried::Bytes(packet.bytes),
        }
    }
}
