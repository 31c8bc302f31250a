//! A packet on the link.

use tcplab_units::Instant;

use crate::direction::Direction;
use crate::packet::Packet;
use crate::verdict::{Departure, Fate, Transmission, Verdict};

/// A packet on its way, with what its verdict will need.
#[derive(Debug)]
pub(crate) struct Transit {
    pub(crate) packet: Packet,
    pub(crate) entered: Instant,
    pub(crate) transmission: Option<Transmission>,
    /// See [`Verdict::origin`].
    pub(crate) origin: Option<u64>,
    /// See [`Verdict::marked`].
    pub(crate) marked: bool,
    /// See [`Verdict::corrupted`].
    pub(crate) corrupted: Option<u32>,
    /// See [`Verdict::fragment`].
    pub(crate) fragment: Option<u16>,
    /// Of cross traffic, which flow of the link it is of, from 1. It leaves the path behind the
    /// bottleneck.
    pub(crate) cross_flow: Option<u32>,
}

impl Transit {
    /// A packet that enters the link now.
    pub(crate) fn new(packet: Packet, now: Instant) -> Transit {
        Transit {
            packet,
            entered: now,
            transmission: None,
            origin: None,
            marked: false,
            corrupted: None,
            fragment: None,
            cross_flow: None,
        }
    }

    /// Whether it is cross traffic.
    pub(crate) fn is_background(&self) -> bool {
        self.cross_flow.is_some()
    }

    /// A copy of it with its own id, at the same place.
    pub(crate) fn copy(&self, id: u64) -> Transit {
        let packet = if self.packet.bytes.is_empty() {
            Packet::of_size(id, self.packet.size())
        } else {
            Packet::new(id, self.packet.bytes.clone())
        };
        let origin = Some(self.origin.unwrap_or(self.packet.id));
        Transit { packet, origin, ..*self }
    }

    /// Ends its passage with a fate.
    pub(crate) fn depart(self, direction: Direction, left: Instant, fate: Fate) -> Departure {
        let Transit { packet, entered, transmission, origin, marked, .. } = self;
        let (id, size) = (packet.id, packet.size());
        let verdict = Verdict {
            id,
            direction,
            size,
            entered,
            transmission,
            left,
            fate,
            origin,
            marked,
            corrupted: self.corrupted,
            fragment: self.fragment,
            second_path: false,
        };
        Departure { packet, verdict }
    }
}
