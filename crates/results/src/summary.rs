//! A metric over the trials of a case.

use serde::{Deserialize, Serialize};
use tcplab_scenario::MetricInfo;
use tcplab_stats::Bootstrap;
use tcplab_units::Rng;

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
    /// 95 % confidence interval of the median (bootstrap, BCa); none for a single trial. Runs of
    /// older versions do not say.
    #[serde(default)]
    pub median_interval: Option<(f64, f64)>,
    /// Sample standard deviation (n − 1); none for a single trial.
    pub standard_deviation: Option<f64>,
    /// 95 % confidence interval of the mean (Student's t); none for a single trial.
    pub interval: Option<(f64, f64)>,
}

impl Summary {
    /// That of a metric of which trials have these values; none of no value.
    pub fn of(info: &MetricInfo, values: &[f64]) -> Option<Summary> {
        let summary = tcplab_stats::Summary::of(values)?;
        Some(Summary {
            name: info.name.into(),
            unit: info.unit.into(),
            count: summary.count,
            mean: summary.mean,
            median: Some(summary.median),
            median_interval: median_interval(values, info.name),
            standard_deviation: summary.standard_deviation,
            interval: summary.interval.map(|interval| (interval.low, interval.high)),
        })
    }
}

/// The interval of the median of a metric's values; `stream` names what is drawn for it.
pub fn median_interval(values: &[f64], stream: &str) -> Option<(f64, f64)> {
    /// The values drawn for one interval, and the least and largest number of samples.
    const DRAWS: usize = 2_000_000;
    const SAMPLES: (usize, usize) = (200, 2_000);
    let resamples = (DRAWS / values.len().max(1)).clamp(SAMPLES.0, SAMPLES.1);
    let bootstrap = Bootstrap { resamples, ..Bootstrap::default() };
    let interval = bootstrap.median(values, &mut Rng::new(0, stream))?;
    Some((interval.low, interval.high))
}
