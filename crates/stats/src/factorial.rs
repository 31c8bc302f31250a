//! How much of the differences each factor explains, and each pair of factors beyond that.

/// What was measured at levels of the factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The level of each factor, from 0.
    pub levels: Vec<usize>,
    /// The value.
    pub value: f64,
}

/// Shares of the variance, each from 0 to 1: η² of an analysis of variance.
#[derive(Debug, Clone, PartialEq)]
pub struct VarianceShares {
    /// Of each factor by itself.
    pub mains: Vec<f64>,
    /// Of each pair of factors, beyond what both explain by themselves.
    pub pairs: Vec<((usize, usize), f64)>,
    /// Of nothing of this: further interactions and chance.
    pub rest: f64,
}

/// Fitting ends when nothing moves by more than this share of the spread, or after so many rounds.
/// A balanced layout needs one.
const STILL: f64 = 1e-10;
const ROUNDS: usize = 1_000;

/// The shares of factors with so many levels each. Where every combination of levels has as many
/// observations as any other, these are the classical sums of squares over their total; where
/// combinations are left out, sums of squares of type II (Yates 1934; Langsrud 2003): what a term
/// explains beyond all other factors. None of values that do not differ.
pub fn variance_shares(
    level_counts: &[usize],
    observations: &[Observation],
) -> Option<VarianceShares> {
    let count = observations.len() as f64;
    let mean = observations.iter().map(|it| it.value).sum::<f64>() / count;
    let centred: Vec<f64> = observations.iter().map(|it| it.value - mean).collect();
    let total: f64 = centred.iter().map(|it| it * it).sum();
    let size = observations.iter().map(|it| it.value.abs()).fold(0.0, f64::max);
    if observations.is_empty() || total.is_nan() || total <= (size * 1e-12).powi(2) * count {
        return None;
    }
    let layout = Layout { level_counts, observations, centred: &centred };
    let all: Vec<Term> = (0..level_counts.len()).map(Term::Main).collect();
    let unexplained = layout.unexplained(&all);
    let share = |squares: f64| (squares / total).clamp(0.0, 1.0);
    let mains = (0..all.len()).map(|factor| {
        let others: Vec<Term> =
            all.iter().copied().filter(|term| *term != Term::Main(factor)).collect();
        share(layout.unexplained(&others) - unexplained)
    });
    let pairs = (0..all.len()).flat_map(|one| (one + 1..all.len()).map(move |other| (one, other)));
    let pairs = pairs.map(|(one, other)| {
        let terms: Vec<Term> = all.iter().copied().chain([Term::Pair(one, other)]).collect();
        ((one, other), share(unexplained - layout.unexplained(&terms)))
    });
    let (mains, pairs): (Vec<f64>, Vec<_>) = (mains.collect(), pairs.collect());
    let explained: f64 =
        mains.iter().sum::<f64>() + pairs.iter().map(|(_, share)| share).sum::<f64>();
    Some(VarianceShares { mains, pairs, rest: (1.0 - explained).max(0.0) })
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Term {
    Main(usize),
    Pair(usize, usize),
}

struct Layout<'a> {
    level_counts: &'a [usize],
    observations: &'a [Observation],
    centred: &'a [f64],
}

impl Layout<'_> {
    /// The sum of squares that the terms leave, fitted by least squares: each in turn takes the
    /// means of its groups out of what the others left, until nothing moves any more.
    fn unexplained(&self, terms: &[Term]) -> f64 {
        let mut left = self.centred.to_vec();
        let spread = left.iter().map(|it| it.abs()).fold(0.0, f64::max);
        for _ in 0..ROUNDS {
            let moved = terms.iter().map(|term| self.take_out(*term, &mut left));
            if moved.fold(0.0, f64::max) <= spread * STILL {
                break;
            }
        }
        left.iter().map(|it| it * it).sum()
    }

    /// Takes the mean of each group out; the largest of these.
    fn take_out(&self, term: Term, left: &mut [f64]) -> f64 {
        let groups = match term {
            Term::Main(factor) => self.level_counts[factor],
            Term::Pair(one, other) => self.level_counts[one] * self.level_counts[other],
        };
        let group = |observation: &Observation| match term {
            Term::Main(factor) => observation.levels[factor],
            Term::Pair(one, other) => {
                observation.levels[one] * self.level_counts[other] + observation.levels[other]
            }
        };
        let mut sums = vec![(0.0, 0usize); groups];
        for (observation, value) in self.observations.iter().zip(left.iter()) {
            let (sum, count) = &mut sums[group(observation)];
            *sum += value;
            *count += 1;
        }
        let means: Vec<f64> = sums.iter().map(|(sum, n)| sum / (*n).max(1) as f64).collect();
        for (observation, value) in self.observations.iter().zip(left.iter_mut()) {
            *value -= means[group(observation)];
        }
        means.iter().map(|it| it.abs()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(
        value: impl Fn(usize, usize) -> f64,
        left_out: &[(usize, usize)],
    ) -> Vec<Observation> {
        let cells = (0..3).flat_map(|a| (0..2).map(move |b| (a, b)));
        cells
            .filter(|cell| !left_out.contains(cell))
            .map(|(a, b)| Observation { levels: vec![a, b], value: value(a, b) })
            .collect()
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-6
    }

    #[test]
    fn additive_effects_have_no_interaction() {
        for left_out in [&[][..], &[(2, 1)]] {
            let made = observed(|a, b| 10.0 * a as f64 + b as f64, left_out);
            let shares = variance_shares(&[3, 2], &made).unwrap();
            assert!(near(shares.pairs[0].1, 0.0), "{shares:?}");
            assert!(shares.mains[0] > 0.9 && shares.mains[1] > 0.0, "{shares:?}");
            if left_out.is_empty() {
                assert!(near(shares.mains.iter().sum(), 1.0) && near(shares.rest, 0.0));
                // 6 observations of 0, 10, 20 and 0, 1: sums of squares 400 and 1.5.
                assert!(near(shares.mains[0], 400.0 / 401.5), "{shares:?}");
            }
        }
    }

    /// By hand: the mean is 2.5, of the rows 2, 2 and 3.5, of the columns 3 and 2; squares of the
    /// differences sum up to 17.5.
    #[test]
    fn sums_of_squares_are_the_classical_ones() {
        let values = [[1.0, 3.0], [2.0, 2.0], [6.0, 1.0]];
        let shares = variance_shares(&[3, 2], &observed(|a, b| values[a][b], &[])).unwrap();
        let expected = [(shares.mains[0], 3.0), (shares.mains[1], 1.5), (shares.pairs[0].1, 13.0)];
        assert!(expected.iter().all(|(share, squares)| near(*share, squares / 17.5)), "{shares:?}");
    }

    #[test]
    fn values_that_do_not_differ_have_no_shares() {
        assert_eq!(variance_shares(&[3, 2], &observed(|_, _| 0.1, &[])), None);
        assert_eq!(variance_shares(&[], &[]), None);
    }

    #[test]
    fn chance_is_what_is_left() {
        let mut made = observed(|a, _| a as f64, &[]);
        made.extend(observed(|a, _| a as f64 + 1.0, &[]));
        let shares = variance_shares(&[3, 2], &made).unwrap();
        assert!(near(shares.rest, 3.0 / 11.0), "{shares:?}");
    }
}
