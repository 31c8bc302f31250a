//! The sections `[repeat]` and `[recording]`: how often each case is tried, and what is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Probability};

use crate::case::Case;
use crate::metrics::{MetricInfo, metric, number_names};
use crate::problem::Problem;

/// Trials are named with five digits at most.
pub(crate) const TRIALS_MAX: u32 = 99_999;
/// What fails so often will not become better.
const RETRIES_MAX: u32 = 99;
/// Who warms up longer than this measures something else.
const WARM_UP_MAX: u32 = 99;
/// Fewer blocks say too little of the spread to stop by; see [`UntilSpec`].
const MIN_LEAST: u32 = 3;

/// How often each case is tried.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepeatSpec {
    /// Trials of each case: 1 to 99999. Default: 5, enough to tell the spread.
    #[serde(default)]
    #[schemars(range(min = 1, max = 99999))]
    trials: Option<u32>,
    /// In place of `trials`: blocks, each of them one trial of every case, are added until a
    /// metric is known well enough in every case.
    #[serde(default)]
    until: Option<UntilSpec>,
    /// So many blocks are run first and not counted, 0 to 99, each time that trials on the kernel
    /// begin: caches, clocks and what the kernel remembers of paths are then as they stay. In
    /// virtual time nothing warms up, so there are none. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 99))]
    warm_up: u32,
    /// The seed of all randomness. Default: 1.
    #[serde(default = "default_seed")]
    pub(crate) seed: u64,
    /// How often a trial is run again, with the same seed, if its path misbehaved or it failed: 0
    /// to 99. What is flawed even then is used, and flagged; what fails even then is reported, and
    /// missing. In virtual time what fails once fails always and is not run again. Default: 2.
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

/// When there are enough blocks: as soon as half the 95 % interval of the mean (Student's t) is no
/// more than `ci` of that mean in every case, or there are `max`. To look after every block and
/// stop at a good moment makes intervals narrower than they should be; `min` blocks at least keep
/// that small (docs/designs.md has the figures).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UntilSpec {
    /// Half the width of the interval over the mean, such as `"2 %"`.
    ci: Probability,
    /// No more blocks than this: 3 to 99999. A case that is not known well enough by then is told.
    #[schemars(range(min = 3, max = 99999))]
    max: u32,
    /// No fewer blocks than this, from 3. Default: 10, or `max` if that is less.
    #[serde(default)]
    #[schemars(range(min = 3, max = 99999))]
    min: Option<u32>,
    /// Whose interval: a metric that each trial has one number of. Default: `transfer_time`, of a
    /// load `load.rate`, of datagrams `mean_response`.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("enum" = number_names()))]
    metric: Option<String>,
}

/// When there are enough blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Until {
    /// Half the width of the 95 % interval of the mean over the mean, at most.
    pub ci: Probability,
    /// No fewer blocks than this.
    pub min: u32,
    /// No more than this.
    pub max: u32,
    /// Whose interval.
    pub metric: String,
}

fn default_trials() -> u32 {
    5
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
    /// What makes no sense, and its key in the section.
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

    /// How many trials each case has, at most.
    pub(crate) fn trials(&self) -> u32 {
        let fixed = self.trials.unwrap_or_else(default_trials);
        self.until.as_ref().map_or(fixed, |until| until.max)
    }

    /// Blocks that are not counted.
    pub(crate) fn warm_up(&self) -> u32 {
        self.warm_up
    }

    /// When to stop, where the number is not fixed; the first case says which metric is usual.
    pub(crate) fn until(&self, cases: &[Case]) -> Option<Until> {
        let UntilSpec { ci, max, min, metric } = self.until.as_ref()?;
        let usual = match cases.first().map(|case| &case.workload) {
            Some(workload) if workload.load.is_some() => "load.rate",
            Some(workload) if workload.datagrams.is_some() => "mean_response",
            _ => "transfer_time",
        };
        Some(Until {
            ci: *ci,
            min: min.unwrap_or_else(default_min).min(*max),
            max: *max,
            metric: metric.clone().unwrap_or_else(|| usual.into()),
        })
    }
}

/// What stays of the trials' packets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordingSpec {
    /// Whose captures, samples and path's log are kept. Those of failed and flawed trials always
    /// are; of the others metrics, episodes, calls and all that is in tables. Default: `all`, or
    /// `first` where there are more than 200 trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
    /// How much of each packet the captures have, from its beginning: 96 B hold all headers.
    /// Default: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snaplen: Option<Bytes>,
}

/// Of which trials the packets are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Of all.
    All,
    /// Of the first trial of each case.
    First,
    /// Of none.
    None,
}

impl Keep {
    /// As the file writes it.
    pub fn name(self) -> &'static str {
        match self {
            Keep::All => "all",
            Keep::First => "first",
            Keep::None => "none",
        }
    }

    /// Whether the packets of the trial of this number are kept.
    pub fn has(self, number: u32) -> bool {
        match self {
            Keep::All => true,
            Keep::First => number == 1,
            Keep::None => false,
        }
    }
}

impl RecordingSpec {
    /// The largest headers of IPv4 and TCP are 20 and 60 bytes, and Ethernet's 14.
    const HEADERS: Bytes = Bytes::new(96);
    /// More than this many trials are looked at in tables, not one by one.
    const LOOKED_AT: usize = 200;

    /// What makes no sense, and its key in the section.
    pub(crate) fn check(&self) -> Result<(), (&'static str, Problem)> {
        let most = Bytes::new(65_535);
        match self.snaplen {
            Some(length) if !(RecordingSpec::HEADERS..=most).contains(&length) => {
                let problem = format!("{length} is not from {} to {most}", RecordingSpec::HEADERS);
                Err(("snaplen", Problem::Value(problem)))
            }
            _ => Ok(()),
        }
    }

    /// What is kept of a run of so many trials.
    pub fn kept_of(&self, trials: usize) -> Keep {
        let usual = if trials > RecordingSpec::LOOKED_AT { Keep::First } else { Keep::All };
        self.keep.unwrap_or(usual)
    }
}
