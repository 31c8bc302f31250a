//! The rate of a scenario, and the server made from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Rate, Span};

use super::opportunities::TracePlan;
use super::server::ServerPlan;
use super::token_bucket::TokenBucketPlan;
use crate::fault::Fault;
use crate::mahimahi::{check_opportunities, parse_mahimahi};
use crate::schedule::{Schedule, Step};
use crate::text_or_table::text_or_table;

text_or_table! {
    RateSpec, "LinkRate", "The rate of the bottleneck.", "a rate such as \"5 Mbit/s\", or a table",
    /// Always the same.
    Constant(Rate),
    /// It changes with time, or comes from a trace.
    Table(RateTable),
}

/// A rate that changes: `start` and `steps`, or a `trace`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VaryingRate")]
pub struct RateTable {
    /// The rate from the world's zero on, in bits of IP packets. It may be zero for a while, not
    /// for ever: packets wait then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Rate>,
    /// The changes, in order of time. A packet that is being sent continues at the new rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step<Rate>>>,
    /// Begin again after so long; later than the last step has ended. Default: the last rate stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Span>,
    /// A file of delivery opportunities in Mahimahi's format: a line each, its time in whole
    /// milliseconds, not falling; it begins again after its last, which must be above zero. Each
    /// carries 1504 B, of which a packet takes its length in bytes of IP and 4 B, as there: several
    /// small ones share one, a large one spans several, and one without packets is wasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Such opportunities written here, in milliseconds; of a `trace`, its content, filled in when
    /// the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opportunities: Option<Vec<u64>>,
}

impl RateSpec {
    /// What sends at this rate, so much of it at once.
    pub(crate) fn plan(&self, burst: Option<Bytes>) -> Result<ServerPlan, Fault> {
        match (self, burst) {
            (RateSpec::Constant(rate), _) if rate.bits_per_second() == 0 => Err(Fault::here(
                "the rate is zero: give a rate above zero, or remove it for no bottleneck",
            )),
            (RateSpec::Constant(rate), None) => Ok(ServerPlan::Rate(*rate)),
            (RateSpec::Constant(rate), Some(burst)) => {
                let rate = Schedule::steady(*rate);
                Ok(ServerPlan::TokenBucket(TokenBucketPlan { rate, burst }))
            }
            (RateSpec::Table(table), burst) => table.plan(burst),
        }
    }

    /// See [`RateTable::load`].
    ///
    /// # Errors
    /// As there.
    pub fn load(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        match self {
            RateSpec::Constant(_) => Ok(()),
            RateSpec::Table(table) => table.load(read),
        }
    }
}

impl RateTable {
    /// Takes in the content of its trace file, which `read` gives for the name as it is written.
    /// Does nothing where there is none, or it has been read already.
    ///
    /// # Errors
    /// What `read` says, or the line that is wrong and why.
    pub fn load(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        if let (Some(name), None) = (&self.trace, &self.opportunities) {
            let content = read(name)?;
            let opportunities =
                parse_mahimahi(&content).map_err(|error| format!("the trace `{name}`, {error}"))?;
            self.opportunities = Some(opportunities);
        }
        Ok(())
    }

    fn plan(&self, burst: Option<Bytes>) -> Result<ServerPlan, Fault> {
        if self.trace.is_none() && self.opportunities.is_none() {
            let rate = self.schedule()?;
            return Ok(match burst {
                None => ServerPlan::Varying(rate),
                Some(burst) => ServerPlan::TokenBucket(TokenBucketPlan { rate, burst }),
            });
        }
        let key = if self.trace.is_some() { "trace" } else { "opportunities" };
        if self.start.is_some() || self.steps.is_some() || self.repeat.is_some() {
            let what = "give either a trace, or `start`, `steps` and `repeat`";
            return Err(Fault::below(key, what));
        }
        if burst.is_some() {
            let what = "a trace has no token bucket: remove `burst`";
            return Err(Fault::below(key, what));
        }
        let Some(opportunities) = self.opportunities.clone() else {
            let name = self.trace.as_deref().unwrap_or_default();
            return Err(Fault::below(key, format!("the trace `{name}` has not been read")));
        };
        check_opportunities(&opportunities).map_err(|(index, what)| {
            Fault::below(key, format!("opportunity {} {what}", index + 1))
        })?;
        Ok(ServerPlan::Trace(TracePlan { opportunities }))
    }

    fn schedule(&self) -> Result<Schedule<Rate>, Fault> {
        let Some(start) = self.start else {
            let what = "give `start` and `steps`, or a `trace`";
            return Err(Fault::below("start", what));
        };
        let steps = self.steps.clone().unwrap_or_default();
        let schedule = Schedule { start, steps, repeat: self.repeat };
        schedule.check()?;
        let is_zero = |rate: Rate| rate.bits_per_second() == 0;
        if schedule.values().all(is_zero) {
            let what = "the rate is always zero: give a rate above zero";
            return Err(Fault::below("start", what));
        }
        if schedule.repeat.is_none() && schedule.values().last().is_some_and(is_zero) {
            let what = "the last rate is zero, so waiting packets never leave: end above zero, or add \
                        `repeat`";
            return Err(Fault::below("steps", what));
        }
        Ok(schedule)
    }
}
