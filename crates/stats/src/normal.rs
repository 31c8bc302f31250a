//! The normal distribution, and the bound on a spread that follows from it.

use std::f64::consts::PI;

/// The probability that a standard normal variable is at most `x`: 15 digits of it in the middle,
/// and of the tails themselves.
pub fn normal_probability(x: f64) -> f64 {
    if x.abs() > FAR {
        let tail = density(x) / tail_fraction(x.abs());
        return if x > 0.0 { 1.0 - tail } else { tail };
    }
    // x + x³/3 + x⁵/(3·5) + … (Marsaglia 2004, "Evaluating the normal distribution").
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > 1e-18 * sum.abs() {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    0.5 + sum * density(x)
}

/// Where the series gives way to the continued fraction.
const FAR: f64 = 4.0;

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// x + 1/(x + 2/(x + 3/(x + …))) (Abramowitz and Stegun 26.2.14).
fn tail_fraction(x: f64) -> f64 {
    (1..=100).rev().fold(x, |below, k| x + f64::from(k) / below)
}

/// The value that a standard normal variable stays below with probability `p`.
///
/// # Panics
/// When `p` is not between 0 and 1 (both excluded).
pub fn normal_quantile(p: f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "no quantile at {p}");
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    // Abramowitz and Stegun 26.2.23, good to 4.5e-4; then Newton's method, with Halley's term.
    let t = (-2.0 * p.ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = numerator / denominator - t;
    for _ in 0..4 {
        let step = (normal_probability(x) - p) / density(x);
        x -= step / (1.0 + x * step / 2.0);
    }
    x
}

/// By what factor the true spread exceeds the sample standard deviation of `count` values, at
/// least two, with a confidence of 80 %: the root of (n − 1) over the lower quantile of χ², by the
/// approximation of Wilson and Hilferty (1931), good to 1 % from two degrees of freedom on.
pub(crate) fn spread_bound(count: usize) -> f64 {
    let df = (count.max(3) - 1) as f64;
    let part = 2.0 / (9.0 * df);
    let ratio = 1.0 - part + normal_quantile(1.0 - SPREAD_CONFIDENCE) * part.sqrt();
    (1.0 / ratio.powi(3)).sqrt()
}

/// How sure one is that the spread is not larger than its bound.
const SPREAD_CONFIDENCE: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_scipy() {
        // scipy.stats.norm.cdf, SciPy 1.17.1.
        for (x, expected) in [
            (-8.0, 6.220_960_574_271_74e-16),
            (-3.5, 0.000_232_629_079_035_525_02),
            (-1.0, 0.158_655_253_931_457_07),
            (0.0, 0.5),
            (0.3, 0.617_911_422_188_952_6),
            (2.0, 0.977_249_868_051_820_8),
            (6.0, 0.999_999_999_013_412_3),
        ] {
            let ours = normal_probability(x);
            assert!((ours / expected - 1.0).abs() < 1e-12, "{x}: {ours} against {expected}");
        }
    }

    #[test]
    fn quantiles_are_those_of_scipy() {
        // scipy.stats.norm.ppf, SciPy 1.17.1.
        for (p, expected) in [
            (1e-9, -5.997_807_015_007_686_5),
            (0.001, -3.090_232_306_167_813),
            (0.025, -1.959_963_984_540_054_5),
            (0.3, -0.524_400_512_708_041),
            (0.5, 0.0),
            (0.9, 1.281_551_565_544_600_4),
            (0.9999, 3.719_016_485_455_709),
        ] {
            let ours = normal_quantile(p);
            assert!((ours - expected).abs() < 1e-12, "{p}: {ours} against {expected}");
        }
    }

    #[test]
    fn bound_matches_chi_squared() {
        // scipy.stats.chi2.ppf(0.2, df), SciPy 1.17.1.
        for (df, quantile) in [
            (2_usize, 0.446_287_102_628_419_5),
            (5, 2.342_534_305_841_121),
            (9, 5.380_053_211_773_292),
            (29, 22.475_051_977_511_21),
            (99, 87.005_211_910_877_7),
        ] {
            let expected = (df as f64 / quantile).sqrt();
            let ours = spread_bound(df + 1);
            assert!((ours / expected - 1.0).abs() < 0.02, "{df}: {ours} against {expected}");
        }
    }
}
