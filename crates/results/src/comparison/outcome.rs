//! Verdicts on differences.

use serde::{Deserialize, Serialize};

/// The verdict on a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// B is worse, surely and by more than the threshold may be.
    Worse,
    /// They surely differ, in what is no merit.
    Different,
    /// Not significant: more trials are needed.
    Inconclusive {
        /// How many more trials of each side, or more seeds, it probably needs.
        more: usize,
        /// Whether with so few trials nothing can be shown, however large.
        too_few: bool,
    },
    /// B is surely better.
    Better,
    /// Surely no further apart than the threshold.
    Equivalent {
        /// Whether each trial has the same value on both sides.
        identical: bool,
    },
}

impl Outcome {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Worse => "worse",
            Outcome::Different => "different",
            Outcome::Inconclusive { .. } => "inconclusive",
            Outcome::Better => "better",
            Outcome::Equivalent { .. } => "equivalent",
        }
    }

    /// The worst first.
    pub fn rank(self) -> usize {
        match self {
            Outcome::Worse => 0,
            Outcome::Different => 1,
            Outcome::Inconclusive { .. } => 2,
            Outcome::Better => 3,
            Outcome::Equivalent { .. } => 4,
        }
    }
}
