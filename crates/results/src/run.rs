//! A run and all its results, except the packets. `run.json` holds it.

use serde::{Deserialize, Serialize};
use tcplab_scenario::Plot;

use crate::{Calibration, Case, Claim, Comparison, RunWorld, Stopping};

/// Everything about a run that fits in a table; the packets stay in the trials' directories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The scenario's name: its file name without the ending.
    pub name: String,
    /// The scenario's title.
    pub title: String,
    /// The document it comes from.
    pub reference: Option<String>,
    /// The question that the scenario asks, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The factor that it is about, where the scenario names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_factor: Option<String>,
    /// The metric that it is about, or `claims`, where the scenario says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_metric: Option<String>,
    /// The scenario file of the run.
    pub scenario: String,
    /// Where its cases ran.
    pub world: RunWorld,
    /// Why a model replaces the kernel, and how to get the kernel.
    #[serde(default)]
    pub fallback: Option<String>,
    /// When it was started, UTC, RFC 3339.
    pub started: String,
    /// The seed of the run.
    pub seed: u64,
    /// The names of the cases, where not all of the scenario's were run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// How many blocks came first and are not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_up: u32,
    /// The reason for the number of blocks, where the scenario does not fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// What is between the endpoints, a sentence per direction.
    pub path: Vec<String>,
    /// The machine and what ran: (name, value), in the order to show.
    pub environment: Vec<(String, String)>,
    /// How the paths were verified before the trials; none if they were not.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// The cells of the matrix, in the order of the scenario. They are written apart, as their
    /// trials are not all in memory.
    #[serde(skip_serializing)]
    pub cases: Vec<Case>,
    /// The scenario's expectations and how they went.
    pub claims: Vec<Claim>,
    /// The comparisons that the scenario asks for, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
    /// What is drawn over what was varied. Runs of older versions do not say.
    #[serde(default)]
    pub plots: Vec<Plot>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The description of a path between two ends on the same host.
pub const SAME_HOST: &str = "no path: both ends talk over the loopback of the same host";

impl Run {
    /// Whether there is a path between the ends of any case.
    pub fn has_path(&self) -> bool {
        self.path.is_empty() || self.path.iter().any(|line| !line.ends_with(SAME_HOST))
    }
}
