//! The model against the kernel: how far apart the same cases are in both worlds.

use serde::{Deserialize, Serialize};

/// Both worlds compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// tcplab's version.
    pub tcplab: String,
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
    /// Of the cases in order of their distance: 0.5 is the one in the middle.
    pub quantile: f64,
    /// The ratio may be so far from 1 there.
    pub at_most: f64,
    /// And is; none if that is not finite.
    pub found: Option<f64>,
    /// Whether it is within.
    pub held: bool,
}
