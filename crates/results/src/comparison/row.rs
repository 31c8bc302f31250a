//! A metric of a case on both sides of a comparison.

use serde::{Deserialize, Serialize};
use tcplab_scenario::{Better, Threshold};

use super::outcome::Outcome;

/// How surely something is said: of each family of tests, in one run in twenty at most something is
/// called different that is not.
pub const CONFIDENCE: f64 = 0.95;
/// The level of all tests of a family together.
pub const ALPHA: f64 = 1.0 - CONFIDENCE;

/// The tests that are corrected together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The primary metric in all cases.
    Primary,
    /// All other metrics in all cases.
    Rest,
}

impl Family {
    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Family::Primary => "primary",
            Family::Rest => "rest",
        }
    }
}

/// What a difference is estimated by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The shift of Hodges and Lehmann.
    #[default]
    Shift,
    /// The difference of the medians: A's, changed by the shift, would be beyond all trials of B.
    Medians,
}

impl Estimator {
    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Estimator::Shift => "shift",
            Estimator::Medians => "medians",
        }
    }
}

/// A metric of a case on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case, as in [`ComparedCase::name`].
    pub case: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for counts.
    pub unit: String,
    /// Which of its values are good.
    pub better: Better,
    /// What it is tested with.
    pub family: Family,
    /// Whether B was compared with A by their ratio: positive amounts. Counts, shares and what may
    /// be zero are compared by their difference.
    pub is_ratio: bool,
    /// Whether trials were compared pair by pair, same seed with same seed.
    pub is_paired: bool,
    /// Whether chance has no part on either side, so that the difference is what it is: it is not
    /// tested, and has no interval. Runs of older versions do not say.
    #[serde(default)]
    pub is_exact: bool,
    /// The values of A and of B; of pairs in the same order.
    pub values: [Vec<f64>; 2],
    /// The numbers of the trials that show it best, in A and in B: of pairs, whose difference is
    /// not nothing and closest to that of all; else those closest to the medians.
    pub telling: [u32; 2],
    /// Their medians.
    pub medians: [f64; 2],
    /// 95 % intervals of these by order statistics; none for fewer than six trials.
    pub median_intervals: [Option<(f64, f64)>; 2],
    /// What the difference is estimated by. Runs of older versions do not say.
    #[serde(default)]
    pub estimator: Estimator,
    /// By how much B exceeds A's median, in the metric's unit: the shift of Hodges and Lehmann, of
    /// the values, or of their logarithms where `is_ratio`; else B's median less A's.
    pub difference: f64,
    /// Where that lies with a confidence of 95 %; none where there are too few trials to say. By
    /// the rank test, cut to what is possible, and as wide as holds the difference. Of a ratio it
    /// is above −A.
    pub interval: Option<(f64, f64)>,
    /// The probability of such a difference where there is none, by itself: 0 of an exact one.
    pub p: f64,
    /// The same corrected for its family (Holm).
    pub p_corrected: f64,
    /// From −1, B is always smaller, to 1, always larger.
    pub effect: f64,
    /// The minimum detectable difference at 90 % power; none where no difference is detectable, or
    /// nothing varies.
    pub detectable: Option<f64>,
    /// The smallest difference that matters, in the metric's unit.
    pub margin: f64,
    /// The margin as requested.
    pub threshold: Threshold,
    /// What to think of it.
    #[serde(rename = "verdict")]
    pub outcome: Outcome,
}

impl Row {
    /// A difference as a share of A's median; none of what is not compared by ratios.
    pub fn relative(&self, amount: f64) -> Option<f64> {
        self.is_ratio.then(|| amount / self.medians[0])
    }

    /// A, its median, and B, that changed by the estimated difference: so both agree with it. B is
    /// between the least and the greatest of its trials.
    pub fn estimates(&self) -> [f64; 2] {
        [self.medians[0], self.medians[0] + self.difference]
    }

    /// How large the effect is, from 0: the logarithm of the ratio of the estimates; infinite where
    /// one of them is zero.
    pub fn size(&self) -> f64 {
        let [a, b] = self.estimates();
        if self.difference == 0.0 {
            0.0
        } else if a > 0.0 && b > 0.0 {
            (b / a).ln().abs()
        } else {
            f64::INFINITY
        }
    }

    /// Whether a difference was shown, however small.
    pub fn is_different(&self) -> bool {
        self.p_corrected <= ALPHA
    }

    /// How many trials of each side there are; of pairs, how many pairs.
    pub fn trials(&self) -> [usize; 2] {
        self.values.each_ref().map(Vec::len)
    }
}
