//! Ratios, what they would be by chance, and whether they are good enough.

use tcplab_results::fidelity::{Compared, DIFFERENT_TRIALS, Goal, Overall};
use tcplab_scenario::{MetricInfo, metrics};
use tcplab_stats::{median, quantile};
use tcplab_units::Rng;

use super::figures::QUANTITIES;

/// What is asked: a quantity, the share of cases (its quantile), and how far from 1 the ratio may
/// be there.
const GOALS: [(&MetricInfo, f64, f64); 3] = [
    (metrics::TRANSFER_TIME, 0.5, 0.05),
    (metrics::TRANSFER_TIME, 0.9, 0.15),
    (metrics::RETRANSMISSIONS, 0.5, 0.2),
];

/// What is asked where both are exact: a kernel in virtual time and a model.
const EXACT_GOALS: [(&MetricInfo, f64, f64); 2] =
    [(metrics::TRANSFER_TIME, 0.9, 0.01), (metrics::RETRANSMISSIONS, 0.9, 0.05)];
/// And the share of trials that may differ in any data segment.
const DIFFERENT: f64 = 0.4;

/// The cases at which a summary looks.
const MOST: f64 = 0.9;
/// The number of random draws.
const DRAWS: u32 = 200;

/// The median of the model's values over that of the kernel's.
pub(crate) fn ratio(kernel: &[f64], model: &[f64]) -> Option<f64> {
    let (kernel, model) = (median(kernel)?, median(model)?);
    if kernel == 0.0 {
        return (model == 0.0).then_some(1.0);
    }
    Some(model / kernel)
}

/// The middle of what chance does to the ratio of two medians of as many values as there are, drawn
/// from these with replacement (Efron 1979); none of fewer than two values, which show no spread.
pub(crate) fn noise(values: &[f64]) -> Option<f64> {
    let draws = apart_by_chance(values)?;
    median(&draws.into_iter().flatten().collect::<Vec<_>>())
}

/// For each draw, how far from 1 the ratio of two medians was.
fn apart_by_chance(values: &[f64]) -> Option<Vec<Option<f64>>> {
    if values.len() < 2 {
        return None;
    }
    // The same draws each time: the figures of a comparison do not change when it is made again.
    let mut random = Rng::new(1, "fidelity noise");
    let mut sample = || -> Vec<f64> {
        values.iter().map(|_| values[random.below(values.len() as u64) as usize]).collect()
    };
    let mut draw = |_| ratio(&sample(), &sample()).map(|ratio| (ratio - 1.0).abs());
    Some((0..DRAWS).map(&mut draw).collect())
}

/// Each quantity over all cases.
pub(crate) fn summarise(cases: &[Compared]) -> Vec<Overall> {
    let mut summary: Vec<Overall> =
        QUANTITIES.iter().map(|figure| overall(&figure.name(), cases)).collect();
    let distances: Vec<f64> = cases.iter().filter_map(|case| case.cwnd_distance).collect();
    summary.push(Overall {
        name: "cwnd_distance".into(),
        cases: distances.len(),
        undefined: 0,
        median: median(&distances),
        most: quantile(&distances, MOST),
        noise_median: None,
        noise_most: None,
    });
    summary
}

fn overall(name: &str, cases: &[Compared]) -> Overall {
    let all: Vec<_> = cases.iter().filter_map(|case| case.quantity(name)).collect();
    let has_values = all.iter().filter(|q| !q.kernel.is_empty() && !q.model.is_empty());
    let ratios: Vec<Option<f64>> = has_values.map(|q| q.ratio).collect();
    let apart = |ratio: &Option<f64>| ratio.map(|ratio| (ratio - 1.0).abs());
    let apart: Vec<Option<f64>> = ratios.iter().map(apart).collect();
    let by_chance: Vec<_> = all.iter().filter_map(|q| apart_by_chance(&q.kernel)).collect();
    let noise = |share: f64| {
        let one = |draw: usize| {
            let cases: Vec<Option<f64>> = by_chance.iter().map(|case| case[draw]).collect();
            at(&cases, share)
        };
        let draws: Vec<f64> = (0..DRAWS as usize).filter_map(one).collect();
        median(&draws)
    };
    Overall {
        name: name.into(),
        cases: ratios.iter().flatten().count(),
        undefined: ratios.iter().filter(|ratio| ratio.is_none()).count(),
        median: at(&apart, 0.5),
        most: at(&apart, MOST),
        noise_median: noise(0.5),
        noise_most: noise(MOST),
    }
}

/// The quantile of distances, of which those that are none are infinite; none if it is infinite.
fn at(apart: &[Option<f64>], share: f64) -> Option<f64> {
    let mut finite: Vec<f64> = apart.iter().flatten().copied().collect();
    finite.sort_by(f64::total_cmp);
    // As `tcplab_stats::quantile` interpolates.
    let position = apart.len().checked_sub(1)? as f64 * share;
    let (low, high) =
        (finite.get(position.floor() as usize)?, finite.get(position.ceil() as usize)?);
    Some(low + (high - low) * position.fract())
}

/// The goals, and whether they are met.
pub(crate) fn goals(summary: &[Overall]) -> Vec<Goal> {
    GOALS.into_iter().map(|goal| judged(summary, goal)).collect()
}

/// The goals where both are exact.
pub(crate) fn exact_goals(summary: &[Overall], cases: &[Compared]) -> Vec<Goal> {
    let trials: usize = cases.iter().map(|case| case.trials + case.failed).sum();
    let different: usize = cases.iter().map(|case| case.partings.len() + case.failed).sum();
    let found = (trials > 0).then(|| different as f64 / trials as f64);
    let identity = Goal {
        name: DIFFERENT_TRIALS.into(),
        quantile: None,
        at_most: DIFFERENT,
        found,
        held: found.is_some_and(|found| found <= DIFFERENT),
    };
    EXACT_GOALS.into_iter().map(|goal| judged(summary, goal)).chain([identity]).collect()
}

fn judged(summary: &[Overall], (info, share, at_most): (&MetricInfo, f64, f64)) -> Goal {
    let overall = summary.iter().find(|overall| overall.name == info.name);
    let found = overall.and_then(|o| if share >= MOST { o.most } else { o.median });
    let held = found.is_some_and(|found| found <= at_most);
    Goal { name: info.name.into(), quantile: Some(share), at_most, found, held }
}
