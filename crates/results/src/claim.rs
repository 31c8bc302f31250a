//! The scenario's expectations, and how they went.

use serde::{Deserialize, Serialize};

/// An expectation of the scenario and how it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// In the scenario's words.
    pub claim: String,
    /// What was checked, such as `episode.type includes "with time lag"`.
    pub check: String,
    /// Whether it held of all trials together.
    pub held: bool,
    /// In how many single trials it passes: for a claim about a mean, or about
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
    /// Such as `met in 9 of 10 trials`; none if it is met in each.
    pub fn shortfall(&self) -> Option<String> {
        let Claim { held_alone, trials, .. } = self;
        (held_alone < trials && *trials > 1)
            .then(|| format!("met in {held_alone} of {trials} trials"))
    }
}
