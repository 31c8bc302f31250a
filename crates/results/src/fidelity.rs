//! The model against the kernel: how far apart the same cases are in both worlds.

use serde::{Deserialize, Serialize};

/// Both worlds compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// tcplab's version.
    pub tcplab: String,
    /// The kernel in virtual time that the model was compared with; absent: that of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The machine on which the kernel's trials ran: (name, value).
    pub environment: Vec<(String, String)>,
    /// What was compared, in the order of the scenarios and their matrices.
    pub cases: Vec<Compared>,
    /// Each quantity over all cases.
    pub summary: Vec<Overall>,
    /// The requirements of the model, and whether they are met.
    pub goals: Vec<Goal>,
}

impl Fidelity {
    /// Whether every goal is met.
    pub fn is_within(&self) -> bool {
        self.goals.iter().all(|goal| goal.held)
    }

    /// Of one quantity over all cases, by its name.
    pub fn overall(&self, name: &str) -> Option<&Overall> {
        self.summary.iter().find(|overall| overall.name == name)
    }
}

/// A case in both worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The scenario's name.
    pub scenario: String,
    /// The case's.
    pub case: String,
    /// The factors and their levels.
    pub levels: Vec<(String, String)>,
    /// Trials of the kernel whose path misbehaved, and which count nevertheless.
    pub flawed: usize,
    /// Trials that both ran to their end.
    pub trials: usize,
    /// Trials that failed on the kernel or on the model, and do not count.
    #[serde(default)]
    pub failed: usize,
    /// Trials in which a data segment of the model is not the kernel's.
    pub partings: Vec<Parting>,
    /// What was measured, in one order for all cases.
    pub quantities: Vec<Quantity>,
    /// The mean difference of the curves of the congestion window, as a share of the kernel's
    /// mean; none where there were no samples.
    pub cwnd_distance: Option<f64>,
}

impl Compared {
    /// One of its quantities, by its name.
    pub fn quantity(&self, name: &str) -> Option<&Quantity> {
        self.quantities.iter().find(|quantity| quantity.name == name)
    }
}

/// Where two trials of the same seed part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parting {
    /// The number of the trial.
    pub trial: u32,
    /// Data segments that are the same, in position and length, before the first that is not.
    pub segments_alike: usize,
    /// Data segments of the kernel's trial.
    pub segments: usize,
    /// The first packet of the kernel, data or acknowledgement, that the model's is not; absent
    /// where its trial was over.
    pub kernel: Option<Packet>,
    /// What the model has in its place.
    pub model: Option<Packet>,
}

/// A packet as the sender's capture shows it. Positions count from the SYN, which is 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Packet {
    /// It carries data.
    Data {
        /// When, from the trial's zero.
        at_s: f64,
        /// The position of its first byte.
        sequence: u64,
        /// Bytes.
        length_bytes: u64,
    },
    /// It acknowledges data.
    Ack {
        /// When, from the trial's zero.
        at_s: f64,
        /// The position that is expected next.
        acknowledgement: u64,
        /// The window.
        window_bytes: Option<u64>,
    },
}

/// The goal that counts trials which differ in any data segment.
pub const DIFFERENT_TRIALS: &str = "different_trials";

/// A quantity of a case in both worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// A metric's name, or `cause.` and the key of the quantity that counts retransmissions of that
    /// cause.
    pub name: String,
    /// Such as `s`; empty for a count.
    pub unit: String,
    /// A value for each of the kernel's trials that has it.
    pub kernel: Vec<f64>,
    /// And of the model's.
    pub model: Vec<f64>,
    /// The model's median over the kernel's: 1 where both are zero, none where only the kernel's is
    /// or one has no values.
    pub ratio: Option<f64>,
    /// How far from 1 the ratio of two medians lies, in the middle, when both are drawn from the
    /// kernel's own trials: which no model can beat.
    pub noise: Option<f64>,
}

/// A quantity over all cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// As in [`Quantity`]; also `cwnd_distance`, which is one, not a ratio's.
    pub name: String,
    /// Cases that have a ratio.
    pub cases: usize,
    /// Cases that have none though one world had something to count: they count as infinitely far.
    pub undefined: usize,
    /// The median over cases of the ratio's distance from 1; none if that is not finite.
    pub median: Option<f64>,
    /// The 90th percentile over cases.
    pub most: Option<f64>,
    /// What the median would be of the kernel against itself, with as many trials.
    pub noise_median: Option<f64>,
    /// And the 90th percentile.
    pub noise_most: Option<f64>,
}

/// A requirement of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The quantity.
    pub name: String,
    /// Of the cases in order of their distance: 0.5 is the one in the middle; absent for
    /// [`DIFFERENT_TRIALS`], a share of all trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// The ratio may be so far from 1 there.
    pub at_most: f64,
    /// And is; none if that is not finite.
    pub found: Option<f64>,
    /// Whether it is within.
    pub held: bool,
}
