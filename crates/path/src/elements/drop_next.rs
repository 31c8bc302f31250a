//! The next data segments are dropped, because an event says so.

use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};
use tcplab_wire::FrameView;

use crate::Cause;
use crate::behaviour::{Behaviour, Outbox, Transit};
use crate::event::Change;

/// Which data segments events drop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropNextPlan {
    /// In order of time; at least one.
    pub events: Vec<DropNextEvent>,
}

/// From some time on, so many data segments are dropped; those of an earlier event first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropNextEvent {
    /// From the world's zero.
    pub at: Span,
    /// How many; above zero.
    pub count: u32,
}

impl DropNextPlan {
    /// None, until [`add`](Self::add).
    pub(crate) fn nothing() -> DropNextPlan {
        DropNextPlan { events: Vec::new() }
    }

    /// Adds an event behind those of its time and before.
    pub(crate) fn add(&mut self, event: DropNextEvent) {
        let index = self.events.partition_point(|other| other.at <= event.at);
        self.events.insert(index, event);
    }

    pub(crate) fn describe(&self) -> String {
        let events = self.events.iter().map(|DropNextEvent { at, count }| match count {
            1 => format!("the next data segment from {at}"),
            _ => format!("the next {count} data segments from {at}"),
        });
        format!("Dropped by event: {}.", events.collect::<Vec<_>>().join("; "))
    }
}

/// The element at work.
#[derive(Debug)]
pub(crate) struct DropNext {
    plan: DropNextPlan,
    /// The event whose turn it is, and how many it has dropped.
    turn: usize,
    dropped: u32,
}

impl DropNext {
    pub(crate) fn new(plan: &DropNextPlan) -> DropNext {
        DropNext { plan: plan.clone(), turn: 0, dropped: 0 }
    }
}

impl Behaviour for DropNext {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        let Some(event) = self.plan.events.get(self.turn) else { return out.pass(packet) };
        if now < Instant::ZERO + event.at || !is_data(&packet.packet.bytes) {
            return out.pass(packet);
        }
        self.dropped += 1;
        let cause = Cause::Event { number: self.turn as u32 + 1, nth: self.dropped };
        if self.dropped == event.count {
            (self.turn, self.dropped) = (self.turn + 1, 0);
        }
        out.drop(now, packet, cause);
    }

    fn change(&mut self, at: Instant, change: Change) {
        let Change::Drop(count) = change else { unreachable!("it drops only") };
        self.plan.add(DropNextEvent { at: at.since(Instant::ZERO), count });
    }
}

/// Whether it is a TCP segment with data.
fn is_data(packet: &[u8]) -> bool {
    FrameView::of_packet(packet).tcp().is_some_and(|tcp| tcp.payload_len() > 0)
}
