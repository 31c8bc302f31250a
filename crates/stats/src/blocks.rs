//! Comparisons within blocks: each block has one value of every level, under conditions of its own.

use crate::summary::{Interval, mean, standard_deviation};

/// The mean of each level over `blocks`, which have a value for every level each, and its 95 %
/// interval after what the blocks differ by is taken out, so that intervals compare levels
/// (Cousineau 2005) and are as wide as they must be (Morey 2008). Without an interval of a single
/// block or level.
///
/// # Panics
/// When blocks have not the same number of values, or one is not finite.
pub fn marginal_means(blocks: &[Vec<f64>]) -> Vec<(f64, Option<Interval>)> {
    let levels = blocks.first().map_or(0, Vec::len);
    assert!(blocks.iter().all(|block| block.len() == levels), "blocks are complete");
    let column = |level: usize| blocks.iter().map(|block| block[level]).collect::<Vec<f64>>();
    let means: Vec<f64> = (0..levels).filter_map(|level| mean(&column(level))).collect();
    let all = mean(&means).unwrap_or(0.0);
    let correction = (levels as f64 / (levels as f64 - 1.0)).sqrt();
    let interval = |level: usize| {
        if levels < 2 {
            return None;
        }
        let own = blocks.iter().map(|block| Some(block[level] - mean(block)? + all));
        let deviation = standard_deviation(&own.collect::<Option<Vec<f64>>>()?)? * correction;
        Some(Interval::of_mean(means[level], deviation, blocks.len()))
    };
    means.iter().enumerate().map(|(level, mean)| (*mean, interval(level))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_between_blocks_do_not_widen_intervals() {
        let level = |block: f64, noise: f64| vec![block + noise, block + 5.0 - noise];
        let blocks = [level(0.0, 0.1), level(1000.0, -0.1), level(500.0, 0.05)];
        let means = marginal_means(&blocks);
        assert!((means[1].0 - means[0].0 - 4.966_666).abs() < 1e-3, "{means:?}");
        assert!(means.iter().all(|(_, it)| it.unwrap().half_width() < 1.0), "{means:?}");
        assert_eq!(marginal_means(&blocks[..1])[0].1, None);
        assert!(marginal_means(&[]).is_empty());
        assert_eq!(marginal_means(&[vec![1.0], vec![2.0]]), [(1.5, None)]);
    }

    /// With two levels the interval of the difference by t is √2 that of each mean (Morey 2008).
    #[test]
    fn intervals_of_means_agree_with_that_of_their_difference() {
        let blocks = [[1.0, 2.5], [2.0, 2.7], [4.0, 6.1], [3.0, 4.4]].map(Vec::from);
        let differences: Vec<f64> = blocks.iter().map(|block| block[1] - block[0]).collect();
        let deviation = standard_deviation(&differences).unwrap();
        let pair = Interval::of_mean(mean(&differences).unwrap(), deviation, blocks.len());
        let half = marginal_means(&blocks)[0].1.unwrap().half_width();
        assert!((pair.half_width() - half * 2f64.sqrt()).abs() < 1e-9);
    }
}
