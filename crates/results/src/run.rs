//! A run as it is told: cases, trials, metrics, claims. Saved as `run.json`, read by the report.

use std::collections::BTreeMap;
use std::fmt;

use crate::compare::Comparison;
use crate::kept::WholeCase;
use crate::{Calibration, FlowRow, Metrics, OptionRow};
use serde::{Deserialize, Serialize};
use tcplab_scenario::Plot;
use tcplab_workload::{CallRow, LoadReport, Side};

/// Everything about a run that fits in a table; the packets stay in the trials' directories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The scenario's name: its file name without the ending.
    pub name: String,
    /// The scenario's title.
    pub title: String,
    /// The document it comes from.
    pub reference: Option<String>,
    /// The scenario file as it was run.
    pub scenario: String,
    /// `kernel`, `sim`, or `kernel and sim`: each case where its stacks are.
    pub world: String,
    /// Why a model stands for the kernel that was to be had, and how to get the kernel.
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
    /// Why there are so many blocks, where the scenario did not fix their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// What is between the endpoints, a sentence per direction.
    pub path: Vec<String>,
    /// The machine and what ran: (name, value), in the order to show.
    pub environment: Vec<(String, String)>,
    /// How the paths were verified before the trials; none if they were not.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// The cells of the matrix, in the order of the scenario.
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

/// Said of a path that there is none of.
pub(crate) const SAME_HOST: &str = "no path: both ends talk over the loopback of the same host";

impl Run {
    /// Whether there is a path between the ends of any case.
    pub fn has_path(&self) -> bool {
        self.path.is_empty() || self.path.iter().any(|line| !line.ends_with(SAME_HOST))
    }
}

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "WholeCase")]
pub struct Case {
    /// Short and fit for a file name: the levels joined, such as `reno`.
    pub name: String,
    /// The factors and their levels: (`client.socket.congestion`, `reno`).
    pub levels: Vec<(String, String)>,
    /// Where its trials ran: `kernel` or `sim`. Runs of older versions do not say.
    pub world: String,
    /// Whose TCP spoke at the client and at the server.
    pub stacks: Vec<StackUsed>,
    /// Its trials by number, but for those that failed.
    pub trials: Vec<Trial>,
    /// Those that failed, as often as they were run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Each metric over the trials.
    pub summaries: Vec<Summary>,
    /// Recovery episodes of those trials that are in memory without theirs, as their packets were
    /// not kept; `run.json` has them.
    #[serde(skip)]
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

/// Why there are so many blocks, each of them one trial of every case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// The metric that was looked at.
    pub metric: String,
    /// Half of its 95 % interval over its mean was to be this at most, such as `2 %`.
    pub ci: String,
    /// How many blocks there are.
    pub blocks: u32,
    /// There would have been no more than this.
    pub max: u32,
    /// How well each case is known.
    pub cases: Vec<Width>,
}

/// How well the mean of a case is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Width {
    /// The case's name.
    pub case: String,
    /// Half the 95 % interval over the mean; none where there are fewer than two values, or their
    /// mean is nothing.
    pub share: Option<f64>,
    /// Whether that is as narrow as it was to be.
    pub reached: bool,
}

/// Whose TCP spoke at one end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackUsed {
    /// `client` or `server`.
    pub end: String,
    /// The model's profile, such as `osx-10.7`, or the kernel, such as `Linux 6.18.44`.
    pub name: String,
    /// Whether it was a model, in virtual time.
    pub is_model: bool,
    /// Whether the stack's source is closed, so that the model is like what is told of it.
    pub like: bool,
    /// What the profile is of, in a line; empty of a kernel.
    pub title: String,
    /// From where its constants are known; empty of a kernel.
    pub source: String,
    /// Whether it stands for the kernel that the scenario names.
    pub for_kernel: bool,
}

/// Such as `model windows-7-like`, `model linux-6.18 for the kernel`, `Linux 6.18.44`.
impl fmt::Display for StackUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = if self.is_model { "model " } else { "" };
        let like = if self.like { "-like" } else { "" };
        let stands = if self.for_kernel { " for the kernel" } else { "" };
        write!(f, "{model}{}{like}{stands}", self.name)
    }
}

/// One repetition of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// From 1.
    pub number: u32,
    /// Its own seed.
    pub seed: u64,
    /// Its directory, relative to the run's.
    pub directory: String,
    /// One value each.
    pub metrics: Metrics,
    /// Recovery episodes of the transfer's direction.
    pub episodes: Vec<EpisodeRow>,
    /// Interruptions of the path during the transfer, and what they cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interruptions: Vec<InterruptionRow>,
    /// Statements about it with their evidence.
    pub findings: Vec<FindingRow>,
    /// What each end did, the client first. Runs of older versions do not say.
    #[serde(default)]
    pub ends: Vec<EndRow>,
    /// How the connection ended. See `ends`.
    #[serde(default)]
    pub ending: Option<Ending>,
    /// What came of the load, where the workload is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<LoadReport>>,
    /// Socket options worth telling: asked for, or changed while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionRow>,
    /// How its path misbehaved beyond the stated bounds; nothing if it is good.
    #[serde(default)]
    pub flaws: Vec<String>,
    /// How often it was run before and put aside as flawed.
    #[serde(default)]
    pub put_aside: u32,
    /// What else made the trial less than perfect.
    pub warnings: Vec<String>,
    /// What its bytes went through, where that was not TCP, such as `a pipe`: then there are no
    /// packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<String>,
    /// Whether its captures, samples and path's log were kept. Where they were not, what is in
    /// memory of it are metrics and remarks; its directory, `run.json` and the tables have it all.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub has_packets: bool,
    /// What came of each flow, where there are several; everything else is about the first that is
    /// not in the background. If that has several connections, the metrics are their medians, and
    /// what the capture shows is of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowRow>,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "so serde calls it")]
fn is_true(truth: &bool) -> bool {
    *truth
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "so serde calls it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Trial {
    /// Whether its ends exchanged datagrams, and there was no connection.
    pub fn has_datagrams(&self) -> bool {
        self.metrics.find("unanswered").is_some()
    }
}

/// A measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Such as `goodput`.
    pub name: String,
    /// Such as `Mbit/s`; empty for a count.
    pub unit: String,
    /// In that unit.
    pub value: f64,
}

/// A metric over the trials of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// As in [`Metric`].
    pub name: String,
    /// As in [`Metric`].
    pub unit: String,
    /// How many trials have it.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// The middle one, or between the two in the middle. Runs of older versions do not say.
    #[serde(default)]
    pub median: Option<f64>,
    /// 95 % confidence interval of the median (bootstrap, BCa); none for a single trial. Runs of
    /// older versions do not say.
    #[serde(default)]
    pub median_interval: Option<(f64, f64)>,
    /// Sample standard deviation (n − 1); none for a single trial.
    pub standard_deviation: Option<f64>,
    /// 95 % confidence interval of the mean (Student's t); none for a single trial.
    pub interval: Option<(f64, f64)>,
}

/// A recovery episode, for tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRow {
    /// From 1 within the trial.
    pub number: usize,
    /// The paper's type: `without time lag`, `with time lag`, `intermittent`.
    pub kind: String,
    /// What first told of the loss: `sack`, `duplicate acks`, `timeout`, `probe`.
    pub evidence: String,
    /// First evidence, seconds since the trial's zero.
    pub start_s: f64,
    /// From the first evidence to the repair, seconds.
    pub duration_s: f64,
    /// Longest silence of the sender, seconds.
    pub silence_s: f64,
    /// Lost transmissions.
    pub lost_segments: usize,
    /// Retransmitted packets.
    pub retransmissions: u64,
    /// Retransmitted bytes.
    pub retransmitted_bytes: u64,
    /// Retransmissions that a timer sent.
    pub timeouts: u64,
    /// Whether everything lost was acknowledged in the end.
    pub repaired: bool,
    /// What the path's own log says: segments it dropped that belong to this episode. None where
    /// the path tells nothing.
    #[serde(default)]
    pub truth_lost: Option<usize>,
    /// Which interruption hit, from 1; none if another cause did.
    pub interruption: Option<u64>,
    /// What happened, in a sentence or three.
    pub story: String,
}

/// Recovery episodes, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// How many are of each type.
    pub kinds: BTreeMap<String, usize>,
    /// How many of all were repaired.
    pub repaired: usize,
    /// Lost transmissions of all.
    pub lost_segments: usize,
}

impl Recovery {
    /// How many there are.
    pub fn episodes(&self) -> usize {
        self.kinds.values().sum()
    }

    /// Those of this type.
    pub fn of_kind(&self, kind: &str) -> usize {
        self.kinds.get(kind).copied().unwrap_or(0)
    }

    /// Counts those of a trial too.
    pub fn count(&mut self, rows: &[EpisodeRow]) {
        for row in rows {
            match self.kinds.get_mut(&row.kind) {
                Some(count) => *count += 1,
                None => drop(self.kinds.insert(row.kind.clone(), 1)),
            }
            self.repaired += usize::from(row.repaired);
            self.lost_segments += row.lost_segments;
        }
    }

    /// Counts what another has counted too.
    pub fn add(&mut self, other: &Recovery) {
        for (kind, count) in &other.kinds {
            *self.kinds.entry(kind.clone()).or_default() += count;
        }
        self.repaired += other.repaired;
        self.lost_segments += other.lost_segments;
    }
}

/// What an interruption of the path cost a transfer, as the acknowledgements at its sender tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InterruptionRow {
    /// From 1 within the trial, as [`EpisodeRow::interruption`] counts.
    pub number: u64,
    /// When it began, seconds since the trial's zero.
    pub start_s: f64,
    /// How long it lasted, seconds.
    pub lasting_s: f64,
    /// From its end until new data were acknowledged, seconds. None if that did not come before
    /// the next one or the end.
    pub recovery_s: Option<f64>,
    /// What would have been acknowledged until the next one, or the end, at the rate of the time
    /// before it, less what was. None where that time was shorter than the interruption.
    pub lost_bytes: Option<f64>,
}

/// What one end did, as its application and the capture beside it tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndRow {
    /// Which.
    pub end: Side,
    /// The calls of its application in order, equal ones in a row together.
    pub calls: Vec<CallRow>,
    /// How long each of its requests took, milliseconds.
    pub response_times_ms: Vec<f64>,
    /// How often each of its requests was sent, where they are datagrams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub request_tries: Vec<usize>,
    /// Other metrics of this end; some have several values.
    pub metrics: Vec<Metric>,
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// In the words of the metric `connection.end`.
    pub how: String,
    /// Who sent the first FIN, or the RST.
    pub by: Option<Side>,
}

/// A statement with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingRow {
    /// The rule's name.
    pub rule: String,
    /// The statement.
    pub statement: String,
    /// What to do about it; older runs have it in the statement.
    #[serde(default)]
    pub remedy: Option<String>,
    /// Frames of the client's capture that show it.
    pub frames: Vec<u64>,
}

/// An expectation of the scenario and how it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// In the scenario's words.
    pub claim: String,
    /// What was checked, such as `episode.type includes "with time lag"`.
    pub check: String,
    /// Whether it held of all trials together.
    pub held: bool,
    /// In how many of the trials it holds taken by themselves: for what is said of a mean, or of
    /// something that some trials only have, that may be fewer than all.
    #[serde(default)]
    pub held_alone: u32,
    /// Of how many trials: numbers, each of them one trial of every case.
    #[serde(default)]
    pub trials: u32,
    /// What was found, case by case.
    pub found: String,
}

impl Claim {
    /// Such as `in 9 of 10 trials by themselves`, where it does not in each.
    pub fn shortfall(&self) -> Option<String> {
        let Claim { held_alone, trials, .. } = self;
        (held_alone < trials && *trials > 1)
            .then(|| format!("in {held_alone} of {trials} trials by themselves"))
    }
}
