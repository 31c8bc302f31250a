//! The tests of a comparison, and their sentences.

use crate::comparison::Outcome;
use crate::comparison::{CONFIDENCE, Family, Row};
use crate::comparison::{ComparedCase, Comparison, Side};
use crate::{Case, Trial, World, median_interval};
use tcplab_scenario::{Better, MetricInfo, MetricKind};
use tcplab_stats::{
    Design, Observed, RankTest, Shift, least_pairs, least_values, median, rank_sum, signed_rank,
    standard_deviation, trials_needed,
};
use tcplab_units::Rng;

use super::choice::{Asked, chosen_metrics};
use super::error::CompareError;
use super::estimate::{Estimate, amount};
use super::family::{self, Tests};
use super::progress::Progress;
use super::sides::{Matched, Matching};
use super::surroundings;

/// Compares what was matched; `main` is tested first unless metrics are named, and there were
/// `choices` pairs of levels to choose from.
pub(super) fn comparison(
    sides: [Side; 2],
    by: Option<String>,
    matching: Matching<'_>,
    mut warnings: Vec<String>,
    asked: &Asked,
    (main, choices): (Option<&MetricInfo>, usize),
) -> Result<Comparison, CompareError> {
    let Matching { cases: matched, left_out } = matching;
    let [of_a, of_b]: [Vec<&Case>; 2] =
        [matched.iter().map(|m| m.a).collect(), matched.iter().map(|m| m.b).collect()];
    let metrics = chosen_metrics(asked, [&of_a, &of_b], main)?;
    warnings.extend(left_out);
    // Two steps for each: estimated, then judged.
    asked.progress.begin(2 * matched.len() * metrics.len());
    let is_one_world = sides[0].world == sides[1].world;
    let (mut cases, mut tested, mut of_cases) = (Vec::new(), Vec::new(), Vec::new());
    for case in &matched {
        let own = surroundings::of_case(case, &metrics, by.is_some(), is_one_world);
        of_cases.extend(own.into_iter().map(|what| (case.name.clone(), what)));
        let compared = compared(case);
        for info in &metrics {
            let (both, missing) = values(case, &compared, info);
            of_cases.extend(missing.map(|what| (case.name.clone(), what)));
            let family = if *info == metrics[0] { Family::Primary } else { Family::Rest };
            // What has no values has nothing to judge either.
            let steps = if both.is_some() { 1 } else { 2 };
            tested.extend(
                both.map(|values| tested_of(case, &compared, (info, family), &values, asked)),
            );
            asked.progress.advance(steps);
        }
        cases.push(compared);
    }
    warnings.extend(surroundings::together(of_cases));
    let (rows, tests) = judged(tested, choices, &asked.progress);
    let family = family::sentence(&cases, &metrics, tests);
    let tests = tests.primary + tests.rest;
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
    let missing = (lacking.iter().any(has_any) && !missing.is_empty())
        .then(|| format!("{}: {}; what is missing is left out", info.name, missing.join(", ")));
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
    /// See [`Estimate::whole`].
    whole: Option<(f64, f64)>,
    /// The tested values: logarithms where the row is of a ratio.
    scaled: [Vec<f64>; 2],
    /// The differences of pairs of these.
    apart: Vec<f64>,
    /// The shift of these.
    shift: f64,
    /// Their standard deviation that a test of this kind has to do with.
    spread: f64,
    design: Design,
}

impl Tested {
    fn observed(&self) -> Observed<'_> {
        let [a, b] = &self.scaled;
        if self.row.is_paired { Observed::Pairs(&self.apart) } else { Observed::Samples(b, a) }
    }
}

/// Whether a metric is compared by ratios: positive amounts, whose differences grow with them.
/// Counts and shares are compared by differences, in their unit and in points.
fn is_by_ratio(info: &MetricInfo, values: &[Vec<f64>; 2]) -> bool {
    let is_amount =
        info.kind == MetricKind::Number && !matches!(info.unit, "" | "segments" | "packets" | "%");
    is_amount && values.iter().flatten().all(|value| *value > 0.0)
}

fn tested_of(
    case: &Matched<'_>,
    compared: &ComparedCase,
    (info, family): (&MetricInfo, Family),
    numbered: &[Vec<Numbered>; 2],
    asked: &Asked,
) -> Tested {
    let is_paired = !compared.pairs.is_empty();
    let values = numbered.each_ref().map(|of| of.iter().map(|(_, v)| *v).collect::<Vec<f64>>());
    let medians = values.each_ref().map(|values| median(values).unwrap_or_default());
    let is_ratio = is_by_ratio(info, &values);
    let scale = |value: f64| if is_ratio { value.ln() } else { value };
    let scaled = values.each_ref().map(|of| of.iter().map(|v| scale(*v)).collect::<Vec<f64>>());
    let apart = differences(&scaled[0], &scaled[1]);
    let (test, shift) = if is_paired {
        (Some(signed_rank(&apart)), Shift::of_pairs(&apart, CONFIDENCE))
    } else {
        let shift = Shift::between(&scaled[1], &scaled[0], CONFIDENCE);
        (rank_sum(&scaled[1], &scaled[0]), shift)
    };
    let RankTest { p, effect, .. } = test.expect("both sides have values");
    let shift = shift.expect("both sides have values");
    let is_exact = is_exact(case, &values);
    let is_same = medians[0].total_cmp(&medians[1]).is_eq();
    let p = if is_exact { f64::from(u8::from(is_same)) } else { p };
    let is_constant = if is_paired {
        apart.iter().all(|d| *d == 0.0)
    } else {
        values.iter().flatten().all(|value| value.total_cmp(&values[0][0]).is_eq())
    };
    let Estimate { estimator, difference, interval, whole } =
        Estimate::of(shift, is_ratio, medians, (info, &values));
    let threshold = asked.threshold_of(info);
    let stream = format!("median of {} of {}", info.name, case.name);
    let (spread, design) = if is_paired {
        (standard_deviation(&apart).unwrap_or_default(), Design::Pairs(apart.len()))
    } else {
        (pooled(&scaled), Design::Samples(values[0].len(), values[1].len()))
    };
    let row = Row {
        case: compared.name.clone(),
        metric: info.name.into(),
        unit: info.unit.into(),
        better: info.better,
        family,
        is_ratio,
        is_paired,
        is_exact,
        telling: telling(numbered, is_paired.then_some((&scaled, shift.estimate)), medians),
        medians,
        median_intervals: values.each_ref().map(|values| median_interval(values, &stream)),
        estimator,
        difference,
        interval: interval.filter(|_| !is_exact),
        p,
        p_corrected: p,
        effect,
        detectable: None,
        margin: threshold.margin(medians[0]),
        threshold,
        outcome: Outcome::Equivalent { identical: false },
        values,
    };
    let is_virtual = compared.is_virtual;
    let shift = shift.estimate;
    Tested { row, is_virtual, is_constant, whole, scaled, apart, shift, spread, design }
}

/// Whether chance has no part in these values of a case.
fn is_exact(case: &Matched<'_>, values: &[Vec<f64>; 2]) -> bool {
    let is_same = |values: &Vec<f64>| values.iter().all(|it| it.total_cmp(&values[0]).is_eq());
    case.a.is_exact && case.b.is_exact && values.iter().all(is_same)
}

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    b.iter().zip(a).map(|(b, a)| b - a).collect()
}

/// See [`Row::telling`]; `shift` is that of the scaled values of pairs.
fn telling(
    [a, b]: &[Vec<Numbered>; 2],
    pairs: Option<(&[Vec<f64>; 2], f64)>,
    medians: [f64; 2],
) -> [u32; 2] {
    let Some((scaled, shift)) = pairs else {
        let closest = |values: &[Numbered], median: f64| {
            let far = |(_, value): &&Numbered| (value - median).abs();
            let found = values.iter().min_by(|x, y| far(x).total_cmp(&far(y)));
            found.map_or(1, |(number, _)| *number)
        };
        return [closest(a, medians[0]), closest(b, medians[1])];
    };
    let apart = differences(&scaled[0], &scaled[1]);
    let far = |place: &usize| (apart[*place] - shift).abs();
    let differing = (0..apart.len()).filter(|place| apart[*place] != 0.0);
    let found = differing.min_by(|one, other| far(one).total_cmp(&far(other)));
    let place = found.unwrap_or_default();
    if apart.is_empty() { [1, 1] } else { [a[place].0, b[place].0] }
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

/// All rows with their verdicts, the worst first and of equal ones the largest effect, and how many
/// tests were made.
fn judged(mut tested: Vec<Tested>, choices: usize, progress: &Progress) -> (Vec<Row>, Tests) {
    let varying = tested.iter_mut().filter(|test| !test.is_constant && !test.row.is_exact);
    let tests =
        family::correct(&mut varying.map(|test| &mut test.row).collect::<Vec<_>>(), choices);
    for test in &mut tested {
        let level = tests.level(test.row.family);
        let detectable = || test.observed().detectable(level, &mut Rng::new(0, "power"));
        let found = if test.is_constant || test.row.is_exact { None } else { detectable() };
        let Row { is_ratio, medians, .. } = test.row;
        test.row.detectable = found.map(|shift| amount(is_ratio, medians[0], shift));
        test.row.outcome = outcome(test, found, level);
        progress.advance(1);
    }
    let mut rows: Vec<Row> = tested.into_iter().map(|test| test.row).collect();
    rows.sort_by(|x, y| {
        let order = x.outcome.rank().cmp(&y.outcome.rank());
        order.then_with(|| y.size().total_cmp(&x.size()))
    });
    (rows, tests)
}

fn outcome(test: &Tested, detectable: Option<f64>, level: f64) -> Outcome {
    let row = &test.row;
    // The same seeds in virtual time: nothing is left to chance, so one trial is enough to say it.
    if test.is_constant && test.is_virtual && row.is_paired {
        return Outcome::Equivalent { identical: true };
    }
    let is_within = |(low, high): (f64, f64)| -row.margin <= low && high <= row.margin;
    let is_equivalent = if row.is_exact {
        is_within((row.difference, row.difference))
    } else {
        [row.interval, test.whole].iter().all(|interval| interval.is_some_and(is_within))
    };
    if is_equivalent {
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
    inconclusive(test, detectable, level)
}

/// So many trials nobody runs.
const MANY: usize = 1_000_000_000;

/// How many more trials would decide: find the difference that there seems to be, or show that
/// there is none beyond the margin, whichever takes fewer.
fn inconclusive(test: &Tested, detectable: Option<f64>, level: f64) -> Outcome {
    let row = &test.row;
    let have = match test.design {
        Design::Pairs(n) => n,
        Design::Samples(m, n) => m.min(n),
    };
    let least = |level| if row.is_paired { least_pairs(level) } else { least_values(level) };
    let too_few = have < least(level);
    let apart = test.shift.abs();
    let margin = if row.is_ratio { (row.margin / row.medians[0]).ln_1p() } else { row.margin };
    let to_find = apart.max(margin - apart);
    // In the spread that what could be found is made of; where that is nothing, in the usual one.
    let unit = test.design.detectable(level);
    let spread = detectable.zip(unit).map_or(test.spread, |(found, unit)| found / unit);
    let needed = if spread > 0.0 && to_find > 0.0 {
        trials_needed(to_find / spread, level, row.is_paired)
    } else if to_find == 0.0 && !test.is_constant {
        // Most are equal, as where one trial in ten has a timeout.
        test.observed().trials_to_tell(level)
    } else {
        least(level)
    };
    // By the formula there may be enough already; then chance was against it, or the values are
    // further from normal than it thinks.
    Outcome::Inconclusive { more: needed.saturating_sub(have).max(1 + have / 5).min(MANY), too_few }
}
