//! Verdicts, by runs that are made up.

use std::path::Path;

use crate::comparison::{Comparison, Estimator, Family, Outcome, Row};
use crate::{Case, Failure, Metric, Run, RunWorld, Trial, World};
use tcplab_stats::normal_quantile;
use tcplab_units::Rng;

use super::*;

mod few;

/// A metric's values over the trials of a case.
type Values<'a> = (&'a str, &'a [f64]);

fn trial(number: u32, seed: u64, metrics: &[(&str, f64)]) -> Trial {
    let metric = |(name, value): &(&str, f64)| Metric {
        name: (*name).into(),
        unit: tcplab_scenario::metric(name).map(|info| info.unit.into()).unwrap_or_default(),
        value: *value,
    };
    let metrics = metrics.iter().map(metric).collect();
    Trial { number, seed, metrics, ..Trial::empty(Vec::new()) }
}

fn case(
    name: &str,
    levels: &[(&str, &str)],
    world: World,
    seed: u64,
    metrics: &[Values<'_>],
) -> Case {
    let trials = metrics.iter().map(|(_, values)| values.len()).max().unwrap_or_default();
    let of = |index: usize| -> Vec<(&str, f64)> {
        metrics.iter().filter_map(|found| Some((found.0, *found.1.get(index)?))).collect()
    };
    Case {
        name: name.into(),
        levels: levels.iter().map(|(f, l)| ((*f).into(), (*l).into())).collect(),
        world,
        trials: (0..trials)
            .map(|index| trial(index as u32 + 1, seed + index as u64, &of(index)))
            .collect(),
        ..Case::default()
    }
}

fn run(seed: u64, cases: Vec<Case>) -> Run {
    Run {
        name: "made-up".into(),
        title: "Made up".into(),
        scenario: "title = \"Made up\"\n".into(),
        world: RunWorld::Simulated,
        started: "2026-01-01T00:00:00Z".into(),
        seed,
        environment: vec![("kernel".into(), "6.18".into())],
        cases,
        ..Run::default()
    }
}

/// One case with one metric, the seeds as given.
fn simple(seed: u64, metric: &str, values: &[f64]) -> Run {
    run(seed, vec![case("only", &[], World::Simulated, seed, &[(metric, values)])])
}

fn held(a: &Run, b: &Run) -> Comparison {
    compare_runs((Path::new("A"), a), (Path::new("B"), b), &Asked::default()).unwrap()
}

fn only(found: &Comparison) -> &Row {
    assert_eq!(found.rows.len(), 1, "{found:?}");
    &found.rows[0]
}

const TIMES: [f64; 8] = [10.1, 10.4, 9.8, 10.0, 10.3, 9.9, 10.2, 10.6];

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    // A hair's breadth that is another in each, so that pairs differ by more than the factor.
    let each = values.iter().enumerate();
    each.map(|(i, value)| value * factor + 0.01 * ((i * 7 % 5) as f64 - 2.0)).collect()
}

#[test]
fn outcome_follows_difference_and_threshold() {
    let identical = Outcome::Equivalent { identical: true };
    let same = Outcome::Equivalent { identical: false };
    let base = simple(1, "transfer_time", &TIMES);
    for (factor, seed, expected) in [
        (1.2, 1, Outcome::Worse),
        (0.8, 1, Outcome::Better),
        (1.01, 1, same),
        (1.2, 50, Outcome::Worse),
        (0.8, 50, Outcome::Better),
    ] {
        let found = held(&base, &simple(seed, "transfer_time", &scaled(&TIMES, factor)));
        let row = only(&found);
        assert_eq!(row.outcome, expected, "{factor} {seed}: {row:?}");
        assert_eq!(row.is_paired, seed == 1);
        let relative = row.relative(row.difference).unwrap();
        assert!((relative - (factor - 1.0)).abs() < 0.02, "{relative} for {factor}");
    }
    let found = held(&base, &base);
    assert_eq!(only(&found).outcome, identical);
    assert_eq!(found.tests, 0, "what cannot differ is not tested");
    // Large is good of a rate.
    let [slow, fast] = [1.0, 1.3].map(|f| simple(1, "goodput", &scaled(&TIMES, f)));
    assert_eq!(only(&held(&slow, &fast)).outcome, Outcome::Better);
    assert_eq!(only(&held(&fast, &slow)).outcome, Outcome::Worse);
}

#[test]
fn too_few_trials_are_inconclusive() {
    let [a, b] = [1.0, 2.0].map(|f| simple(1, "transfer_time", &scaled(&TIMES[..5], f)));
    let found = held(&a, &b);
    let row = only(&found);
    assert_eq!(row.outcome, Outcome::Inconclusive { more: 1, too_few: true }, "{row:?}");
    assert_eq!((row.interval, row.detectable), (None, None));
    let [a, b] = [1.0, 2.0].map(|f| simple(1, "transfer_time", &scaled(&TIMES[..6], f)));
    assert_eq!(only(&held(&a, &b)).outcome, Outcome::Worse);
    // One trial of each, and the same: in virtual time that is certain, in real time nothing is.
    let one = simple(1, "timeouts", &[0.0]);
    assert_eq!(only(&held(&one, &one)).outcome, Outcome::Equivalent { identical: true });
    let real = run(1, vec![case("only", &[], World::Kernel, 1, &[("timeouts", &[0.0])])]);
    let outcome = only(&held(&real, &real)).outcome;
    assert!(matches!(outcome, Outcome::Inconclusive { too_few: true, .. }), "{outcome:?}");
}

#[test]
fn what_is_not_left_to_chance_is_not_tested() {
    let exact = |values: &[f64]| {
        let mut run = simple(1, "transfer_time", values);
        run.cases[0].is_exact = true;
        run
    };
    for (a, b, outcome) in [
        (&[8.0][..], &[16.0][..], Outcome::Worse),
        (&[8.0], &[7.0], Outcome::Better),
        (&[8.0], &[8.2], Outcome::Equivalent { identical: false }),
        (&[8.0], &[8.0], Outcome::Equivalent { identical: true }),
        (&[8.0; 3], &[16.0; 3], Outcome::Worse),
    ] {
        let found = held(&exact(a), &exact(b));
        let row = only(&found);
        assert_eq!((row.outcome, row.is_exact, row.interval), (outcome, true, None), "{a:?} {b:?}");
        assert!((row.difference - (b[0] - a[0])).abs() < 1e-9);
        assert_eq!(found.tests, 0);
    }
    // One side is left to chance; or it was not as exact as it was said to be.
    for [a, b] in [
        [exact(&[8.0]), simple(1, "transfer_time", &[16.0])],
        [exact(&[8.0, 8.1]), exact(&[16.0; 2])],
    ] {
        let found = held(&a, &b);
        assert!(!only(&found).is_exact);
        assert!(matches!(only(&found).outcome, Outcome::Inconclusive { too_few: true, .. }));
    }
}

#[test]
fn wide_spread_asks_for_more_trials() {
    let wide = |seed: u64| -> Vec<f64> {
        let mut rng = Rng::new(seed, "wide");
        (0..10).map(|_| 10.0 + 3.0 * normal_quantile(rng.open_unit())).collect()
    };
    let [a, b] = [(1, 1), (90, 2)].map(|(s, r)| simple(s, "transfer_time", &wide(r)));
    let found = held(&a, &b);
    let Outcome::Inconclusive { more, too_few: false } = only(&found).outcome else {
        panic!("{found:?}");
    };
    assert!((20..5_000).contains(&more), "{more}");
}

/// Six or more of the pairs must differ: of one in ten, with 90 % probability, that takes 91.
#[test]
fn rare_events_ask_for_many_trials() {
    let none = [0.0; 10];
    let mut one = none;
    one[4] = 1.0;
    let row = of_pairs("timeouts", &none, &one);
    let Outcome::Inconclusive { more, too_few: false } = row.outcome else { panic!("{row:?}") };
    assert!((75..90).contains(&more), "{more}");
    // Zero has no sign.
    assert!(row.difference.is_sign_positive() && row.detectable.unwrap().is_sign_positive());
}

#[test]
fn too_few_trials_for_all_tests_together_are_too_few() {
    let case = |level: &str, place: &str, factor: f64| {
        let levels = [("cc", level), ("place", place)];
        let values = scaled(&TIMES[..6], factor);
        case(place, &levels, World::Simulated, 1, &[("transfer_time", &values)])
    };
    let all = [("reno", 1.0), ("cubic", 2.0), ("bbr", 3.0)];
    let cases = all.iter().flat_map(|(cc, f)| [case(cc, "x", *f), case(cc, "y", *f)]);
    let run = run(1, cases.collect());
    let levels = Some(["reno", "bbr"]);
    let found = compare_levels((Path::new("A"), &run), "cc", levels, &Asked::default()).unwrap();
    for row in &found.rows {
        let outcome = row.outcome;
        assert!(matches!(outcome, Outcome::Inconclusive { too_few: true, .. }), "{outcome:?}");
    }
}

#[test]
fn cases_match_by_levels() {
    let make = |name: &str, levels: &[(&str, &str)], factor: f64| {
        case(name, levels, World::Simulated, 1, &[("transfer_time", &scaled(&TIMES, factor))])
    };
    let a = run(
        1,
        vec![
            make("reno-fast", &[("cc", "reno"), ("rate", "fast")], 1.0),
            make("cubic-fast", &[("cc", "cubic"), ("rate", "fast")], 0.5),
            make("reno-slow", &[("cc", "reno"), ("rate", "slow")], 4.0),
        ],
    );
    let b = run(
        1,
        vec![
            make("fast-cubic", &[("rate", "fast"), ("cc", "cubic")], 0.5),
            make("fast-reno", &[("rate", "fast"), ("cc", "reno")], 1.3),
        ],
    );
    let found = held(&a, &b);
    let names: Vec<_> = found.rows.iter().map(|row| (&*row.case, row.outcome.name())).collect();
    assert_eq!(names, [("reno-fast", "worse"), ("cubic-fast", "equivalent")]);
    assert!(
        found.warnings.iter().any(|warning| warning.contains("only A has reno-slow")),
        "{found:?}"
    );
    // It is not called identical, and its metrics have a verdict that can fail a build.
    assert_eq!(found.total(), 3);
    assert_eq!(found.count(|outcome| outcome.name() == "inconclusive"), 1);
    let [lost] = &found.missing[..] else { panic!("{found:?}") };
    assert_eq!((&*lost.case, &*lost.metric), ("reno-slow", "transfer_time"));
    assert_eq!(lost.why, "B has no such case");
    // What B has in addition was not there to be lost.
    assert!(held(&b, &a).missing.is_empty());
    // Two levels of a factor, of which one lacks a case.
    let asked = Asked::default();
    let found = compare_levels((Path::new("A"), &a), "cc", None, &asked).unwrap();
    assert_eq!(found.by.as_deref(), Some("cc"));
    assert_eq!(found.rows.len(), 1);
    assert_eq!((&*found.rows[0].case, found.rows[0].outcome), ("fast", Outcome::Better));
    assert!(found.warnings.iter().any(|warning| warning.contains("reno-slow")), "{found:?}");
    for (factor, levels, expected) in [
        ("speed", None, "`speed` is not varied in made-up"),
        ("cc", Some(["reno", "bbr"]), "`cc` has no level `bbr`"),
        ("cc", Some(["reno", "reno"]), "a level compared with itself is the same"),
    ] {
        let error = compare_levels((Path::new("A"), &a), factor, levels, &asked).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(error.remedy().is_some());
    }
    let other = run(1, vec![make("x", &[("z", "1")], 1.0), make("y", &[("z", "2")], 1.0)]);
    let error = compare_runs((Path::new("A"), &a), (Path::new("B"), &other), &asked).unwrap_err();
    assert!(matches!(error, CompareError::NoCases { .. }));
}

#[test]
fn differing_runs_give_warnings() {
    let a = run(
        1,
        vec![case(
            "only",
            &[],
            World::Simulated,
            1,
            &[("transfer_time", &TIMES), ("timeouts", &[0.0; 8])],
        )],
    );
    let mut b =
        run(9, vec![case("only", &[], World::Kernel, 9, &[("transfer_time", &TIMES[..6])])]);
    b.cases[0].trials.push(trial(7, 77, &[]));
    b.cases[0].trials[0].flaws.push("late".into());
    b.scenario += "more = 1 # why\n";
    b.world = RunWorld::Kernel;
    b.environment[0].1 = "6.1".into();
    let warnings = held(&a, &b).warnings.join("\n");
    for expected in [
        "the seeds differ (A 1, B 9)",
        "B has `more = 1`",
        "kernel differs: A 6.18, B 6.1",
        "the world differs: A sim, B kernel",
        "transfer_time: 1 of 7 trials of B have none",
        "timeouts: B has none",
        "the path misbehaved in 1 of 7 trials of B",
    ] {
        assert!(warnings.contains(expected), "{expected} is not in\n{warnings}");
    }
}

/// What is left may be the easy trials.
#[test]
fn failed_trials_give_a_warning() {
    let case = |name: &str, level: &str, factor: f64| {
        let levels = [("stack", "osx"), ("jitter", level)];
        case(name, &levels, World::Simulated, 1, &[("goodput", &scaled(&TIMES, factor))])
    };
    let mut run = run(1, vec![case("osx_0", "0 ms", 1.0), case("osx_2", "2 ms", 1.3)]);
    let failed = run.cases[1].trials.remove(1);
    run.cases[1].failures = vec![Failure {
        number: failed.number,
        seed: failed.seed,
        directory: String::new(),
        attempts: 1,
        reason: "not done after 2 min".into(),
    }];
    let asked = Asked::default();
    let found = compare_levels((Path::new("A"), &run), "jitter", None, &asked).unwrap();
    assert_eq!(
        found.warnings,
        [
            "osx: 1 of 8 trials of B failed (not done after 2 min) and is left out: without it B may \
          look better than it is"
        ]
    );
    assert_eq!(only(&found).trials(), [7, 7], "its partner is left out, too");
}

#[test]
fn drift_and_outliers_give_warnings() {
    let warned = |values: &[f64]| -> String {
        let real = run(1, vec![case("only", &[], World::Kernel, 1, &[("transfer_time", values)])]);
        held(&real, &real).warnings.join("\n")
    };
    assert_eq!(warned(&TIMES), "");
    assert!(warned(&[&[90.0], &TIMES[..]].concat()).contains("of the first trial is far above"));
    assert!(warned(&[&TIMES[..], &[90.0]].concat()).contains("has one outlier"));
    let drifting: Vec<f64> = (0..12).map(|i| 10.0 + 0.1 * f64::from(i)).collect();
    assert!(warned(&drifting).contains("drifts from trial to trial, by 0.100 each"));
}

#[test]
fn incomparable_metric_is_refused() {
    let a = simple(1, "transfer_time", &TIMES);
    for (name, expected) in [
        ("speed", "there is no metric `speed`"),
        ("goodput", "no trial of either side has `goodput`"),
        ("connection.end", "`connection.end` is not one number for each trial"),
    ] {
        let asked = Asked { metrics: Metrics::Named(vec![name.into()]), ..Asked::default() };
        let error = compare_runs((Path::new("A"), &a), (Path::new("B"), &a), &asked).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert_eq!(error.remedy().unwrap(), "there are: transfer_time");
    }
}

/// The same promise as `make stats-honesty`, of values that are made up: of hundreds of runs that
/// do not differ, one in twenty is called different at most.
#[test]
fn equal_samples_rarely_differ() {
    let mut rng = Rng::new(11, "wolf");
    let metrics = ["transfer_time", "mean_rtt", "retransmissions"];
    let mut draw = |seed: u64| {
        let values: Vec<Vec<f64>> = metrics
            .iter()
            .map(|_| (0..7).map(|_| 10.0 + normal_quantile(rng.open_unit())).collect())
            .collect();
        let both: Vec<Values<'_>> =
            metrics.iter().zip(&values).map(|(name, values)| (*name, &values[..])).collect();
        run(seed, vec![case("one", &[], World::Simulated, seed, &both)])
    };
    let alarms = (0..60).filter(|round| {
        // Pairs and independent samples by turns.
        let (a, b) = (draw(1), draw(if round % 2 == 0 { 1 } else { 100 }));
        held(&a, &b).rows.iter().any(Row::is_different)
    });
    let alarms = alarms.count();
    assert!(alarms <= 8, "{alarms} of 60");
}

/// A run of pairs, each metric by a factor; the seeds of both sides are the same.
fn both(metrics: [&[Values<'_>]; 2]) -> [Run; 2] {
    metrics.map(|metrics| run(1, vec![case("only", &[], World::Simulated, 1, metrics)]))
}

#[test]
fn primary_metric_is_not_corrected_for_the_others() {
    let counts = [3.0, 4.0, 2.0, 5.0, 3.0, 4.0, 6.0, 2.0];
    let more = counts.map(|count| count * 2.0 + 1.0);
    let shorter = scaled(&TIMES, 0.8);
    let [a, b] = both([
        &[("transfer_time", &TIMES), ("retransmissions", &counts), ("mean_rtt", &TIMES)],
        &[("transfer_time", &shorter), ("retransmissions", &more), ("mean_rtt", &shorter)],
    ]);
    let found = held(&a, &b);
    assert_eq!(found.metrics[0], "transfer_time");
    let of = |found: &Comparison, metric: &str| -> Row {
        found.rows.iter().find(|row| row.metric == metric).unwrap().clone()
    };
    // Of eight pairs all for one side: p = 2 / 2⁸, for the other two Holm takes twice that.
    let least = 2.0 / 256.0;
    let [first, rest] = ["transfer_time", "retransmissions"].map(|metric| of(&found, metric));
    assert_eq!((first.family, first.p_corrected), (Family::Primary, least), "{first:?}");
    assert_eq!((rest.family, rest.p_corrected), (Family::Rest, 2.0 * least), "{rest:?}");
    assert_eq!((first.outcome, rest.outcome), (Outcome::Better, Outcome::Worse));
    assert_eq!(
        found.family,
        "first transfer_time in 1 case: 1 test, not corrected; apart from it retransmissions, mean_rtt: \
         2 tests, corrected together after Holm"
    );
    // Whether it differs or not, the others are corrected for themselves alone.
    let mut mixed = TIMES;
    mixed.rotate_left(3);
    let [a, b] = both([
        &[("transfer_time", &TIMES), ("retransmissions", &counts)],
        &[("transfer_time", &mixed), ("retransmissions", &more)],
    ]);
    let row = of(&held(&a, &b), "retransmissions");
    assert_eq!((row.p_corrected, row.outcome), (least, Outcome::Worse), "{row:?}");
    // Named first, they are the primary metric.
    let metrics = Metrics::Named(vec!["retransmissions".into(), "transfer_time".into()]);
    let asked = Asked { metrics, ..Asked::default() };
    let found = compare_runs((Path::new("A"), &a), (Path::new("B"), &b), &asked).unwrap();
    assert_eq!(of(&found, "retransmissions").outcome, Outcome::Worse);
}

#[test]
fn metric_that_is_named_twice_is_tested_once() {
    let more: Vec<f64> = TIMES.iter().map(|time| time + 1.0).collect();
    let [a, b] = both([&[("transfer_time", &TIMES)], &[("transfer_time", &more)]]);
    let asked = |metrics: &[&str]| {
        let metrics = Metrics::Named(metrics.iter().map(|&name| name.into()).collect());
        let asked = Asked { metrics, ..Asked::default() };
        let found = compare_runs((Path::new("A"), &a), (Path::new("B"), &b), &asked).unwrap();
        only(&found).p_corrected.to_bits()
    };
    assert_eq!(asked(&["transfer_time", "transfer_time"]), asked(&["transfer_time"]));
}

/// A threshold that nothing asks for would say nothing.
#[test]
fn metric_with_a_threshold_of_its_own_is_compared() {
    let more: Vec<f64> = TIMES.iter().map(|time| time + 1.0).collect();
    let values = |of: &'static [f64]| -> [(&str, &[f64]); 2] {
        [("transfer_time", of), ("max_in_flight", of)]
    };
    let more: &'static [f64] = more.leak();
    let [a, b] = both([&values(&TIMES), &values(more)]);
    let asked = |metrics: Metrics| Asked {
        metrics,
        thresholds: [("max_in_flight".to_owned(), Threshold::Share(0.5))].into(),
        ..Asked::default()
    };
    let compare = |asked: &Asked| compare_runs((Path::new("A"), &a), (Path::new("B"), &b), asked);
    let found = compare(&asked(Metrics::Usual)).unwrap();
    let row = found.rows.iter().find(|row| row.metric == "max_in_flight").expect("it is compared");
    assert_eq!(row.threshold, Threshold::Share(0.5));
    let named = compare(&asked(Metrics::Named(vec!["transfer_time".into()])));
    assert!(matches!(named, Err(CompareError::Threshold { .. })), "{named:?}");
}

/// The pairs of a metric compared.
fn of_pairs(metric: &str, a: &[f64], b: &[f64]) -> Row {
    let [a, b] = both([&[(metric, a)], &[(metric, b)]]);
    let metrics = Metrics::Named(vec![metric.into()]);
    let asked = Asked { metrics, ..Asked::default() };
    let found = compare_runs((Path::new("A"), &a), (Path::new("B"), &b), &asked).unwrap();
    only(&found).clone()
}

/// The pairs of a user: by their averages B would have −1, or −34 segments, or 100.4 %. Where no
/// trial of B has such a value, A, B, change and interval are by the medians.
#[test]
fn estimate_is_a_value_that_b_can_have() {
    let even = [1.0; 10];
    let around = [20.0, 22.0, 24.0, 25.0, 25.0, 25.0, 28.0, 29.0, 30.0, 31.0];
    let skewed = [18.0, 20.0, 22.0, 30.0, 33.0, 33.0, 84.0, 120.0, 150.0, 190.0];
    let few = [4.0, 5.0, 6.0, 6.0, 6.0, 7.0, 7.0, 8.0, 8.0, 9.0];
    let part = [89.0, 90.0, 91.0, 92.0, 97.5, 98.0, 98.4, 98.6, 98.8, 98.9];
    let full = [99.4, 99.5, 99.6, 99.5, 99.6, 99.6, 99.7, 99.5, 99.6, 99.6];
    for (metric, a, b, medians) in [
        ("retransmissions", around, even, [25.0, 1.0]),
        ("retransmissions", skewed, few, [33.0, 6.5]),
        ("efficiency", part, full, [97.75, 99.6]),
        ("transfer_time", skewed, even, [33.0, 1.0]),
    ] {
        let row = of_pairs(metric, &a, &b);
        let near = |x: f64, y: f64| (x - y).abs() < 1e-9;
        assert_eq!(row.estimator, Estimator::Medians, "{row:?}");
        assert!(row.estimates().iter().zip(medians).all(|(x, y)| near(*x, y)), "{row:?}");
        assert!(near(row.difference, medians[1] - medians[0]), "{row:?}");
        let (low, high) = row.interval.unwrap();
        assert!(low <= row.difference && row.difference <= high, "{row:?}");
        assert!(medians[0] + low >= 0.0, "{row:?}");
        assert!(metric != "efficiency" || medians[0] + high <= 100.0, "{row:?}");
    }
    let row = of_pairs("retransmissions", &few, &few.map(|count| count + 3.0));
    assert_eq!((row.estimator, row.difference), (Estimator::Shift, 3.0), "{row:?}");
}

/// What is cut from an interval is not evidence that things are equal.
#[test]
fn equivalence_is_of_the_whole_interval() {
    let part = [98.0, 98.0, 98.0, 98.0, 98.0, 88.0, 86.0, 84.0, 82.0];
    let full = [99.0; 9];
    let row = of_pairs("efficiency", &part, &full);
    let (low, high) = row.interval.unwrap();
    assert!(-row.margin <= low && high <= row.margin, "{row:?}");
    assert_eq!(row.outcome, Outcome::Better, "{row:?}");
}

/// None of eight pairs loses more than it had, whatever the averages of their differences.
#[test]
fn interval_of_counts_and_shares_stays_possible() {
    const MANY: [f64; 8] = [250.0, 260.0, 270.0, 284.0, 293.0, 300.0, 379.0, 420.0];
    const FEW: [f64; 8] = [0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0];
    const FULL: [f64; 8] = [99.0, 98.0, 60.0, 99.5, 97.0, 70.0, 99.0, 98.5];
    let shares = FULL.map(|share| 100.0 - (100.0 - share) / 10.0);
    let [a, b] = both([
        &[("retransmissions", &MANY), ("efficiency", &FULL)],
        &[("retransmissions", &FEW), ("efficiency", &shares)],
    ]);
    let metrics = Metrics::Named(vec!["retransmissions".into(), "efficiency".into()]);
    let asked = Asked { metrics, ..Asked::default() };
    let found = compare_runs((Path::new("A"), &a), (Path::new("B"), &b), &asked).unwrap();
    for row in &found.rows {
        let (low, high) = row.interval.unwrap();
        let a = row.estimates()[0];
        assert!(low >= -a && row.estimates()[1] >= 0.0, "{row:?}");
        assert!(row.metric != "efficiency" || a + high <= 100.0, "{row:?}");
    }
}

/// By scripts/scipy_values.py (`ratios`): the Hodges-Lehmann shift of the logarithms.
#[test]
fn ratio_of_positive_amounts_stays_above_zero() {
    const RATIO: f64 = 0.248_746_730_9;
    const RATIO_LOW: f64 = 0.073_554_845_3;
    const RATIO_HIGH: f64 = 0.894_276_905_0;
    const SLOW: [f64; 8] = [32.3, 2.6, 40.1, 3.1, 28.0, 2.4, 35.5, 30.2];
    const FAST: [f64; 8] = [2.5, 2.4, 2.6, 2.5, 2.45, 2.38, 2.7, 2.52];
    let row = of_pairs("transfer_time", &FAST, &SLOW);
    let shown = |row: &Row| {
        let (low, high) = row.interval.unwrap();
        [row.difference, low, high].map(|end| row.relative(end).unwrap() + 1.0)
    };
    let expected = [1.0 / RATIO, 1.0 / RATIO_HIGH, 1.0 / RATIO_LOW];
    for (ours, theirs) in shown(&row).iter().zip(expected) {
        assert!((ours - theirs).abs() < 1e-6, "{row:?}");
    }
    let [of_a, of_b] = row.estimates();
    assert!((of_b / of_a - 1.0 / RATIO).abs() < 1e-6, "{row:?}");
    // The other way round B would take 7.2 s, where no trial took more than 2.7 s.
    let row = of_pairs("transfer_time", &SLOW, &FAST);
    let [ratio, low, high] = shown(&row);
    let of_medians = row.medians[1] / row.medians[0];
    assert!((ratio - of_medians).abs() < 1e-9 && ratio < RATIO, "{row:?}");
    assert!((low - RATIO_LOW).abs() < 1e-6 && (high - RATIO_HIGH).abs() < 1e-6, "{row:?}");
    // Counts stay counts, and shares points.
    let none = [0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0];
    let [a, b] = both([&[("timeouts", &none)], &[("timeouts", &SLOW)]]);
    let found = held(&a, &b);
    assert!(!only(&found).is_ratio && only(&found).relative(1.0).is_none());
}

#[test]
fn worlds_that_differ_give_one_warning() {
    let cases = |world| -> Vec<Case> {
        let names: Vec<String> = (0..30).map(|number| format!("case {number}")).collect();
        let of = |name: &String| case(name, &[], world, 1, &[("transfer_time", &TIMES)]);
        names.iter().map(of).collect()
    };
    let a = run(1, cases(World::Simulated));
    let mut b = run(1, cases(World::Kernel));
    b.world = RunWorld::Kernel;
    assert_eq!(held(&a, &b).warnings, ["the world differs: A sim, B kernel"]);
    b.world = a.world;
    let warnings = held(&a, &b).warnings;
    let [only] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(only.starts_with("case 0, case 1 and 28 more cases: A ran in the world of "), "{only}");
}

#[test]
fn progress_ends_with_all_steps() {
    let [a, b] =
        both([&[("transfer_time", &TIMES), ("goodput", &TIMES)], &[("transfer_time", &TIMES)]]);
    let metrics = ["transfer_time", "goodput"].map(String::from).into();
    let asked = Asked { metrics: Metrics::Named(metrics), ..Asked::default() };
    assert_eq!(asked.progress.steps(), (0, 0), "it is not known how many");
    compare_runs((Path::new("A"), &a), (Path::new("B"), &b), &asked).unwrap();
    assert_eq!(asked.progress.steps(), (4, 4), "also of metrics that one side lacks");
}
