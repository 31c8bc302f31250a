//! Why a run has as many blocks as it has.

use serde::{Deserialize, Serialize};

/// The reason for the number of blocks; a block has one trial of every case.
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
    /// Half the 95 % interval over the mean; none with fewer than two values, or with a mean of
    /// zero.
    pub share: Option<f64>,
    /// Whether the interval is as narrow as requested.
    pub reached: bool,
}
