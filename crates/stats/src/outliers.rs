//! Values that are far from the others.

use crate::median;

/// A value more than this many median absolute deviations from the median is called
/// an outlier: ten standard deviations of a normal distribution, as hyperfine has it. Iglewicz and
/// Hoaglin (1993) propose three and a half; a network has long tails, and a warning that comes with
/// every run warns of nothing.
pub const OUTLIER: f64 = 1.4826 * 10.0;

/// How far each value is from the median, in median absolute deviations, with its sign (the
/// modified z-score of Iglewicz and Hoaglin 1993 without its constant). Where more than half of the
/// values are equal, any other is infinitely far. Nothing of none.
///
/// # Panics
/// When a value is not finite.
pub fn modified_z_scores(values: &[f64]) -> Vec<f64> {
    let Some(middle) = median(values) else { return Vec::new() };
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let usual = median(&distances).unwrap_or_default();
    let score = |value: &f64| {
        let distance = value - middle;
        if distance == 0.0 { 0.0 } else { distance / usual }
    };
    values.iter().map(score).collect()
}

/// The places of the values that are [`OUTLIER`]s.
///
/// # Panics
/// When a value is not finite.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let scores = modified_z_scores(values).into_iter().enumerate();
    scores.filter(|(_, score)| score.abs() > OUTLIER).map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_those_of_hyperfine() {
        // The cases of hyperfine's own tests (src/outlier_detection.rs, 1.20).
        let usual = [2.33, 1.42, -0.58, -0.31, 2.29, 0.82, -1.07, -0.95, -1.16, 1.11];
        let far = [&usual[..], &[20.0, -500.0]].concat();
        let equal = [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 100.0, 100.0];
        let none: [usize; 0] = [];
        for (values, expected) in [
            (&[][..], &none[..]),
            (&[50.0], &none),
            (&[1000.0, 0.0], &none),
            (&[-0.2, 0.0, 0.2], &none),
            (&[-0.2, 0.0, 0.2, 4.0], &[3]),
            (&[0.5, 0.30, 0.29, 0.31, 0.30], &[0]),
            (&usual, &none),
            (&far, &[10, 11]),
            (&equal, &[7, 8]),
        ] {
            assert_eq!(outliers(values), expected, "{values:?}");
        }
    }
}
