//! Controlled delay (RFC 8289): packets that come out after waiting too long for too long are
//! dropped, ever faster, until the wait is short again.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate, Span};

use super::discipline::Discipline;
use super::fifo::{Fifo, Queued};
use super::limit::QueueLimit;
use super::size::{QueueSize, limit_below};
use crate::behaviour::ecn;
use crate::behaviour::{Outbox, Transit};
use crate::fault::Fault;
use crate::{Cause, verdict};

/// Controlled Delay, CoDel (RFC 8289): drops packets, at their turn to be sent, when the wait has
/// been longer than the target for an interval, and then the sooner the more it has dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Codel")]
pub struct CodelSpec {
    /// The size of the queue; when full, arriving packets are dropped. Default: `1000 packets`, as
    /// Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// The target wait; above zero and below the interval. Default: `5 ms` (RFC 8289).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Span>,
    /// How long the wait must exceed the target before the first drop: about the longest expected
    /// RTT. Default: `100 ms` (RFC 8289).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// Whether ECT packets are marked (CE) instead of dropped. Default: false, as Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// ECT packets that waited longer than this are always marked (CE): a threshold for DCTCP.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Span>,
}

/// CoDel, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodelPlan {
    /// How much may wait.
    pub limit: QueueLimit,
    /// When it drops.
    pub control: CodelControl,
}

/// When CoDel drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodelControl {
    /// The wait that may stand.
    pub target: Span,
    /// How long it must be above that; longer than the target.
    pub interval: Span,
    /// Whether it marks instead, where packets allow that.
    pub ecn: bool,
    /// Above which wait it marks in any case.
    pub ce_threshold: Option<Span>,
}

impl CodelSpec {
    pub(super) fn plan(&self, rate: Rate, round_trip: Span) -> Result<CodelPlan, Fault> {
        let limit = self.limit.unwrap_or(QueueSize::Packets(1000));
        Ok(CodelPlan {
            limit: limit_below("codel.limit", limit, rate, round_trip)?,
            control: CodelControl {
                target: self.target.unwrap_or(CodelControl::DEFAULT.target),
                interval: self.interval.unwrap_or(CodelControl::DEFAULT.interval),
                ecn: self.ecn.unwrap_or(false),
                ce_threshold: self.ce_threshold,
            }
            .checked("codel.target")?,
        })
    }
}

impl CodelPlan {
    pub(super) fn describe(&self) -> String {
        let CodelPlan { limit, control } = self;
        format!("CoDel queue {limit}: {control}")
    }
}

impl CodelControl {
    /// RFC 8289: an interval that suits round trips from 10 ms to a second, and a target of a
    /// twentieth of it.
    pub(super) const DEFAULT: CodelControl = CodelControl {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: false,
        ce_threshold: None,
    };

    /// Refuses an impossible target, which is written under that key.
    pub(super) fn checked(self, key: &'static str) -> Result<CodelControl, Fault> {
        let CodelControl { target, interval, .. } = self;
        if target.is_zero() {
            let what = "the target is zero: give a time above zero, such as `5 ms`";
            return Err(Fault::below(key, what));
        }
        if target >= interval {
            let what = format!(
                "the target ({target}) must be shorter than the interval ({interval}), about a \
                 twentieth of it"
            );
            return Err(Fault::below(key, what));
        }
        Ok(self)
    }
}

impl fmt::Display for CodelControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CodelControl { target, interval, ecn, ce_threshold } = self;
        let verb = if *ecn { "marks or drops" } else { "drops" };
        write!(f, "{verb} packets once the wait has exceeded {target} for {interval}")?;
        match ce_threshold {
            None => Ok(()),
            Some(wait) => write!(f, "; marks ECT packets (CE) after more than {wait}"),
        }
    }
}

/// A queue with CoDel.
#[derive(Debug)]
pub(crate) struct CodelQueue {
    plan: CodelPlan,
    waiting: Fifo,
    codel: Codel,
}

impl CodelQueue {
    pub(super) fn new(plan: CodelPlan) -> CodelQueue {
        CodelQueue { plan, waiting: Fifo::default(), codel: Codel::default() }
    }
}

impl Discipline for CodelQueue {
    fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        if self.waiting.has_room(self.plan.limit, packet.packet.size()) {
            self.waiting.push(now, packet);
        } else {
            out.drop(now, packet, self.waiting.full());
        }
    }

    fn pass(&mut self, now: Instant, packet: Transit, out: &mut Outbox) -> Option<Queued> {
        self.waiting.push(now, packet);
        self.pop(now, out)
    }

    fn pop(&mut self, now: Instant, out: &mut Outbox) -> Option<Queued> {
        self.codel.pop(now, &self.plan.control, &mut self.waiting, |packet, waited, left| {
            let discipline = verdict::Discipline::Codel;
            out.drop(now, packet, Cause::Aqm { discipline, waited, packets: left });
        })
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.waiting.iter())
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        self.waiting.release(into);
    }
}

/// CoDel never empties the queue: with no more than this left it lets packets be. RFC 8289 §5.6 has
/// the largest packet here; links of Linux take their MTU. Ours is that of Ethernet.
const MTU: Bytes = Bytes::new(1500);

/// The state of CoDel for one queue (RFC 8289 §5.2).
#[derive(Debug, Default)]
pub(super) struct Codel {
    /// When the wait will have been above the target for an interval, if it is above it.
    first_above: Option<Instant>,
    is_dropping: bool,
    /// When it drops next while it is dropping.
    drop_next: Instant,
    /// Packets dropped since it began dropping, and those it carried over.
    count: u32,
    /// What `count` was when it began.
    last_count: u32,
}

/// A packet at its turn.
struct Head {
    queued: Instant,
    packet: Transit,
    /// Whether the wait has been above the target for an interval.
    may_drop: bool,
}

impl Codel {
    /// The next packet to send, and since when it has waited; drops those before it that the
    /// control law demands, each with how long it waited and how many wait behind it.
    ///
    /// RFC 8289 §5.5. That a mark takes the place of a drop, and that there is one per call, is
    /// Linux's rule (`codel_dequeue`, include/net/codel_impl.h); the RFC leaves ECN open.
    pub(super) fn pop(
        &mut self,
        now: Instant,
        control: &CodelControl,
        waiting: &mut Fifo,
        mut drop: impl FnMut(Transit, Span, u32),
    ) -> Option<Queued> {
        let mut head = self.take(now, control, waiting)?;
        let marks = |head: &mut Head| control.ecn && ecn::mark(&mut head.packet);
        if self.is_dropping {
            self.is_dropping = head.may_drop;
            while self.is_dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if marks(&mut head) {
                    self.drop_next = control.next_drop(self.drop_next, self.count);
                    break;
                }
                drop(head.packet, now.since(head.queued), waiting.packets());
                head = self.take(now, control, waiting)?;
                if head.may_drop {
                    self.drop_next = control.next_drop(self.drop_next, self.count);
                } else {
                    self.is_dropping = false;
                }
            }
        } else if head.may_drop {
            self.begin_dropping(now, control);
            if !marks(&mut head) {
                drop(head.packet, now.since(head.queued), waiting.packets());
                head = self.take(now, control, waiting)?;
            }
        }
        if control.ce_threshold.is_some_and(|wait| now.since(head.queued) > wait) {
            ecn::mark(&mut head.packet);
        }
        Some((head.queued, head.packet))
    }

    /// RFC 8289 §5.5: after a recent dropping state, resume with its drop rate. The next drop was
    /// due at most one interval after the last, so `next` shows well enough how recent it was.
    fn begin_dropping(&mut self, now: Instant, control: &CodelControl) {
        self.is_dropping = true;
        let dropped = self.count - self.last_count;
        let is_recent = u128::from(now.since(self.drop_next).as_nanos())
            < 16 * u128::from(control.interval.as_nanos());
        self.count = if dropped > 1 && is_recent { dropped } else { 1 };
        self.drop_next = control.next_drop(now, self.count);
        self.last_count = self.count;
    }

    /// RFC 8289 §5.6.
    fn take(&mut self, now: Instant, control: &CodelControl, waiting: &mut Fifo) -> Option<Head> {
        let Some((queued, packet)) = waiting.pop() else {
            self.first_above = None;
            self.is_dropping = false;
            return None;
        };
        let mut may_drop = false;
        if now.since(queued) < control.target || waiting.bytes() <= MTU {
            self.first_above = None;
        } else {
            let above = *self.first_above.get_or_insert(now + control.interval);
            may_drop = now >= above;
        }
        Some(Head { queued, packet, may_drop })
    }
}

impl CodelControl {
    /// The control law (RFC 8289 §5.6): interval / √count after `from`; whole nanoseconds, rounded
    /// down, by integers alone.
    fn next_drop(&self, from: Instant, count: u32) -> Instant {
        let interval = u128::from(self.interval.as_nanos());
        let root = (interval * interval / u128::from(count)).isqrt();
        from + Span::from_nanos(u64::try_from(root).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests;
