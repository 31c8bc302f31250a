//! The most common link in one piece: a constant-rate bottleneck with a drop-tail queue, and a
//! delay.
//!
//! The verdict on a packet is known on arrival: whether it fits into the queue, when it is sent,
//! and when it arrives. So it is stored once and removed once. Verdicts are identical to those of
//! the separate elements.

use std::collections::VecDeque;

use tcplab_units::{Bytes, Instant, Span};

use super::plan::{ElementPlan, LinkPlan};
use crate::behaviour::{Outbox, Transit};
use crate::bottleneck::{ServerPlan, Supply, work};
use crate::elements::DelaySpec;
use crate::queue::{QueueLimit, QueuePlan};
use crate::schedule::Schedule;
use crate::{Cause, Transmission};

/// The link at work.
#[derive(Debug)]
pub(crate) struct Conveyor {
    limit: QueueLimit,
    supply: Supply,
    delay: Span,
    /// In the order in which they came and leave: those under way, the one being sent, and those
    /// that wait.
    packets: VecDeque<Riding>,
    /// How many of them have been sent.
    sent: usize,
    /// What those that wait come to.
    waiting: Bytes,
}

/// A packet, and when it arrives.
#[derive(Debug)]
struct Riding {
    packet: Transit,
    ended: Instant,
    due: Instant,
}

impl Conveyor {
    /// The link of a plan, if it is of this kind.
    pub(crate) fn of(plan: &LinkPlan) -> Option<Conveyor> {
        let [ElementPlan::Bottleneck(bottleneck), ElementPlan::Delay(delay)] = &plan.elements[..]
        else {
            return None;
        };
        let (ServerPlan::Rate(rate), QueuePlan::DropTail(limit)) =
            (&bottleneck.server, &bottleneck.queue)
        else {
            return None;
        };
        let (DelaySpec::Constant(delay), None) = (&delay.delay, &delay.jitter) else { return None };
        let steady = Schedule::steady(*rate);
        Some(Conveyor {
            limit: *limit,
            supply: Supply::new(steady),
            delay: *delay,
            packets: VecDeque::new(),
            sent: 0,
            waiting: Bytes::ZERO,
        })
    }

    /// Takes a packet that arrives now, or drops it.
    pub(crate) fn accept(&mut self, now: Instant, mut packet: Transit, out: &mut Outbox) {
        let size = packet.packet.size();
        let began = match self.packets.back() {
            // One is being sent.
            Some(last) if self.sent < self.packets.len() => {
                let waiting = self.packets.len() - self.sent - 1;
                if !self.limit.has_room(waiting, self.waiting, size) {
                    let packets = u32::try_from(waiting).unwrap_or(u32::MAX);
                    let full = Cause::QueueFull { packets, bytes: self.waiting };
                    return out.drop(now, packet, full);
                }
                self.waiting += size;
                last.ended
            }
            _ => {
                self.supply.go_to(now);
                now
            }
        };
        self.supply.spend(work(size));
        let ended = self.supply.whole();
        packet.transmission = Some(Transmission { queued: now, began, ended });
        self.packets.push_back(Riding { packet, ended, due: ended + self.delay });
    }

    /// When the next one leaves.
    pub(crate) fn poll_at(&self) -> Option<Instant> {
        self.packets.front().map(|first| first.due)
    }

    /// Removes the packets sent until `now`. Returns when the last one was sent.
    pub(crate) fn send(&mut self, now: Instant) -> Option<Instant> {
        let mut last = None;
        while let Some(riding) = self.packets.get(self.sent)
            && riding.ended <= now
        {
            last = Some(riding.ended);
            self.sent += 1;
            if let Some(next) = self.packets.get(self.sent) {
                self.waiting = self.waiting - next.packet.packet.size();
            }
        }
        last
    }

    /// Lets the next one leave, which has been sent.
    pub(crate) fn leave(&mut self, out: &mut Outbox) {
        if let Some(Riding { packet, due, .. }) = self.packets.pop_front() {
            self.sent -= 1;
            out.leave(due, packet);
        }
    }

    /// Its packets, next to leave first.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Transit> {
        self.packets.iter().map(|riding| &riding.packet)
    }

    /// Its packets and when each leaves: nothing that comes later changes that.
    pub(crate) fn settled(&self) -> impl Iterator<Item = (Instant, &Transit)> {
        self.packets.iter().map(|riding| (riding.due, &riding.packet))
    }

    /// Lets go of all it holds. What still waits has not been sent.
    pub(crate) fn release(&mut self, into: &mut Vec<Transit>) {
        for (index, Riding { mut packet, .. }) in self.packets.drain(..).enumerate() {
            if index > self.sent {
                packet.transmission = None;
            }
            into.push(packet);
        }
        (self.sent, self.waiting) = (0, Bytes::ZERO);
    }
}
