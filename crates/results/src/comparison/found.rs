//! What a comparison came to.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use super::row::Row;
use crate::RunWorld;

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// tcplab's version.
    pub tcplab: String,
    /// A and B.
    pub sides: [Side; 2],
    /// The factor whose levels are compared, within one run.
    pub by: Option<String>,
    /// The metrics, the primary one first.
    pub metrics: Vec<String>,
    /// What else differs between A and B, and what is less than perfect about either.
    pub warnings: Vec<String>,
    /// What was tested together, in a sentence.
    pub family: String,
    /// How many tests that are, of both families.
    pub tests: usize,
    /// What was compared, in the order of A.
    pub cases: Vec<ComparedCase>,
    /// Each metric of each case, the worst verdict first; of equal verdicts the largest effect.
    pub rows: Vec<Row>,
    /// What could not be compared, since one side has no value: inconclusive, too.
    #[serde(default)]
    pub missing: Vec<Missing>,
    /// Whether cases were compared as one trial each.
    #[serde(default)]
    pub is_over_cases: bool,
}

impl Comparison {
    /// How many rows have a verdict of this kind, what is missing included.
    pub fn count(&self, is_it: impl Fn(&Outcome) -> bool) -> usize {
        let missing = if is_it(&Missing::OUTCOME) { self.missing.len() } else { 0 };
        self.rows.iter().filter(|row| is_it(&row.outcome)).count() + missing
    }

    /// How many comparisons there are, what is missing included.
    pub fn total(&self) -> usize {
        self.rows.len() + self.missing.len()
    }
}

/// A metric of a case that only one side has, or no pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The case, as in [`ComparedCase::name`].
    pub case: String,
    /// The metric.
    pub metric: String,
    /// Such as `B has none`.
    pub why: String,
}

impl Missing {
    /// The verdict.
    pub const OUTCOME: Outcome = Outcome::Inconclusive { more: 1, too_few: true };
}

/// One of what is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What to call it: the run's directory, or the level.
    pub label: String,
    /// The scenario's name.
    pub scenario: String,
    /// The run's directory.
    pub directory: PathBuf,
    /// When it was started, UTC.
    pub started: String,
    /// The seed of the run.
    pub seed: u64,
    /// Where its cases ran.
    pub world: RunWorld,
}

/// A case on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedCase {
    /// What both have in common.
    pub name: String,
    /// The case's name in A and in B.
    pub names: [String; 2],
    /// Whether both sides are in virtual time: then nothing but the seed decides.
    pub is_virtual: bool,
    /// The numbers of trials that ran with the same seed, in A and in B; nothing where the sides
    /// are independent of one another.
    pub pairs: Vec<[u32; 2]>,
}
