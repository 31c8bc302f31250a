//! Statistics of many durations.

use serde::{Deserialize, Serialize};

/// Statistics of many durations, nanoseconds, to three digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// How many.
    pub count: u64,
    /// The shortest.
    #[serde(rename = "min_ns")]
    pub min: u64,
    /// Their mean.
    #[serde(rename = "mean_ns")]
    pub mean: f64,
    /// Their standard deviation.
    #[serde(rename = "deviation_ns")]
    pub deviation: f64,
    /// Half of them are no longer.
    #[serde(rename = "p50_ns")]
    pub p50: u64,
    /// Three quarters.
    #[serde(rename = "p75_ns")]
    pub p75: u64,
    /// Nine in ten.
    #[serde(rename = "p90_ns")]
    pub p90: u64,
    /// 99 in 100.
    #[serde(rename = "p99_ns")]
    pub p99: u64,
    /// 999 in 1000.
    #[serde(rename = "p999_ns")]
    pub p999: u64,
    /// The longest.
    #[serde(rename = "max_ns")]
    pub max: u64,
}
