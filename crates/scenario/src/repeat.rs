//! The sections `[repeat]` and `[recording]`: the number of trials, and the packets to keep.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Probability;

use crate::case::Case;
use crate::metrics::{MetricInfo, metric, number_names};
use crate::problem::Problem;
use crate::snaplen::Snaplen;

/// The most trials of a case: their names have at most five digits.
pub const TRIALS_MAX: u32 = 99_999;
/// More retries do not help.
const RETRIES_MAX: u32 = 99;
/// More warm-up measures something else.
const WARM_UP_MAX: u32 = 99;
/// Fewer blocks estimate the spread too poorly to stop; see [`UntilSpec`].
const MIN_LEAST: u32 = 3;

/// How often each case runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepeatSpec {
    /// Trials of each case: 1 to 99999. Default: 10; with ten pairs of trials a comparison of up to
    /// 25 tests can find a difference, with five none can.
    #[schemars(range(min = 1, max = 99999))]
    trials: Option<u32>,
    /// Instead of `trials`: add blocks (one trial of every case each) until a metric's confidence
    /// interval is narrow enough in every case.
    until: Option<UntilSpec>,
    /// Uncounted blocks before the trials on the kernel, 0 to 99, which warm up caches, clocks and
    /// the kernel's memory of paths. Virtual time needs none. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 99))]
    warm_up: u32,
    /// The seed of all randomness. Default: 1.
    #[serde(default = "default_seed")]
    pub(crate) seed: u64,
    /// How often a trial is repeated with the same seed if it failed or its path missed its bounds:
    /// 0 to 99. If the last attempt is flawed, it is used and flagged; if it failed, it is reported
    /// and missing in the tables. In virtual time a failure would repeat, so there are no retries.
    /// Default: 2.
    #[serde(default = "default_retries")]
    #[schemars(range(min = 0, max = 99))]
    pub(crate) retries: u32,
}

impl Default for RepeatSpec {
    fn default() -> RepeatSpec {
        let (seed, retries) = (default_seed(), default_retries());
        RepeatSpec { trials: None, until: None, warm_up: 0, seed, retries }
    }
}

/// When to stop adding blocks: when half the 95 % confidence interval of the mean (Student's t) is
/// at most `ci` of the mean in every case, or after `max` blocks. Stopping at a good moment makes
/// intervals too narrow; at least `min` blocks keep the error small (docs/designs.md has the
/// figures).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UntilSpec {
    /// Half the width of the interval, divided by the mean, such as `"2 %"`.
    ci: Probability,
    /// At most this many blocks: 3 to 99999. The report names cases whose interval is still wide.
    #[schemars(range(min = 3, max = 99999))]
    max: u32,
    /// At least this many blocks, from 3. Default: 10, or `max` if that is less.
    #[schemars(range(min = 3, max = 99999))]
    min: Option<u32>,
    /// The metric, which needs one number per trial. Default: `transfer_time`; for a load
    /// `load.rate`, for datagrams `mean_response`.
    #[schemars(with = "Option<String>", extend("enum" = number_names()))]
    metric: Option<String>,
}

/// When to stop adding blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Until {
    /// Half the width of the mean's 95 % confidence interval, divided by the mean, at most.
    pub ci: Probability,
    /// At least this many blocks.
    pub min: u32,
    /// At most this many blocks.
    pub max: u32,
    /// The metric.
    pub metric: String,
}

/// The smallest probability that ten pairs can show is 2⁻⁹ (all ten favour one side), one in 25 of
/// the level of 5 %: enough for the key metrics in six combinations of the other levels.
fn default_trials() -> u32 {
    10
}

fn default_min() -> u32 {
    10
}

fn default_retries() -> u32 {
    2
}

fn default_seed() -> u64 {
    1
}

impl RepeatSpec {
    /// Checks the values; an error comes with its key in the section.
    pub(crate) fn check(&self) -> Result<(), (&'static str, Problem)> {
        if self.trials.is_some_and(|trials| !(1..=TRIALS_MAX).contains(&trials)) {
            return Err(("trials", Problem::Trials { most: TRIALS_MAX }));
        }
        if self.retries > RETRIES_MAX {
            return Err(("retries", Problem::Retries { most: RETRIES_MAX }));
        }
        if self.warm_up > WARM_UP_MAX {
            return Err(("warm_up", Problem::WarmUp { most: WARM_UP_MAX }));
        }
        let Some(until) = &self.until else { return Ok(()) };
        if self.trials.is_some() {
            return Err(("trials", Problem::TrialsAndUntil));
        }
        if until.ci == Probability::NEVER {
            return Err(("until.ci", Problem::NoWidth));
        }
        if !(MIN_LEAST..=TRIALS_MAX).contains(&until.max) {
            return Err(("until.max", Problem::Blocks { least: MIN_LEAST, most: TRIALS_MAX }));
        }
        if until.min.is_some_and(|min| !(MIN_LEAST..=until.max).contains(&min)) {
            return Err(("until.min", Problem::Blocks { least: MIN_LEAST, most: until.max }));
        }
        match &until.metric {
            Some(name) if metric(name).is_none() => {
                Err(("until.metric", Problem::UnknownMetric(name.clone())))
            }
            Some(name) if !metric(name).is_some_and(MetricInfo::is_number_of_trial) => {
                Err(("until.metric", Problem::NoNumberOfTrials(name.clone())))
            }
            _ => Ok(()),
        }
    }

    /// The largest number of trials of each case.
    pub(crate) fn trials(&self) -> u32 {
        let fixed = self.trials.unwrap_or_else(default_trials);
        self.until.as_ref().map_or(fixed, |until| until.max)
    }

    /// The smallest number of trials of each case.
    pub(crate) fn fewest(&self) -> u32 {
        let least = |until: &UntilSpec| until.min.unwrap_or_else(default_min).min(until.max);
        self.until.as_ref().map_or_else(|| self.trials(), least)
    }

    /// Uncounted blocks.
    pub(crate) fn warm_up(&self) -> u32 {
        self.warm_up
    }

    /// When to stop, if the number is not fixed; the first case gives the default metric.
    pub(crate) fn until(&self, cases: &[Case]) -> Option<Until> {
        let UntilSpec { ci, max, metric, .. } = self.until.as_ref()?;
        let usual = match cases.first().map(|case| &case.workload) {
            Some(workload) if workload.load.is_some() => "load.rate",
            Some(workload) if workload.datagrams.is_some() => "mean_response",
            _ => "transfer_time",
        };
        Some(Until {
            ci: *ci,
            min: self.fewest(),
            max: *max,
            metric: metric.clone().unwrap_or_else(|| usual.into()),
        })
    }
}

/// Which packets the run keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordingSpec {
    /// Which trials keep captures, samples and the path's log. Failed and flawed trials always do;
    /// all trials keep what is in tables (metrics, episodes, calls). Default: `all`, or `first`
    /// above 200 trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
    /// Truncates packets in the captures to this size; 96 B hold all headers. `whole` keeps whole
    /// packets. Default: 128 B, and whole packets where the path damages some (`corrupt`), as the
    /// analysis verifies checksums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snaplen: Option<Snaplen>,
}

/// Which trials keep their packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// All trials.
    #[default]
    All,
    /// The first trial of each case.
    First,
    /// No trial.
    None,
}

impl Keep {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Keep::All => "all",
            Keep::First => "first",
            Keep::None => "none",
        }
    }

    /// Whether the trial with this number keeps its packets.
    pub fn has(self, number: u32) -> bool {
        match self {
            Keep::All => true,
            Keep::First => number == 1,
            Keep::None => false,
        }
    }
}

impl RecordingSpec {
    /// Above this many trials, people read tables, not single trials.
    const LOOKED_AT: usize = 200;

    /// Checks the values; an error comes with its key in the section.
    pub(crate) fn check(&self) -> Result<(), (&'static str, Problem)> {
        let checked = self.snaplen.map_or(Ok(()), Snaplen::check);
        checked.map_err(|problem| ("snaplen", Problem::Value(problem)))
    }

    /// With another's values where this says nothing.
    #[must_use]
    pub fn or(&self, other: &RecordingSpec) -> RecordingSpec {
        RecordingSpec { keep: self.keep.or(other.keep), snaplen: self.snaplen.or(other.snaplen) }
    }

    /// Which trials keep their packets in a run of this many trials.
    pub fn kept_of(&self, trials: usize) -> Keep {
        let usual = if trials > RecordingSpec::LOOKED_AT { Keep::First } else { Keep::All };
        self.keep.unwrap_or(usual)
    }
}
