//! The tests of a comparison, and their sentences.

use crate::Case;
use crate::comparison::Outcome;
use crate::comparison::{ALPHA, CONFIDENCE, Family, Row};
use crate::comparison::{ComparedCase, Comparison, Missing, Side};
use tcplab_scenario::{Better, MetricInfo};
use tcplab_stats::{
    Design, Observed, RankTest, Shift, least_pairs, least_values, median, median_interval,
    rank_sum, signed_rank, trials_needed,
};
use tcplab_units::Rng;

use super::choice::{Asked, chosen_metrics};
use super::error::CompareError;
use super::estimate::{Estimate, amount};
use super::family::{self, Tests};
use super::minority::Minority;
use super::pairs::{self, Numbered, Values};
use super::progress::Progress;
use super::scaled::Scaled;
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
    let Matching { cases: matched, lost, left_out } = matching;
    let parts = || matched.iter().flat_map(Matched::parts);
    let [of_a, of_b]: [Vec<&Case>; 2] =
        [parts().map(|m| m.a).collect(), parts().map(|m| m.b).collect()];
    let metrics = chosen_metrics(asked, [&of_a, &of_b], main)?;
    warnings.extend(left_out);
    // Two steps for each: estimated, then judged.
    asked.progress.begin(2 * matched.len() * metrics.len());
    let is_one_world = sides[0].world == sides[1].world;
    let is_one_seed = sides[0].seed == sides[1].seed;
    let mut missing: Vec<Missing> = lost.iter().flat_map(|it| missing_of(it, &metrics)).collect();
    let (mut cases, mut tested) = (Vec::new(), Vec::new());
    let mut of_cases = Vec::new();
    for case in &matched {
        let compared = pairs::compared(case);
        for part in case.parts() {
            let own = surroundings::of_case(part, &metrics, by.is_some(), is_one_world);
            let lacking = metrics.iter().filter_map(|info| pairs::lacking(part, info));
            let apart = is_one_seed.then(|| pairs::unmatched(case, &compared)).flatten();
            let own = own.into_iter().chain(apart).chain(lacking);
            of_cases.extend(own.map(|what| (part.name.clone(), what)));
        }
        for info in &metrics {
            let family = if *info == metrics[0] { Family::Primary } else { Family::Rest };
            match pairs::values(case, &compared, info) {
                Values::Both(values) => {
                    asked.progress.advance(1);
                    tested.push(tested_of(case, &compared, (info, family), &values, asked));
                    continue;
                }
                Values::Apart(why) if family == Family::Primary || case.has_trials() => {
                    let (case, metric) = (compared.name.clone(), info.name.to_owned());
                    missing.push(Missing { case, metric, why: why.into() });
                }
                Values::Apart(_) | Values::None => {}
            }
            // What has no values has nothing to judge either.
            asked.progress.advance(2);
        }
        cases.push(compared);
    }
    warnings.extend(surroundings::together(of_cases));
    let (rows, tests) = judged(tested, choices, &asked.progress);
    Ok(Comparison {
        tcplab: env!("CARGO_PKG_VERSION").into(),
        sides,
        by,
        metrics: metrics.iter().map(|info| info.name.to_owned()).collect(),
        warnings,
        family: family::sentence(&cases, &metrics, tests),
        tests: tests.primary + tests.rest,
        is_over_cases: matched.iter().any(|case| !case.parts.is_empty()),
        cases,
        rows,
        missing,
    })
}

/// The metrics of a case that B does not have.
fn missing_of(case: &Case, metrics: &[&MetricInfo]) -> impl Iterator<Item = Missing> {
    let has = |info: &MetricInfo| case.trials.iter().any(|it| it.metrics.value(info).is_some());
    let known = metrics.iter().filter(move |info| has(info));
    known.map(|info| Missing {
        case: case.name.clone(),
        metric: info.name.to_owned(),
        why: "B has no such case".into(),
    })
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
    /// The tested values.
    scaled: Scaled,
    /// The shift of these.
    shift: f64,
    design: Design,
    /// Pairs that differ by more than the margin.
    minority: Option<Minority>,
}

impl Tested {
    fn observed(&self) -> Observed<'_> {
        let Scaled { values: [a, b], apart, .. } = &self.scaled;
        if self.row.is_paired { Observed::Pairs(apart) } else { Observed::Samples(b, a) }
    }
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
    let scaled = Scaled::of(info, &values, is_paired);
    let Scaled { is_ratio, values: [a, b], apart } = &scaled;
    let (is_ratio, [a, b]) = (*is_ratio, [a, b]);
    let (test, shift) = if is_paired {
        (Some(signed_rank(apart)), Shift::of_pairs(apart, CONFIDENCE))
    } else {
        (rank_sum(b, a), Shift::between(b, a, CONFIDENCE))
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
    let margin = threshold.margin(medians[0]);
    let design =
        if is_paired { Design::Pairs(apart.len()) } else { Design::Samples(a.len(), b.len()) };
    let minority = Minority::of(apart, is_ratio, medians[0], margin);
    let row = Row {
        case: compared.name.clone(),
        metric: info.name.into(),
        unit: info.unit.into(),
        better: info.better,
        family,
        is_ratio,
        is_paired,
        is_exact,
        telling: telling(numbered, is_paired.then_some((apart, shift.estimate)), medians),
        medians,
        median_intervals: values
            .each_ref()
            .map(|values| median_interval(values).map(|it| (it.low, it.high))),
        estimator,
        difference,
        interval: interval.filter(|_| !is_exact),
        p,
        p_corrected: p,
        effect,
        detectable: None,
        margin,
        threshold,
        outcome: Outcome::Equivalent { identical: false },
        values,
    };
    let is_virtual = compared.is_virtual;
    let shift = shift.estimate;
    Tested { row, is_virtual, is_constant, whole, scaled, shift, design, minority }
}

/// Whether chance has no part in these values of a case.
fn is_exact(case: &Matched<'_>, values: &[Vec<f64>; 2]) -> bool {
    let is_same = |values: &Vec<f64>| values.iter().all(|it| it.total_cmp(&values[0]).is_eq());
    case.a.is_exact && case.b.is_exact && values.iter().all(is_same)
}

/// See [`Row::telling`]; `shift` is that of the scaled values of pairs.
fn telling(
    [a, b]: &[Vec<Numbered>; 2],
    pairs: Option<(&Vec<f64>, f64)>,
    medians: [f64; 2],
) -> [u32; 2] {
    let Some((apart, shift)) = pairs else {
        let closest = |values: &[Numbered], median: f64| {
            let far = |(_, value): &&Numbered| (value - median).abs();
            let found = values.iter().min_by(|x, y| far(x).total_cmp(&far(y)));
            found.map_or(1, |(number, _)| *number)
        };
        return [closest(a, medians[0]), closest(b, medians[1])];
    };
    let far = |place: &usize| (apart[*place] - shift).abs();
    let differing = (0..apart.len()).filter(|place| apart[*place] != 0.0);
    let found = differing.min_by(|one, other| far(one).total_cmp(&far(other)));
    let place = found.unwrap_or_default();
    if apart.is_empty() { [1, 1] } else { [a[place].0, b[place].0] }
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
        test.row.outcome = outcome(test, level);
        progress.advance(1);
    }
    let mut rows: Vec<Row> = tested.into_iter().map(|test| test.row).collect();
    rows.sort_by(|x, y| {
        let order = x.outcome.rank().cmp(&y.outcome.rank());
        order.then_with(|| y.size().total_cmp(&x.size()))
    });
    (rows, tests)
}

fn outcome(test: &Tested, level: f64) -> Outcome {
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
            && !test.minority.as_ref().is_some_and(Minority::matters)
            && !is_of_few(test)
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
    inconclusive(test, level)
}

/// Whether the test finds a difference that the interval does not show, as where most values are
/// equal: it is of the others, of which some differ by more than the margin.
fn is_of_few(test: &Tested) -> bool {
    let row = &test.row;
    let is_far = |value: &f64| (value - row.medians[0]).abs() > row.margin;
    let is_beyond = if row.is_paired {
        test.minority.is_some()
    } else {
        row.values.iter().flatten().any(is_far)
    };
    let is_shown = test.whole.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    row.is_different() && is_beyond && !is_shown
}

/// So many trials nobody runs.
const MANY: usize = 1_000_000_000;

/// How many more trials would decide.
fn inconclusive(test: &Tested, level: f64) -> Outcome {
    let have = match test.design {
        Design::Pairs(n) => n,
        Design::Samples(m, n) => m.min(n),
    };
    let too_few = !test.design.is_enough(level);
    // By the formula there may be enough already; then chance was against it, or the values are
    // further from normal than it thinks. Too few are fewer than any formula asks for.
    let least = if too_few { 1 } else { 1 + have / 5 };
    let more = needed(test, level).saturating_sub(have).max(least).min(MANY);
    Outcome::Inconclusive { more, too_few }
}

/// How many trials find the difference that there seems to be, or show that there is none beyond
/// the margin, whichever takes fewer.
fn needed(test: &Tested, level: f64) -> usize {
    if test.is_constant {
        return if test.row.is_paired { least_pairs(level) } else { least_values(level) };
    }
    test.observed().trials_to_tell(level).min(to_dismiss(test))
}

/// How many trials show that there is no difference beyond the margin: by the interval, which is
/// not corrected for the family.
fn to_dismiss(test: &Tested) -> usize {
    let Tested { row, design, scaled, .. } = test;
    let margin = if row.is_ratio { (row.margin / row.medians[0]).ln_1p() } else { row.margin };
    let room = margin - test.shift.abs();
    if room <= 0.0 {
        return MANY;
    }
    // In the spread that what could be found is made of; where that is nothing, in the usual one.
    let found = test.observed().detectable(ALPHA, &mut Rng::new(0, "power"));
    let spread = found
        .zip(design.detectable(ALPHA))
        .map_or_else(|| scaled.spread(row.is_paired), |(found, unit)| found / unit);
    let by_interval = match spread {
        spread if spread > 0.0 => trials_needed(room / spread, ALPHA, row.is_paired),
        _ if row.is_paired => least_pairs(ALPHA),
        _ => least_values(ALPHA),
    };
    let of_few = test.minority.as_ref().map_or(0, |few| few.pairs_to_dismiss().unwrap_or(MANY));
    by_interval.max(of_few)
}
