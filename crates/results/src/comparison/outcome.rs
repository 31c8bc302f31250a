//! What to think of a difference.

use serde::{Deserialize, Serialize};

/// What to think of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// B is worse, surely and by more than the threshold may be.
    Worse,
    /// They surely differ, in what is no merit.
    Different,
    /// Nothing is sure.
    Undecided {
        /// So many more trials of each side would decide it, or so many more seeds.
        more: usize,
        /// Whether with so few trials nothing can be shown, however large.
        too_few: bool,
    },
    /// B is surely better.
    Better,
    /// Surely no further apart than the threshold.
    Same {
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
            Outcome::Undecided { .. } => "undecided",
            Outcome::Better => "better",
            Outcome::Same { .. } => "same",
        }
    }

    /// The worst first.
    pub fn rank(self) -> usize {
        match self {
            Outcome::Worse => 0,
            Outcome::Different => 1,
            Outcome::Undecided { .. } => 2,
            Outcome::Better => 3,
            Outcome::Same { .. } => 4,
        }
    }
}
