//! How often something of known probability happens.

/// The range in which the number of successes lies with at least the given confidence, when each of
/// `n` trials succeeds with probability `p`: what lies below is as unlikely as what lies above, at
/// most (1 − confidence) / 2 each. Exact.
///
/// # Panics
/// When `p` or `confidence` is not between 0 and 1.
pub fn binomial_range(n: u64, p: f64, confidence: f64) -> (u64, u64) {
    assert!((0.0..=1.0).contains(&p), "a probability of {p}");
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence of {confidence}");
    if p <= 0.0 || n == 0 {
        return (0, 0);
    }
    if p >= 1.0 {
        return (n, n);
    }
    let tail = (1.0 - confidence) / 2.0;
    // Weights against that of the likeliest number; far from it nothing is left to be counted.
    let odds = p / (1.0 - p);
    let mode = (((n + 1) as f64 * p).floor() as u64).min(n);
    let (mut first, mut weight) = (mode, 1.0);
    let mut below = vec![1.0];
    while first > 0 && weight > NEGLIGIBLE {
        weight *= first as f64 / (n - first + 1) as f64 / odds;
        first -= 1;
        below.push(weight);
    }
    below.reverse();
    let mut weights = below;
    let (mut last, mut weight) = (mode, 1.0);
    while last < n && weight > NEGLIGIBLE {
        weight *= (n - last) as f64 / (last + 1) as f64 * odds;
        last += 1;
        weights.push(weight);
    }
    let total: f64 = weights.iter().sum();
    let beyond = |weights: &mut dyn Iterator<Item = &f64>| -> u64 {
        let mut sum = 0.0;
        let within = weights.take_while(|weight| {
            sum += **weight;
            sum < tail * total
        });
        within.count() as u64
    };
    (first + beyond(&mut weights.iter()), last - beyond(&mut weights.iter().rev()))
}

/// Of the weight of the likeliest number.
const NEGLIGIBLE: f64 = 1e-18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_scipy() {
        // scipy.stats.binom.interval(0.999, n, p), SciPy 1.17.1.
        for (n, p, range) in [
            (10, 0.5, (0, 10)),
            (100, 0.01, (0, 6)),
            (500, 0.01, (0, 14)),
            (1000, 0.3, (253, 348)),
            (1_000_000, 0.01, (9_674, 10_329)),
            (1_000_000, 0.5, (498_355, 501_645)),
            (50, 0.0001, (0, 1)),
            (1000, 0.999, (994, 1000)),
        ] {
            assert_eq!(binomial_range(n, p, 0.999), range, "{n} of {p}");
        }
    }

    #[test]
    fn certain_events_have_no_range() {
        assert_eq!(binomial_range(100, 0.0, 0.999), (0, 0));
        assert_eq!(binomial_range(100, 1.0, 0.999), (100, 100));
        assert_eq!(binomial_range(0, 0.5, 0.999), (0, 0));
    }

    proptest::proptest! {
        #[test]
        fn binomial_is_symmetric(n in 1_u64..2000, p in 0.001..0.999_f64) {
            let (low, high) = binomial_range(n, p, 0.99);
            let (other_low, other_high) = binomial_range(n, 1.0 - p, 0.99);
            proptest::prop_assert!(low <= high && high <= n);
            // A tail right at the bound may fall either way.
            proptest::prop_assert!(low.abs_diff(n - other_high) <= 1);
            proptest::prop_assert!(high.abs_diff(n - other_low) <= 1);
        }
    }
}
