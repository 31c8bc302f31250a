//! One packet after the other.

use tcplab_units::{Bytes, Instant, Rate};

use super::supply::{Position, Supply};
use super::token_bucket::{TokenBucket, TokenBucketPlan};
use super::work::work;
use crate::behaviour::{Behaviour, Outbox, Transit};
use crate::event::Change;
use crate::queue::Queue;
use crate::schedule::Schedule;
use crate::{Cause, Transmission};

/// Packets wait in the queue while one is being sent. A packet moves on when its last bit has been
/// sent. One that finds nothing being sent passes the queue by, as Linux's queues allow
/// (`TCQ_F_CAN_BYPASS`): nothing waits then.
#[derive(Debug)]
pub(crate) struct Serial {
    queue: Queue,
    pace: Pace,
    /// The packet being sent, and when that ends.
    sending: Option<(Instant, Transit)>,
    /// The pace when it began, from which its end is computed anew when the rate is changed.
    before: (Position, u128),
}

/// When what it sends has been sent.
#[derive(Debug)]
enum Pace {
    /// Each packet takes its bits' time at a rate.
    Line(Supply),
    /// Each packet takes its tokens.
    Bucket(TokenBucket),
}

impl Serial {
    /// # Panics
    /// When the rate is zero.
    pub(super) fn at_rate(rate: Rate, queue: Queue) -> Serial {
        assert!(rate.bits_per_second() > 0, "nothing ends at a rate of zero");
        Serial::varying(&Schedule::steady(rate), queue)
    }

    pub(super) fn varying(schedule: &Schedule<Rate>, queue: Queue) -> Serial {
        Serial::at_pace(Pace::Line(Supply::new(schedule.clone())), queue)
    }

    pub(super) fn token_bucket(plan: &TokenBucketPlan, queue: Queue) -> Serial {
        Serial::at_pace(Pace::Bucket(TokenBucket::new(plan)), queue)
    }

    fn at_pace(pace: Pace, queue: Queue) -> Serial {
        let before = pace.position();
        Serial { queue, pace, sending: None, before }
    }

    /// Starts to send a packet that came at `queued`: the moment the one before has been sent, or
    /// after a pause.
    fn send(&mut self, now: Instant, queued: Instant, mut packet: Transit) {
        self.before = self.pace.position();
        let ended = self.pace.send(now, packet.packet.size());
        packet.transmission = Some(Transmission { queued, began: now, ended });
        self.sending = Some((ended, packet));
    }
}

impl Pace {
    /// When so much has been sent, whose turn is `now`.
    fn send(&mut self, now: Instant, size: Bytes) -> Instant {
        match self {
            Pace::Line(supply) => {
                supply.spend(work(size));
                supply.whole()
            }
            Pace::Bucket(bucket) => bucket.send(now, size),
        }
    }

    /// Where it is; and of a bucket, its tokens.
    fn position(&self) -> (Position, u128) {
        match self {
            Pace::Line(supply) => (supply.position(), 0),
            Pace::Bucket(bucket) => bucket.position(),
        }
    }

    fn set_rate(&mut self, at: Instant, rate: Rate, back_to: Option<(Position, u128)>) {
        match self {
            Pace::Line(supply) => supply.set(at, rate, back_to.map(|(position, _)| position)),
            Pace::Bucket(bucket) => bucket.set_rate(at, rate, back_to),
        }
    }
}

impl Behaviour for Serial {
    fn accept(&mut self, now: Instant, mut packet: Transit, out: &mut Outbox) {
        // Its times at a bottleneck before are not those here.
        packet.transmission = None;
        match &mut self.pace {
            // As in Linux's tbf (net/sched/sch_tbf.c): it would wait for ever.
            Pace::Bucket(bucket) if packet.packet.size() > bucket.burst() => {
                let limit = bucket.burst();
                return out.drop(now, packet, Cause::TooBig { limit });
            }
            Pace::Line(supply) if self.sending.is_none() => supply.go_to(now),
            _ => {}
        }
        if self.sending.is_some() {
            self.queue.push(now, packet, out);
        } else if let Some((queued, packet)) = self.queue.pass(now, packet, out) {
            self.send(now, queued, packet);
        }
    }

    fn poll_at(&self) -> Option<Instant> {
        self.sending.as_ref().map(|(ends, _)| *ends)
    }

    fn advance(&mut self, now: Instant, out: &mut Outbox) {
        if let Some((_, packet)) = self.sending.take() {
            out.hand_on(now, packet);
        }
        if let Some((queued, packet)) = self.queue.pop(now, out) {
            self.send(now, queued, packet);
        }
    }

    fn change(&mut self, at: Instant, change: Change) {
        let Change::Rate(rate) = change else { unreachable!("a bottleneck has a rate only") };
        let Some((ended, packet)) = &mut self.sending else {
            return self.pace.set_rate(at, rate, None);
        };
        self.pace.set_rate(at, rate, Some(self.before));
        if let Some(transmission) = &mut packet.transmission {
            *ended = self.pace.send(transmission.began, packet.packet.size());
            transmission.ended = *ended;
        }
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        let sending = self.sending.iter().map(|(_, packet)| packet);
        Box::new(sending.chain(self.queue.held()))
    }

    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.sending.take().map(|(_, packet)| packet));
        self.queue.release(into);
    }
}
