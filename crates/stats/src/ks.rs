//! Whether a sample may come from a law: the test of Kolmogorov and Smirnov.

use std::f64::consts::PI;

/// What the test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KolmogorovSmirnov {
    /// The largest distance between the sample's distribution and the law's, 0 to 1.
    pub statistic: f64,
    /// How likely a sample from the law is to be as far from it or farther.
    pub p: f64,
}

impl KolmogorovSmirnov {
    /// The test of a sample against a law, given by the probability of a value of at most x
    /// (`up_to`) and of less than x (`below`), which differ where a single value is likely by
    /// itself. None of an empty sample.
    ///
    /// For a law with such values, `p` is too large rather than too small: the test then finds
    /// less than it could, and gives no false positives.
    ///
    /// # Panics
    /// When a value is not a number.
    pub fn of(
        sample: &[f64],
        up_to: impl Fn(f64) -> f64,
        below: impl Fn(f64) -> f64,
    ) -> Option<KolmogorovSmirnov> {
        let mut sorted = sample.to_vec();
        sorted.sort_by(|a, b| a.partial_cmp(b).expect("values are numbers"));
        let n = sorted.len() as f64;
        let (mut statistic, mut before): (f64, usize) = (0.0, 0);
        for alike in sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()) {
            let value = alike[0];
            let after = before + alike.len();
            statistic = statistic.max(after as f64 / n - up_to(value));
            statistic = statistic.max(below(value) - before as f64 / n);
            before = after;
        }
        (!sample.is_empty())
            .then(|| KolmogorovSmirnov { statistic, p: p_value(statistic, sample.len()) })
    }
}

/// The probability of a statistic above `d` for `n` values, by the limit for large n with the
/// correction of Stephens (1970), good to a few per cent of itself from 20 values on.
fn p_value(d: f64, n: usize) -> f64 {
    let root = (n as f64).sqrt();
    kolmogorov_tail((root + 0.12 + 0.11 / root) * d)
}

/// The probability that a variable with Kolmogorov's distribution exceeds `x`.
fn kolmogorov_tail(x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    // Of the two series (Kolmogorov 1933, and its transform by Jacobi's identity), each converges
    // within a few terms on its own side.
    if x < 1.18 {
        let term = |k: u32| (-f64::from(2 * k - 1).powi(2) * PI * PI / (8.0 * x * x)).exp();
        return 1.0 - (2.0 * PI).sqrt() / x * (1..=6).map(term).sum::<f64>();
    }
    let term = |k: u32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    };
    (1..=10).map(term).sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_matches_scipy() {
        // scipy.special.kolmogorov, SciPy 1.17.1.
        for (x, expected) in [
            (0.3, 0.999_990_694_198_665_5),
            (0.5, 0.963_945_243_664_875_1),
            (0.8, 0.544_142_411_574_198_1),
            (1.0, 0.269_999_671_677_354_56),
            (1.18, 0.123_453_809_429_765_7),
            (1.36, 0.049_485_876_755_377_876),
            (1.63, 0.009_846_364_888_486_529),
            (1.95, 0.000_995_910_842_883_58),
            (2.5, 7.453_306_344_157_342e-6),
        ] {
            let ours = kolmogorov_tail(x);
            assert!((ours / expected - 1.0).abs() < 1e-9, "{x}: {ours} against {expected}");
        }
        assert!(kolmogorov_tail(0.0) >= 1.0 && kolmogorov_tail(100.0) <= 0.0);
    }

    #[test]
    fn p_is_close_to_that_of_scipy() {
        // The exact one: scipy.stats.kstwo.sf(d, n), SciPy 1.17.1.
        for (n, d, expected) in [
            (20, 0.2, 0.352_720_173_623_415),
            (50, 0.1, 0.662_311_270_465_818_6),
            (50, 0.25, 0.003_065_762_019_869_744_4),
            (200, 0.08, 0.146_396_135_637_250_3),
            (1000, 0.03, 0.322_690_214_391_463_6),
            (1000, 0.06, 0.001_428_597_887_952_891),
            (100_000, 0.005, 0.013_430_824_977_799_608),
        ] {
            let ours = p_value(d, n);
            assert!((ours / expected - 1.0).abs() < 0.04, "{d} of {n}: {ours} for {expected}");
        }
    }

    #[test]
    fn distance_from_law_matches_scipy() {
        // scipy.stats.kstest(sample, "uniform"), SciPy 1.17.1.
        let sample = [0.96, 0.12, 0.18, 0.31, 0.44, 0.47, 0.58, 0.71, 0.74, 0.93];
        let uniform = |x: f64| x.clamp(0.0, 1.0);
        for (power, expected) in [(1, 0.14), (2, 0.279_1)] {
            let sample: Vec<f64> = sample.iter().map(|x: &f64| x.powi(power)).collect();
            let test = KolmogorovSmirnov::of(&sample, uniform, uniform).unwrap();
            assert!((test.statistic - expected).abs() < 1e-12, "{test:?}");
        }
        assert_eq!(KolmogorovSmirnov::of(&[], uniform, uniform), None);
    }

    #[test]
    fn atom_of_law_is_no_distance() {
        // Always 5.
        let up_to = |x: f64| f64::from(u8::from(x >= 5.0));
        let below = |x: f64| f64::from(u8::from(x > 5.0));
        let test = |sample: &[f64]| KolmogorovSmirnov::of(sample, up_to, below).unwrap();
        assert!(test(&[5.0; 100]).statistic.abs() < 1e-12);
        assert!((test(&[5.0, 5.0, 5.0, 4.0]).statistic - 0.25).abs() < 1e-12);
        assert!(test(&[6.0; 100]).p < 1e-9);
    }
}
