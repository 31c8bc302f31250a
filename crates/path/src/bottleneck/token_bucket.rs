//! A token bucket in front of a line without a speed of its own.

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate};

use super::supply::{Position, Supply};
use super::work::work;
use crate::SMALLEST_QUEUE;
use crate::fault::Fault;
use crate::schedule::Schedule;

/// A token bucket, as Linux's tbf is one: packets wait until there are tokens for all their bits,
/// and then leave at once. It is full at the world's zero.
///
/// In the ground truth, a packet is being sent from the moment it is the next to leave, and has
/// been sent when its tokens are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucketPlan {
    /// How fast tokens come; without steps where that does not change.
    pub rate: Schedule<Rate>,
    /// How many there can be; at least [`SMALLEST_QUEUE`].
    pub burst: Bytes,
}

impl TokenBucketPlan {
    pub(super) fn describe(&self) -> String {
        let rate = self.rate.describe();
        format!("Bottleneck {rate}, token bucket {}", self.burst)
    }
}

/// Whether a bucket so deep lets full-sized packets pass at all.
pub(crate) fn check_burst(burst: Bytes) -> Result<(), Fault> {
    if burst >= SMALLEST_QUEUE {
        return Ok(());
    }
    let least = SMALLEST_QUEUE.as_u64();
    let what = format!("a burst of {burst} is smaller than a full packet: give at least {least} B");
    Err(Fault::here(what))
}

/// A token bucket at work. Tokens are counted in billionths of a bit, so nothing is ever rounded:
/// at a whole nanosecond their number is whole.
#[derive(Debug)]
pub(super) struct TokenBucket {
    burst: Bytes,
    /// Where tokens have been counted up to.
    supply: Supply,
    tokens: u128,
}

impl TokenBucket {
    pub(super) fn new(plan: &TokenBucketPlan) -> TokenBucket {
        let supply = Supply::new(plan.rate.clone());
        TokenBucket { burst: plan.burst, supply, tokens: work(plan.burst) }
    }

    pub(super) fn burst(&self) -> Bytes {
        self.burst
    }

    /// Up to where tokens have been counted, and how many there are.
    pub(super) fn position(&self) -> (Position, u128) {
        (self.supply.position(), self.tokens)
    }

    /// From `at` on tokens come at another rate. Goes back to a position before that, if one is
    /// given.
    pub(super) fn set_rate(&mut self, at: Instant, rate: Rate, back_to: Option<(Position, u128)>) {
        self.tokens = back_to.map_or(self.tokens, |(_, tokens)| tokens);
        self.supply.set(at, rate, back_to.map(|(position, _)| position));
    }

    /// Takes the tokens for `size`, which is not more than the burst; gives when they are there,
    /// now or later.
    pub(super) fn send(&mut self, now: Instant, size: Bytes) -> Instant {
        let (full, need) = (work(self.burst), work(size));
        let room = full - self.tokens;
        self.tokens += self.supply.earn(now, room).min(room);
        match need.checked_sub(self.tokens) {
            None | Some(0) => self.tokens -= need,
            Some(missing) => {
                self.supply.spend(missing);
                // The surplus tokens at the end of that nanosecond, up to the bucket's size.
                self.tokens = self.supply.round_up().min(full - need);
            }
        }
        self.supply.whole()
    }
}
