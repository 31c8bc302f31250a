//! A case of a run: its trials, and each metric over them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tcplab_scenario::{Measure, metric};

use crate::kept::KeptTrials;
use crate::{Recovery, StackUsed, Summary, Trial, World};

/// One cell of the matrix.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WholeCase")]
pub struct Case {
    /// Short and fit for a file name: the levels joined, such as `reno`.
    pub name: String,
    /// The factors and their levels: (`client.socket.congestion`, `reno`).
    pub levels: Vec<(String, String)>,
    /// Where its trials ran.
    pub world: World,
    /// What stood for the stack `linux` at its ends, in virtual time, as `--kernel` takes it: the
    /// name of a kernel, or `model`. None where nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The TCP stack of the client and of the server.
    pub stacks: Vec<StackUsed>,
    /// Whether every seed gives the same trial: models in virtual time, and nothing draws numbers
    /// that matter. Runs of older versions do not say.
    pub is_exact: bool,
    /// Its trials by number, except those that failed. `run.json` gets them one by one.
    #[serde(skip_serializing)]
    pub trials: Vec<Trial>,
    /// The trials of which every attempt failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Each metric over the trials.
    pub summaries: Vec<Summary>,
    /// Recovery episodes of those trials that are in memory without theirs, as their packets were
    /// not kept; `run.json` has them.
    #[serde(skip_serializing)]
    pub forgotten: Recovery,
}

impl Case {
    /// The recovery episodes of all its trials.
    pub fn recovery(&self) -> Recovery {
        let mut all = self.forgotten.clone();
        self.trials.iter().for_each(|trial| all.count(&trial.episodes));
        all
    }

    /// How many trials there are, those that failed counted.
    pub fn count(&self) -> usize {
        self.trials.len() + self.failures.len()
    }

    /// Whether none of its trials counts, as all failed.
    pub fn all_failed(&self) -> bool {
        self.trials.is_empty() && !self.failures.is_empty()
    }

    /// A metric over its trials: that of the trials, or that of one of their flows (of several
    /// connections the median). None where no trial has it.
    pub fn summary_of(&self, measure: Measure<'_>) -> Option<Cow<'_, Summary>> {
        let Measure { metric: name, flow } = measure;
        let Some(flow) = flow else {
            return self.summaries.iter().find(|it| it.name == name).map(Cow::Borrowed);
        };
        let info = metric(name)?;
        let own = |trial: &Trial| trial.flows.iter().find(|row| row.name == flow)?.median(info);
        let values: Vec<f64> = self.trials.iter().filter_map(own).collect();
        Summary::of(info, &values).map(Cow::Owned)
    }
}

/// A trial that could not be run to its end, or did not come to a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// From 1.
    pub number: u32,
    /// Its own seed.
    pub seed: u64,
    /// What there is of it, relative to the run's directory.
    pub directory: String,
    /// How often it was run.
    pub attempts: u32,
    /// What was wrong the last time.
    pub reason: String,
}

/// A case as `run.json` has it: see [`Case`].
#[derive(Deserialize)]
pub(crate) struct WholeCase {
    name: String,
    levels: Vec<(String, String)>,
    world: World,
    #[serde(default)]
    kernel: Option<String>,
    #[serde(default)]
    stacks: Vec<StackUsed>,
    #[serde(default)]
    is_exact: bool,
    trials: KeptTrials,
    #[serde(default)]
    failures: Vec<Failure>,
    summaries: Vec<Summary>,
}

impl From<WholeCase> for Case {
    fn from(whole: WholeCase) -> Case {
        let WholeCase { name, levels, world, kernel, stacks, is_exact, .. } = whole;
        let (failures, summaries) = (whole.failures, whole.summaries);
        let KeptTrials { trials, forgotten } = whole.trials;
        Case {
            name,
            levels,
            world,
            kernel,
            stacks,
            is_exact,
            trials,
            failures,
            summaries,
            forgotten,
        }
    }
}
