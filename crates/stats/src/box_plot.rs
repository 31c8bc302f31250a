//! What a box plot shows of values.

use crate::summary::{quantile_of_sorted, sorted};

/// Whiskers end inside of the box's length times this, from the box (Tukey, Exploratory Data
/// Analysis, 1977).
const REACH: f64 = 1.5;

/// Quartiles, whiskers and outliers.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxPlot {
    /// The first quartile, the median and the third quartile by [`quantile`](crate::quantile).
    pub quartiles: (f64, f64, f64),
    /// The least and the greatest value that is no farther from the box than 1.5 times the box's
    /// length. Where no such value lies beyond the box, the whisker ends at the quartile.
    pub whiskers: (f64, f64),
    /// The values beyond the whiskers, rising.
    pub outliers: Vec<f64>,
}

impl BoxPlot {
    /// None of no values.
    ///
    /// # Panics
    /// When a value is not finite.
    pub fn of(values: &[f64]) -> Option<BoxPlot> {
        let sorted = sorted(values);
        let at = |share| quantile_of_sorted(&sorted, share);
        let (first, middle, third) = (at(0.25)?, at(0.5)?, at(0.75)?);
        let room = REACH * (third - first);
        let (least, most) = (first - room, third + room);
        let low = sorted.iter().copied().find(|value| *value >= least);
        let high = sorted.iter().copied().rfind(|value| *value <= most);
        let whiskers = (low.unwrap_or(first).min(first), high.unwrap_or(third).max(third));
        let is_beyond = |value: &f64| *value < whiskers.0 || *value > whiskers.1;
        let outliers = sorted.iter().copied().filter(is_beyond).collect();
        Some(BoxPlot { quartiles: (first, middle, third), whiskers, outliers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values, then `numpy.quantile(values, [0.25, 0.5, 0.75], method="linear")` of NumPy 2.4.6
    /// (R's type 7; `scipy.stats.mstats.mquantiles(values, alphap=1, betap=1)` of SciPy 1.17.1
    /// agrees), then `whislo`, `whishi` and `fliers` of `matplotlib.cbook.boxplot_stats(values)` of
    /// Matplotlib 3.11.2.
    type Row<'a> = (&'a [f64], [f64; 3], [f64; 2], &'a [f64]);

    const ROWS: [Row<'_>; 11] = [
        (
            &[4.31, 4.52, 4.11, 4.87, 4.42, 4.4, 4.39, 4.68, 4.05, 4.55],
            [4.33, 4.41, 4.5425],
            [4.05, 4.68],
            &[4.87],
        ),
        (&[3.0], [3.0, 3.0, 3.0], [3.0, 3.0], &[]),
        (&[1.0, 4.0], [1.75, 2.5, 3.25], [1.0, 4.0], &[]),
        (&[1.0, 2.0, 40.0], [1.5, 2.0, 21.0], [1.0, 40.0], &[]),
        // The farthest value inside lies in the box.
        (&[1.0, 2.0, 3.0, 10.0], [1.75, 2.5, 4.75], [1.0, 4.75], &[10.0]),
        (
            &[-50.0, 9.0, 10.0, 10.5, 11.0, 12.0, 13.0, 14.0, 60.0, 61.0],
            [10.125, 11.5, 13.75],
            [9.0, 14.0],
            &[-50.0, 60.0, 61.0],
        ),
        // A value at exactly 1.5 lengths is inside.
        (&[0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0], [2.5, 4.0, 5.5], [0.0, 10.0], &[]),
        (&[5.0, 5.0, 5.0, 5.0, 5.0, 9.0], [5.0, 5.0, 5.0], [5.0, 5.0], &[9.0]),
        (
            &[1.0, 1.0, 1.0, 1.0, 100.0, 1.0, 1.0, 101.0],
            [1.0, 1.0, 25.75],
            [1.0, 25.75],
            &[100.0, 101.0],
        ),
        (&[-8.5, -7.25, -7.0, -6.5, -6.0, 1.0], [-7.1875, -6.75, -6.125], [-8.5, -6.0], &[1.0]),
        (
            &[0.0, 10.0, 10.0, 10.0, 10.0, 30.0, 30.0, 11.0],
            [10.0, 10.0, 15.75],
            [10.0, 15.75],
            &[0.0, 30.0, 30.0],
        ),
    ];

    #[test]
    fn boxes_are_those_of_numpy_and_matplotlib() {
        for (values, quartiles, whiskers, outliers) in ROWS {
            let found = BoxPlot::of(values).unwrap();
            let (first, middle, third) = found.quartiles;
            let ours = [first, middle, third, found.whiskers.0, found.whiskers.1];
            let theirs = [&quartiles[..], &whiskers].concat();
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert!((ours - theirs).abs() < 1e-12, "{found:?} of {values:?}");
            }
            assert_eq!(found.outliers, outliers, "{values:?}");
        }
        assert_eq!(BoxPlot::of(&[]), None);
    }
}
