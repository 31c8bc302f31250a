//! How often something of known probability happens, and how probable is what happens so often.

use crate::Interval;

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

/// Where the probability of success lies with at least the given confidence when `count` of `n`
/// trials succeeded (Clopper and Pearson 1934). All is possible of no trial.
///
/// # Panics
/// When `count` exceeds `n`, or `confidence` is not between 0 and 1.
pub fn share_interval(count: u64, n: u64, confidence: f64) -> Interval {
    assert!(count <= n, "{count} of {n} trials");
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence of {confidence}");
    let tail = (1.0 - confidence) / 2.0;
    Interval { low: 1.0 - most(n - count, n, tail), high: most(count, n, tail) }
}

/// The probability of success with which `count` successes or fewer are as rare as `tail`.
fn most(count: u64, n: u64, tail: f64) -> f64 {
    if count == n {
        return 1.0;
    }
    let (mut low, mut high) = (count as f64 / n as f64, 1.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if up_to(count, n, middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// How likely `count` successes or fewer are, of no more than are expected.
fn up_to(count: u64, n: u64, p: f64) -> f64 {
    let few = count.min(n - count);
    let ways: f64 = (0..few).map(|k| ((n - k) as f64 / (k + 1) as f64).ln()).sum();
    let first = ways + count as f64 * p.ln() + (n - count) as f64 * (-p).ln_1p();
    let (mut weight, mut sum) = (1.0, 1.0);
    for successes in (1..=count).rev() {
        weight *= successes as f64 / (n - successes + 1) as f64 * (1.0 - p) / p;
        sum += weight;
        if weight < NEGLIGIBLE {
            break;
        }
    }
    first.exp() * sum
}

/// The most by which one outcome may be likelier than its opposite, at an upper bound of the given
/// two-sided confidence: `more` of `n` trials had the one, `less` the other, the rest neither. By
/// the intervals of both shares (MOVER, Zou 2008), of [`share_interval`].
///
/// # Panics
/// As [`share_interval`].
pub fn most_excess(more: u64, less: u64, n: u64, confidence: f64) -> f64 {
    let [one, other] = [more, less].map(|count| share_interval(count, n, confidence));
    let [share, against] = [more, less].map(|count| count as f64 / n as f64);
    share - against + (one.high - share).hypot(against - other.low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each end of an interval is as rare as the tail: by the sum over all numbers of successes, in
    /// exact fractions of Python.
    #[test]
    fn shares_are_those_of_clopper_and_pearson() {
        for (count, n, low, high) in CLOPPER_PEARSON {
            let found = share_interval(count, n, 0.95);
            assert!((found.low - low).abs() < 1e-11, "{count} of {n}: {found:?}");
            assert!((found.high - high).abs() < 1e-11, "{count} of {n}: {found:?}");
            // What none has against it has the bound of its share.
            assert!((most_excess(count, 0, n, 0.95) - high).abs() < 1e-11);
        }
        assert_eq!(share_interval(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
        // (5 − 3) / 100 and √((0.1128 − 0.05)² + (0.03 − 0.0062)²).
        assert!((most_excess(5, 3, 100, 0.95) - 0.087_2).abs() < 1e-3);
    }

    const CLOPPER_PEARSON: [(u64, u64, f64, f64); 7] = [
        (0, 20, 0.0, 0.168_433_470_983),
        (1, 20, 0.001_265_089_498, 0.248_732_762_772),
        (3, 20, 0.032_070_937_185, 0.378_926_826_545),
        (20, 20, 0.831_566_529_017, 1.0),
        (9, 250, 0.016_591_282_926, 0.067_236_908_459),
        (3, 250, 0.002_481_558_255, 0.034_666_614_575),
        (5, 100, 0.016_431_879_182, 0.112_834_911_105),
    ];

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
