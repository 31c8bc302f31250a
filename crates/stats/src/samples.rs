//! The samples of scripts/scipy_values.py.

/// Ten transfers with one setting and with another, seconds; the same seeds.
pub(crate) const A: [f64; 10] =
    [16.73, 17.02, 16.41, 18.20, 16.95, 17.33, 16.88, 17.61, 16.52, 17.15];
pub(crate) const B: [f64; 10] =
    [16.21, 16.64, 16.30, 17.04, 16.99, 16.70, 16.11, 17.25, 16.43, 16.60];
/// Counts, with ties and zeros between them.
pub(crate) const C: [f64; 12] = [3.0, 5.0, 2.0, 4.0, 4.0, 6.0, 3.0, 5.0, 7.0, 2.0, 4.0, 3.0];
pub(crate) const D: [f64; 12] = [4.0, 5.0, 4.0, 4.0, 6.0, 9.0, 3.0, 7.0, 7.0, 5.0, 5.0, 2.0];
/// Skewed: response times, ms.
pub(crate) const E: [f64; 15] =
    [12.1, 13.4, 11.8, 15.9, 12.7, 31.2, 14.0, 12.2, 19.5, 13.1, 12.9, 55.3, 13.7, 12.4, 16.8];
pub(crate) const F: [f64; 8] = [11.0, 12.25, 11.1, 12.85, 30.5, 11.9, 13.8, 11.3];
pub(crate) const TREND: [f64; 10] = [5.1, 5.3, 5.0, 5.6, 5.5, 5.9, 5.7, 6.1, 6.0, 6.4];

pub(crate) fn long() -> Vec<f64> {
    (0..60).map(|i| 100.0 + f64::from(i * 37 % 61) / 10.0).collect()
}

pub(crate) fn longer() -> Vec<f64> {
    (0..60).map(|i| 100.9 + f64::from(i * 23 % 59) / 10.0).collect()
}

pub(crate) fn differences(sample: &[f64], other: &[f64]) -> Vec<f64> {
    sample.iter().zip(other).map(|(a, b)| a - b).collect()
}
