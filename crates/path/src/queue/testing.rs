//! A discipline under test: the test decides when packets enter and leave.

use std::net::Ipv4Addr;

use tcplab_units::{Instant, Rng};
use tcplab_wire::{Ecn, IpRepr, Ipv4Repr, TcpRepr};

use super::Discipline;
use crate::behaviour::{Outbox, Transit};
pub(super) use crate::testing::ms;
use crate::{Cause, Direction, Fate, Packet, Verdict};

pub(super) struct Hands<D> {
    pub(super) queue: D,
    out: Outbox,
}

impl<D: Discipline> Hands<D> {
    pub(super) fn new(queue: D) -> Hands<D> {
        Hands { queue, out: Outbox::new(Direction::Forward) }
    }
    pub(super) fn push(&mut self, now: Instant, packet: Packet) {
        self.queue.push(now, Transit::new(packet, now), &mut self.out);
    }
    /// One that comes while nothing waits and nothing is being sent.
    pub(super) fn pass(&mut self, now: Instant, packet: Packet) -> Option<Transit> {
        let passed = self.queue.pass(now, Transit::new(packet, now), &mut self.out);
        passed.map(|(_, packet)| packet)
    }
    pub(super) fn pop(&mut self, now: Instant) -> Option<Transit> {
        self.queue.pop(now, &mut self.out).map(|(_, packet)| packet)
    }
    pub(super) fn pop_id(&mut self, now: Instant) -> Option<u64> {
        self.pop(now).map(|transit| transit.packet.id)
    }
    /// The packets dropped since the last call.
    pub(super) fn dropped(&mut self) -> Vec<Verdict> {
        self.out.departures.drain(..).map(|departure| departure.verdict).collect()
    }
    pub(super) fn dropped_ids(&mut self) -> Vec<u64> {
        self.dropped().into_iter().map(|verdict| verdict.id).collect()
    }
    pub(super) fn held(&self) -> Vec<u64> {
        self.queue.held().map(|transit| transit.packet.id).collect()
    }
}

pub(super) fn rng() -> Rng {
    Rng::new(1, "forward/bottleneck/1")
}

/// A packet of the TCP flow from that port, of so many bytes.
pub(super) fn tcp(id: u64, src_port: u16, size: usize, ecn: Ecn) -> Packet {
    let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let ip = IpRepr::from(Ipv4Repr { src, dst, id: 1, ttl: 64, ecn });
    let header = TcpRepr { src_port, dst_port: 80, ..TcpRepr::default() };
    let bytes = header.to_packet(&ip, &vec![0; size - 40]);
    assert_eq!(bytes.len(), size);
    Packet::new(id, bytes)
}

/// A full-sized packet that must not be marked.
pub(super) fn plain(id: u64) -> Packet {
    Packet::new(id, vec![0; 1500])
}

/// A full-sized packet that may be marked.
pub(super) fn ect(id: u64) -> Packet {
    tcp(id, 1000, 1500, Ecn::Ect0)
}

pub(super) fn cause(verdict: &Verdict) -> Cause {
    match verdict.fate {
        Fate::Dropped(cause) => cause,
        other => panic!("not dropped: {other}"),
    }
}
