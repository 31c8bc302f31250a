//! A policer: drops packets above the configured rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate};

use crate::Cause;
use crate::behaviour::Gate;
use crate::bottleneck::{BILLION, check_burst};
use crate::fault::Fault;

/// A token bucket without a queue: a packet for which there are no tokens is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Policer")]
pub struct PolicerSpec {
    /// How fast tokens come, in bits of IP packets; above zero.
    pub rate: Rate,
    /// How many tokens there can be, and are at the start: what may come at once after a pause; at
    /// least 1514 B. A larger packet never passes.
    pub burst: Bytes,
}

impl PolicerSpec {
    pub(crate) fn plan(&self) -> Result<PolicerSpec, Fault> {
        if self.rate.bits_per_second() == 0 {
            let what = "the rate is zero: give a rate above zero";
            return Err(Fault::below("rate", what));
        }
        check_burst(self.burst).map_err(|fault| Fault::below("burst", fault.what))?;
        Ok(*self)
    }

    pub(crate) fn describe(&self) -> String {
        let PolicerSpec { rate, burst } = self;
        format!("Policer {rate}, burst {burst}: excess packets are dropped.")
    }
}

/// A policer at work. Its bucket is full at the world's zero. Tokens are counted in billionths of a
/// bit, of which a whole number comes in each nanosecond: nothing is rounded.
#[derive(Debug)]
pub(crate) struct Policer {
    /// Tokens per nanosecond.
    rate: u128,
    most: u128,
    tokens: u128,
    /// Until when tokens have been counted.
    counted: Instant,
}

impl Policer {
    pub(crate) fn new(plan: &PolicerSpec) -> Policer {
        let most = plan.burst.bits() * BILLION;
        let rate = u128::from(plan.rate.bits_per_second());
        Policer { rate, most, tokens: most, counted: Instant::ZERO }
    }
}

impl Gate for Policer {
    fn refuse(&mut self, now: Instant, size: Bytes) -> Option<Cause> {
        let earned = self.rate * u128::from(now.since(self.counted).as_nanos());
        self.tokens = self.tokens.saturating_add(earned).min(self.most);
        self.counted = now;
        match self.tokens.checked_sub(size.bits() * BILLION) {
            Some(left) => {
                self.tokens = left;
                None
            }
            None => Some(Cause::Policed),
        }
    }
}
