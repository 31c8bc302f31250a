//! A metric over the trials of a case.

use serde::{Deserialize, Serialize};
use tcplab_scenario::MetricInfo;
use tcplab_stats::median_interval;

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
    /// 95 % confidence interval of the median by order statistics; none for fewer than six trials.
    /// Runs of older versions have one by the bootstrap, or none.
    #[serde(default)]
    pub median_interval: Option<(f64, f64)>,
    /// Sample standard deviation (n − 1); none for a single trial.
    pub standard_deviation: Option<f64>,
    /// 95 % confidence interval of the mean (Student's t), cut at zero where no trial is below, and
    /// of shares at the whole; none for a single trial.
    pub interval: Option<(f64, f64)>,
}

impl Summary {
    /// That of a metric of which trials have these values; none of no value.
    pub fn of(info: &MetricInfo, values: &[f64]) -> Option<Summary> {
        let summary = tcplab_stats::Summary::of(values)?;
        // What is left has the mean as often, as that is not below zero either.
        let is_amount = values.iter().all(|value| *value >= 0.0);
        let least = if is_amount { 0.0 } else { f64::NEG_INFINITY };
        let most = info.most().filter(|most| values.iter().all(|value| value <= most));
        let most = most.unwrap_or(f64::INFINITY);
        Some(Summary {
            name: info.name.into(),
            unit: info.unit.into(),
            count: summary.count,
            mean: summary.mean,
            median: Some(summary.median),
            median_interval: median_interval(values).map(|it| (it.low, it.high)),
            standard_deviation: summary.standard_deviation,
            interval: summary.interval.map(|it| (it.low.max(least), it.high.min(most))),
        })
    }

    /// Half of the interval of the mean: its longer side, as the other one may have been cut.
    pub fn half_interval(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - self.mean).max(self.mean - low))
    }
}

#[cfg(test)]
mod tests {
    use tcplab_scenario::metrics::{
        BUFFER_DELAY, EFFICIENCY, FAIRNESS, PAYLOAD_INTACT, TRANSFER_TIME,
    };

    use super::*;

    /// Two values: Student's t is 12.706 at one degree of freedom.
    #[test]
    fn interval_of_amounts_stays_above_zero_and_of_shares_within_the_whole() {
        for (info, values, expected) in [
            (TRANSFER_TIME, [1.0, 2.0], (0.0, 1.5 + 12.706 / 2.0)),
            (BUFFER_DELAY, [-1.0, 2.0], (0.5 - 12.706 * 1.5, 0.5 + 12.706 * 1.5)),
            (BUFFER_DELAY, [98.0, 99.0], (98.5 - 12.706 / 2.0, 98.5 + 12.706 / 2.0)),
            (EFFICIENCY, [98.0, 99.0], (98.5 - 12.706 / 2.0, 100.0)),
            (EFFICIENCY, [99.0, 101.0], (100.0 - 12.706, 100.0 + 12.706)),
            (FAIRNESS, [0.98, 0.99], (0.985 - 0.127_06 / 2.0, 1.0)),
            (PAYLOAD_INTACT, [0.0, 1.0], (0.0, 1.0)),
        ] {
            let (low, high) = Summary::of(info, &values).unwrap().interval.unwrap();
            let off = (low - expected.0).abs().max((high - expected.1).abs());
            assert!(off < 0.001, "{values:?}: {low} to {high}");
        }
        let half = Summary::of(EFFICIENCY, &[98.0, 99.0]).unwrap().half_interval().unwrap();
        assert!((half - 12.706 / 2.0).abs() < 0.001, "{half}");
    }
}
