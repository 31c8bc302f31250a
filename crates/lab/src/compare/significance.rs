//! The tests of a comparison, and their sentences.

use tcplab_results::comparison::{ALPHA, CONFIDENCE, ComparedCase, Comparison, Outcome, Row, Side};
use tcplab_results::{Case, Trial, World, median_interval};
use tcplab_scenario::{Better, MetricInfo};
use tcplab_stats::{
    Design, Interval, Observed, RankTest, Shift, holm, least_pairs, least_values, median, rank_sum,
    signed_rank, standard_deviation, trials_needed,
};
use tcplab_units::Rng;

use super::choice::{Asked, chosen_metrics};
use super::error::CompareError;
use super::sides::{Matched, Matching};
use super::surroundings;

/// Compares what was matched.
pub(super) fn comparison(
    sides: [Side; 2],
    by: Option<String>,
    matching: Matching<'_>,
    mut warnings: Vec<String>,
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let Matching { cases: matched, left_out } = matching;
    let [of_a, of_b]: [Vec<&Case>; 2] =
        [matched.iter().map(|m| m.a).collect(), matched.iter().map(|m| m.b).collect()];
    let metrics = chosen_metrics(&asked.metrics, [&of_a, &of_b])?;
    warnings.extend(left_out);
    let (mut cases, mut tested) = (Vec::new(), Vec::new());
    for case in &matched {
        warnings.extend(surroundings::of_case(case, &metrics, by.is_some()));
        let compared = compared(case);
        for info in &metrics {
            let (both, missing) = values(case, &compared, info);
            warnings.extend(missing);
            tested.extend(both.map(|values| tested_of(case, &compared, info, &values, asked)));
        }
        cases.push(compared);
    }
    let (rows, tests) = judged(tested);
    let family = family(&cases, &metrics, tests);
    let tcplab = env!("CARGO_PKG_VERSION").into();
    let metrics = metrics.iter().map(|info| info.name.to_owned()).collect();
    Ok(Comparison { tcplab, sides, by, metrics, warnings, family, tests, cases, rows })
}

/// Which trials of a case belong together.
fn compared(case: &Matched<'_>) -> ComparedCase {
    let Matched { name, a, b } = case;
    let mut rest: Vec<&Trial> = b.trials.iter().collect();
    let mut pairs = Vec::new();
    for trial in &a.trials {
        if let Some(place) = rest.iter().position(|other| other.seed == trial.seed) {
            pairs.push([trial.number, rest.remove(place).number]);
        }
    }
    // Where few trials happen to have a partner, throwing the others away would cost more than
    // pairs gain.
    if pairs.len() < a.trials.len().min(b.trials.len()) {
        pairs.clear();
    }
    ComparedCase {
        name: name.clone(),
        names: [a.name.clone(), b.name.clone()],
        is_virtual: a.world == World::Simulated && b.world == World::Simulated,
        pairs,
    }
}

/// A trial's number and its value.
type Numbered = (u32, f64);

/// The values of a metric on both sides, in pairs where there are any; and a warning about trials
/// that lack it.
fn values(
    case: &Matched<'_>,
    compared: &ComparedCase,
    info: &MetricInfo,
) -> (Option<[Vec<Numbered>; 2]>, Option<String>) {
    let value = |trial: &Trial| trial.metrics.value(info);
    let sides = [("A", case.a), ("B", case.b)];
    let lacking = sides.map(|(side, case)| {
        let lacking = case.trials.iter().filter(|trial| value(trial).is_none()).count();
        (side, lacking, case.trials.len())
    });
    let missing_of = |(side, lacking, all): &(&str, usize, usize)| match lacking {
        0 => None,
        all_of_them if all_of_them == all => Some(format!("{side} has none")),
        some => Some(format!("{some} of {all} trials of {side} have none")),
    };
    let has_any = |(_, lacking, all): &(&str, usize, usize)| lacking < all;
    let missing: Vec<String> = lacking.iter().filter_map(missing_of).collect();
    // What neither side has is not missed.
    let missing = (lacking.iter().any(has_any) && !missing.is_empty()).then(|| {
        let (name, metric) = (&compared.name, info.name);
        format!("{name}: {metric}: {}; what is missing is left out", missing.join(", "))
    });
    let both = if compared.pairs.is_empty() {
        let numbered = |trial: &Trial| Some((trial.number, value(trial)?));
        sides.map(|(_, case)| case.trials.iter().filter_map(numbered).collect::<Vec<_>>())
    } else {
        let of = |case: &Case, number: u32| -> Option<Numbered> {
            let trial = case.trials.iter().find(|trial| trial.number == number)?;
            Some((number, value(trial)?))
        };
        let both =
            compared.pairs.iter().filter_map(|[x, y]| Some((of(case.a, *x)?, of(case.b, *y)?)));
        let (a, b): (Vec<Numbered>, Vec<Numbered>) = both.unzip();
        [a, b]
    };
    (both.iter().all(|values| !values.is_empty()).then_some(both), missing)
}

/// A row before all tests are known.
struct Tested {
    row: Row,
    /// Whether both sides are in virtual time.
    is_virtual: bool,
    /// Whether nothing differs anywhere, so that there is nothing to test.
    is_constant: bool,
    /// The standard deviation that a test of this kind has to do with.
    spread: f64,
    design: Design,
}

fn tested_of(
    case: &Matched<'_>,
    compared: &ComparedCase,
    info: &MetricInfo,
    numbered: &[Vec<Numbered>; 2],
    asked: &Asked,
) -> Tested {
    let is_paired = !compared.pairs.is_empty();
    let values = numbered.each_ref().map(|of| of.iter().map(|(_, v)| *v).collect::<Vec<f64>>());
    let medians = values.each_ref().map(|values| median(values).unwrap_or_default());
    let apart = differences(&values[0], &values[1]);
    let (test, shift) = if is_paired {
        (Some(signed_rank(&apart)), Shift::of_pairs(&apart, CONFIDENCE))
    } else {
        let shift = Shift::between(&values[1], &values[0], CONFIDENCE);
        (rank_sum(&values[1], &values[0]), shift)
    };
    let RankTest { p, effect, .. } = test.expect("both sides have values");
    let Shift { estimate, interval } = shift.expect("both sides have values");
    let is_constant = if is_paired {
        apart.iter().all(|d| *d == 0.0)
    } else {
        values.iter().flatten().all(|value| value.total_cmp(&values[0][0]).is_eq())
    };
    let threshold = asked.threshold_of(info);
    let stream = format!("median of {} of {}", info.name, case.name);
    let spread_of = |values: &[f64]| standard_deviation(values).unwrap_or_default();
    let (spread, design) = if is_paired {
        (spread_of(&apart), Design::Pairs(apart.len()))
    } else {
        (pooled(&values), Design::Samples(values[0].len(), values[1].len()))
    };
    let row = Row {
        case: compared.name.clone(),
        metric: info.name.into(),
        unit: info.unit.into(),
        better: info.better,
        is_paired,
        telling: telling(numbered, is_paired.then_some(estimate), medians),
        medians,
        median_intervals: values.each_ref().map(|values| median_interval(values, &stream)),
        difference: estimate,
        interval: interval.map(|Interval { low, high }| (low, high)),
        p,
        p_corrected: p,
        effect,
        detectable: None,
        margin: threshold.margin(medians[0]),
        threshold,
        outcome: Outcome::Equivalent { identical: false },
        values,
    };
    Tested { row, is_virtual: compared.is_virtual, is_constant, spread, design }
}

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    b.iter().zip(a).map(|(b, a)| b - a).collect()
}

/// See [`Row::telling`]; `shift` is that of pairs.
fn telling([a, b]: &[Vec<Numbered>; 2], shift: Option<f64>, medians: [f64; 2]) -> [u32; 2] {
    let Some(shift) = shift else {
        let closest = |values: &[Numbered], median: f64| {
            let far = |(_, value): &&Numbered| (value - median).abs();
            let found = values.iter().min_by(|x, y| far(x).total_cmp(&far(y)));
            found.map_or(1, |(number, _)| *number)
        };
        return [closest(a, medians[0]), closest(b, medians[1])];
    };
    let pairs = || a.iter().zip(b);
    let far = |((_, x), (_, y)): &(&Numbered, &Numbered)| (y - x - shift).abs();
    let differing = pairs().filter(|((_, x), (_, y))| x.total_cmp(y).is_ne());
    let found = differing.min_by(|one, other| far(one).total_cmp(&far(other)));
    found.or_else(|| pairs().next()).map_or([1, 1], |((x, _), (y, _))| [*x, *y])
}

/// Of the values of both sides around their own means.
fn pooled(values: &[Vec<f64>; 2]) -> f64 {
    let parts = values.each_ref().map(|values| {
        let free = values.len().saturating_sub(1) as f64;
        (free, free * standard_deviation(values).unwrap_or_default().powi(2))
    });
    let free: f64 = parts.iter().map(|(free, _)| free).sum();
    let squares: f64 = parts.iter().map(|(_, squares)| squares).sum();
    if free > 0.0 { (squares / free).sqrt() } else { 0.0 }
}

/// All rows with their verdicts, the worst first, and how many tests were made.
///
/// A row in which nothing differs cannot be called different whatever the level, so it takes no
/// part in the correction (Tarone 1990).
fn judged(mut tested: Vec<Tested>) -> (Vec<Row>, usize) {
    let family: Vec<f64> =
        tested.iter().filter(|test| !test.is_constant).map(|test| test.row.p).collect();
    let mut corrected = holm(&family).into_iter();
    for test in tested.iter_mut().filter(|test| !test.is_constant) {
        test.row.p_corrected = corrected.next().expect("there is one for each");
    }
    let level = ALPHA / family.len().max(1) as f64;
    for test in &mut tested {
        if !test.is_constant {
            let apart: Vec<f64>;
            let [a, b] = &test.row.values;
            let observed = if test.row.is_paired {
                apart = differences(a, b);
                Observed::Pairs(&apart)
            } else {
                Observed::Samples(b, a)
            };
            test.row.detectable = observed.detectable(level, &mut Rng::new(0, "power"));
        }
        test.row.outcome = outcome(test, level);
    }
    let mut rows: Vec<Row> = tested.into_iter().map(|test| test.row).collect();
    let size = |row: &Row| {
        let harm = match row.better {
            Better::Higher => -row.difference,
            Better::Lower => row.difference,
            Better::Neither => row.difference.abs(),
        };
        // Of what was never there before, more than any share.
        row.relative(harm).unwrap_or(if harm == 0.0 { 0.0 } else { harm.signum() * f64::MAX })
    };
    rows.sort_by(|x, y| {
        let order = x.outcome.rank().cmp(&y.outcome.rank());
        order.then_with(|| size(y).total_cmp(&size(x)))
    });
    (rows, family.len())
}

fn outcome(test: &Tested, level: f64) -> Outcome {
    let row = &test.row;
    // The same seeds in virtual time: nothing is left to chance, so one trial is enough to say it.
    if test.is_constant && test.is_virtual && row.is_paired {
        return Outcome::Equivalent { identical: true };
    }
    let is_within = |(low, high): (f64, f64)| -row.margin <= low && high <= row.margin;
    if row.interval.is_some_and(is_within) {
        return Outcome::Equivalent { identical: test.is_constant };
    }
    if row.is_different() && !test.is_constant {
        let is_more = row.effect > 0.0;
        return match row.better {
            Better::Neither => Outcome::Different,
            Better::Higher if is_more => Outcome::Better,
            Better::Lower if !is_more => Outcome::Better,
            _ => Outcome::Worse,
        };
    }
    inconclusive(test, level)
}

/// How many more trials would decide: find the difference that there seems to be, or show that
/// there is none beyond the margin, whichever takes fewer.
fn inconclusive(test: &Tested, level: f64) -> Outcome {
    let row = &test.row;
    let have = match test.design {
        Design::Pairs(n) => n,
        Design::Samples(m, n) => m.min(n),
    };
    let least = |level| if row.is_paired { least_pairs(level) } else { least_values(level) };
    let too_few = have < least(ALPHA);
    let apart = row.difference.abs();
    let to_find = apart.max(row.margin - apart);
    // In the spread that what could be found is made of; where that is nothing, in the usual one.
    let unit = test.design.detectable(level);
    let spread = row.detectable.zip(unit).map_or(test.spread, |(found, unit)| found / unit);
    let needed = if spread > 0.0 && to_find > 0.0 {
        trials_needed(to_find / spread, level, row.is_paired)
    } else {
        least(level)
    };
    // By the formula there may be enough already; then chance was against it, or the values are
    // further from normal than it thinks.
    Outcome::Inconclusive { more: needed.saturating_sub(have).max(1 + have / 5), too_few }
}

/// What was tested together.
fn family(cases: &[ComparedCase], metrics: &[&MetricInfo], tests: usize) -> String {
    let names: Vec<&str> = metrics.iter().map(|info| info.name).collect();
    let cases = match cases.len() {
        1 => "1 case".to_owned(),
        n => format!("{n} cases"),
    };
    let tests = match tests {
        0 => "nothing varies, so nothing is tested".to_owned(),
        1 => "1 test".into(),
        n => format!("{n} tests, corrected together after Holm"),
    };
    format!("{} in {cases}: {tests}", names.join(", "))
}
