//! How far apart two samples are, and how far apart chance puts two samples of one law once in a
//! thousand times.

/// A distance, and the largest that passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Distance {
    pub(crate) is: f64,
    pub(crate) at_most: f64,
}

/// Beyond so many standard deviations a normal variate is once in a thousand times.
const DEVIATIONS: f64 = 3.2905;
/// Beyond this, the distance of Kolmogorov and Smirnov times the root of the sample size is once in
/// a thousand times.
const KOLMOGOROV: f64 = 1.9495;

impl Distance {
    pub(crate) fn passes(self) -> bool {
        self.is <= self.at_most
    }
}

/// Of two shares, each as a count and its total: their difference, and the bound of two binomial
/// counts with one probability.
pub(crate) fn shares((some, of): (u64, u64), (others, of_them): (u64, u64)) -> Distance {
    let (n, m) = (of as f64, of_them as f64);
    let share = (some + others) as f64 / (n + m);
    let variance = share * (1.0 - share) * (1.0 / n + 1.0 / m);
    Distance {
        is: (some as f64 / n - others as f64 / m).abs(),
        at_most: DEVIATIONS * variance.sqrt(),
    }
}

/// Of two samples: the largest distance between their distribution functions (Kolmogorov and
/// Smirnov). With ties, as of whole numbers, the bound is larger than need be.
pub(crate) fn laws(one: &[f64], other: &[f64]) -> Distance {
    let [one, other] = [one, other].map(|sample| {
        let mut sample = sample.to_vec();
        sample.sort_by(f64::total_cmp);
        sample
    });
    let share = |sample: &[f64], at: f64| {
        sample.partition_point(|it| *it <= at) as f64 / sample.len() as f64
    };
    let points = one.iter().chain(&other);
    let is = points.map(|at| (share(&one, *at) - share(&other, *at)).abs()).fold(0.0, f64::max);
    let (n, m) = (one.len() as f64, other.len() as f64);
    Distance { is, at_most: KOLMOGOROV * ((n + m) / (n * m)).sqrt() }
}

/// Of a number to those that many seeds give: how far it is from their mean, and the bound of one
/// more of a normal law, beside a tolerance.
pub(crate) fn one_of_many(many: &[f64], one: f64, tolerance: f64) -> Distance {
    let (mean, deviation) = mean_and_deviation(many);
    let n = many.len() as f64;
    let chance = student(n - 1.0) * deviation * (1.0 + 1.0 / n).sqrt();
    Distance { is: (one - mean).abs(), at_most: if n > 1.0 { chance } else { 0.0 } + tolerance }
}

/// Of two samples of one size: how far apart their means are, and the bound of two normal laws
/// (Welch), beside a tolerance as a share of the mean.
pub(crate) fn means(one: &[f64], other: &[f64], tolerance: f64) -> Distance {
    let [(mean, deviation), (mean_too, deviation_too)] = [one, other].map(mean_and_deviation);
    let n = one.len() as f64;
    let [variance, variance_too] = [deviation, deviation_too].map(|it| it * it / n);
    let sum = variance + variance_too;
    let degrees = sum * sum * (n - 1.0) / (variance * variance + variance_too * variance_too);
    let chance = if sum > 0.0 { student(degrees) * sum.sqrt() } else { 0.0 };
    Distance { is: (mean - mean_too).abs(), at_most: chance + tolerance * mean.max(mean_too) }
}

/// Beyond so many estimated standard deviations a variate of Student's law with these degrees of
/// freedom is once in a thousand times (Abramowitz and Stegun 26.7.5; within 1 % from 8 degrees
/// on).
fn student(degrees: f64) -> f64 {
    let z = DEVIATIONS;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / degrees) + z
}

pub(crate) fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

fn mean_and_deviation(sample: &[f64]) -> (f64, f64) {
    let mean = mean(sample);
    let squares: f64 = sample.iter().map(|it| (it - mean).powi(2)).sum();
    (mean, (squares / (sample.len() as f64 - 1.0).max(1.0)).sqrt())
}

/// The value below which a share of the sample is; NaN of nothing.
pub(crate) fn quantile(sample: &[f64], share: f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (share * sorted.len() as f64) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}
