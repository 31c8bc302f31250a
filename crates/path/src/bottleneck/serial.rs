//! One packet after the other.

use tcplab_units::{Instant, Rate};

use super::supply::Supply;
use super::token_bucket::{TokenBucket, TokenBucketPlan};
use super::work::work;
use crate::behaviour::{Behaviour, Outbox, Transit};
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
        Serial::varying(&Schedule { start: rate, steps: Vec::new(), repeat: None }, queue)
    }

    pub(super) fn varying(schedule: &Schedule<Rate>, queue: Queue) -> Serial {
        Serial { queue, pace: Pace::Line(Supply::new(schedule.clone())), sending: None }
    }

    pub(super) fn token_bucket(plan: &TokenBucketPlan, queue: Queue) -> Serial {
        Serial { queue, pace: Pace::Bucket(TokenBucket::new(plan)), sending: None }
    }

    /// Starts to send a packet that came at `queued`: the moment the one before has been sent, or
    /// after a pause.
    fn send(&mut self, now: Instant, queued: Instant, mut packet: Transit) {
        let size = packet.packet.size();
        let ended = match &mut self.pace {
            Pace::Line(supply) => {
                supply.spend(work(size));
                supply.whole()
            }
            Pace::Bucket(bucket) => bucket.send(now, size),
        };
        packet.transmission = Some(Transmission { queued, began: now, ended });
        self.sending = Some((ended, packet));
    }
}

impl Behaviour for Serial {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
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

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        let sending = self.sending.iter().map(|(_, packet)| packet);
        Box::new(sending.chain(self.queue.held()))
    }

    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.sending.take().map(|(_, packet)| packet));
        self.queue.release(into);
    }
}
