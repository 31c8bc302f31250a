//! Pairs of which few differ, ties, and trials that are missing.

use std::collections::BTreeMap;

use super::*;

/// Of so many pairs that are equal these many times as large in B.
fn few_of(pairs: usize, count: usize, times: f64) -> Row {
    let a: Vec<f64> = (0..pairs).map(|pair| 1.0 + 0.125 * (pair % 5) as f64).collect();
    let mut b = a.clone();
    for value in b.iter_mut().step_by(pairs / count.max(1)).take(count) {
        *value *= times;
    }
    of_pairs("transfer_time", &a, &b)
}

fn inconclusive(row: &Row) -> (usize, bool) {
    let Outcome::Inconclusive { more, too_few } = row.outcome else { panic!("{row:?}") };
    (more, too_few)
}

/// The interval is that of the many that are equal; but nine of 250 take more than twice as long,
/// and none takes less: p = 2 / 2⁹.
#[test]
fn difference_of_few_pairs_is_a_difference() {
    for (times, outcome) in [(2.2, Outcome::Worse), (1.0 / 2.2, Outcome::Better)] {
        let row = few_of(250, 9, times);
        assert_eq!((row.outcome, row.interval), (outcome, Some((0.0, 0.0))), "{row:?}");
        assert!((row.p - 2.0 / 512.0).abs() < 1e-12 && row.effect.abs() >= 1.0, "{row:?}");
    }
    // Six of a thousand move the mean by less than the threshold, and are no chance: p = 2 / 2⁶.
    let row = few_of(1_000, 6, 2.2);
    assert_eq!(row.outcome, Outcome::Worse, "{row:?}");
    // Five of 250 may be chance (p = 2 / 2⁵). They may be one in 21, which would add 5.5 % to the
    // mean; of three of 250 it would be 4.2 %.
    assert!((100..250).contains(&inconclusive(&few_of(250, 5, 2.2)).0));
    let same = Outcome::Equivalent { identical: false };
    assert_eq!(few_of(250, 3, 2.2).outcome, same);
    // By 10 % each it is little; by 4 % none is beyond the threshold.
    assert_eq!(few_of(250, 5, 1.1).outcome, same);
    assert_eq!(few_of(250, 9, 1.04).outcome, same);
    // Of independent samples alike.
    let many = |times: f64, count: usize| -> Vec<f64> {
        (0..250).map(|trial| if trial < count { times } else { 1.0 }).collect()
    };
    for (times, outcome) in [(2.2, Outcome::Worse), (1.04, same)] {
        let b = simple(900, "transfer_time", &many(times, 9));
        let found = held(&simple(1, "transfer_time", &many(1.0, 0)), &b);
        assert_eq!((only(&found).outcome, only(&found).is_paired), (outcome, false));
    }
    // Of yes and no any difference counts.
    let (yes, mut no) = ([1.0; 40], [1.0; 40]);
    no[7] = 0.0;
    assert!(!inconclusive(&of_pairs("payload_intact", &yes, &no)).1);
}

/// Ordinary data scatter beyond the threshold, too: nearly all that the interval calls equivalent
/// stay so.
#[test]
fn scattered_pairs_are_as_equivalent_as_their_interval() {
    let mut rng = Rng::new(2, "scatter");
    for deviation in [0.01, 0.02, 0.03, 0.05] {
        let (mut by_interval, mut kept) = (0, 0);
        for _ in 0..60 {
            let a: Vec<f64> = (0..20).map(|_| 9.0 + 2.0 * rng.open_unit()).collect();
            let mut scattered =
                |value: &f64| value * (deviation * normal_quantile(rng.open_unit())).exp();
            let b: Vec<f64> = a.iter().map(&mut scattered).collect();
            let row = of_pairs("transfer_time", &a, &b);
            let (low, high) = row.interval.unwrap();
            by_interval += usize::from(-row.margin <= low && high <= row.margin);
            kept += usize::from(matches!(row.outcome, Outcome::Equivalent { .. }));
        }
        assert!(by_interval >= 40, "{by_interval} at {deviation}");
        assert!(kept + 2 >= by_interval, "{kept} of {by_interval} at {deviation}");
    }
}

/// Six must differ, of three in twenty: `P(Bin(60, 0.15) ≥ 6)` is the first of at least 90 %.
#[test]
fn few_large_differences_take_as_many_trials_as_small_ones() {
    assert_eq!(inconclusive(&few_of(20, 3, 11.0)), (40, false));
    assert_eq!(inconclusive(&few_of(20, 3, 1.5)), (40, false));
}

/// Goodput is one over the transfer time: the tests are the same, so as many trials decide them.
/// Of 2,000 samples of 52 a side, drawn from these, `scipy.stats.mannwhitneyu` tells 92 % apart.
#[test]
fn one_difference_takes_as_many_trials_in_any_unit() {
    let a = [0.35, 0.37, 0.32, 0.321, 1.33, 0.346, 0.63, 0.56, 0.348, 0.349, 0.322, 0.385];
    #[expect(clippy::approx_constant, reason = "they are times")]
    let b = [0.615, 0.396, 0.323, 0.324, 0.325, 0.317, 0.319, 0.894, 0.326, 0.318, 0.327, 0.32];
    let more = |metric: &str, of: fn(f64) -> f64| {
        let [a, b] = [(1, a), (90, b)].map(|(seed, values)| simple(seed, metric, &values.map(of)));
        let asked = Asked { metrics: Metrics::Named(vec![metric.into()]), ..Asked::default() };
        let found = compare_runs((Path::new("A"), &a), (Path::new("B"), &b), &asked).unwrap();
        inconclusive(only(&found))
    };
    let time = more("transfer_time", |time| time);
    assert_eq!(time, (52 - 12, false));
    assert_eq!(more("goodput", |time| 1.0 / time), time);
    assert_eq!(more("transfer_time_ratio", |time| time / 0.25), time);
}

/// Six of twelve pairs are shorter, one of these by far: a spread would be its own.
#[test]
fn pairs_that_differ_far_take_as_many_trials_as_any() {
    let a = [0.3512, 0.5306, 0.32, 0.32, 1.3292, 0.3452, 0.7672, 0.5621, 0.34, 0.373, 0.32, 0.4922];
    let b =
        [0.3512, 0.3719, 0.32, 0.32, 1.3292, 0.3465, 0.6305, 0.5609, 0.34, 0.3477, 0.32, 0.3853];
    let row = of_pairs("transfer_time", &a, &b);
    assert!((row.p - 0.09375).abs() < 1e-12, "{row:?}");
    assert_eq!(inconclusive(&row), (31, false));
}

/// Of two tests together seven pairs are the fewest that can decide one.
#[test]
fn too_few_pairs_ask_for_no_more_than_decide() {
    let of = |level: &str, place: &str, factor: f64| {
        let values = scaled(&TIMES[..6], factor);
        let levels = [("cc", level), ("place", place)];
        case(place, &levels, World::Simulated, 1, &[("transfer_time", &values)])
    };
    let all = [("reno", "x", 1.0), ("reno", "y", 1.0), ("bbr", "x", 2.0), ("bbr", "y", 3.0)];
    let run = run(1, all.map(|(cc, place, factor)| of(cc, place, factor)).to_vec());
    let levels = Some(["reno", "bbr"]);
    let found = compare_levels((Path::new("A"), &run), "cc", levels, &Asked::default()).unwrap();
    assert!(found.rows.iter().all(|row| inconclusive(row) == (1, true)), "{found:?}");
}

/// Seven doubled and one halved: of 2⁸ signs of equal ranks 9 are as good, on either side.
#[test]
fn rounding_breaks_no_ties() {
    let a = [1.3, 0.9, 1.9, 0.5, 1.7, 0.3, 0.7, 0.3];
    let mut b = a.map(|value| value * 2.0);
    b[7] = a[7] / 2.0;
    let row = of_pairs("transfer_time", &a, &b);
    assert!((row.p - 18.0 / 256.0).abs() < 1e-12, "{row:?}");
    // All alike: no step is that of rounding.
    let row = of_pairs("transfer_time", &a, &a.map(|value| value * 2.0));
    assert!(row.detectable.unwrap().abs() < 1e-300, "{row:?}");
    let row = of_pairs("transfer_time", &a, &a.map(|value| value * 1.1 / 1.1));
    assert_eq!(row.outcome, Outcome::Equivalent { identical: true }, "{row:?}");
}

/// Of 23 trials three are the largest by chance once in 1,771 times.
#[test]
fn few_trials_beside_many_can_be_enough() {
    let many: Vec<f64> = (0..20).map(|trial| 10.0 + f64::from(trial * 7 % 20)).collect();
    let of = |few: &[f64]| {
        let [a, b] = [simple(1, "transfer_time", few), simple(90, "transfer_time", &many)];
        inconclusive(only(&held(&a, &b))).1
    };
    assert!(!of(&[12.0, 22.0, 19.0]));
    assert!(of(&[12.0]));
}

/// Fails a trial of the only case.
fn without(mut run: Run, number: u32) -> Run {
    let case = &mut run.cases[0];
    let place = case.trials.iter().position(|trial| trial.number == number).unwrap();
    let seed = case.trials.remove(place).seed;
    case.failures.push(Failure {
        number,
        seed,
        directory: String::new(),
        attempts: 1,
        reason: "not done".into(),
    });
    run
}

#[test]
fn failed_trials_leave_pairs_of_the_others() {
    let values: Vec<f64> = (0..12).map(|trial| 10.0 + f64::from(trial * 5 % 12)).collect();
    let a = without(simple(1, "transfer_time", &values), 3);
    let b = without(simple(1, "transfer_time", &scaled(&values, 1.1)), 5);
    let found = held(&a, &b);
    let row = only(&found);
    assert_eq!((row.is_paired, row.trials()), (true, [10, 10]));
    assert_eq!(row.outcome, Outcome::Worse, "{row:?}");
    // Nobody knows why some seeds are others: that is said.
    let mut c = simple(1, "transfer_time", &values);
    for trial in &mut c.cases[0].trials[..4] {
        trial.seed += 100;
    }
    let found = held(&a, &c);
    assert!(!only(&found).is_paired);
    let said = found.warnings.iter().any(|it| it.contains("too few trials of A and B have the"));
    assert!(said, "{:?}", found.warnings);
}

#[test]
fn metric_that_one_side_lacks_is_inconclusive() {
    let [a, b] =
        both([&[("transfer_time", &TIMES), ("timeouts", &[0.0; 8])], &[("timeouts", &[0.0; 8])]]);
    let names = |found: &Comparison| -> Vec<String> {
        found.missing.iter().map(|it| format!("{}: {}", it.metric, it.why)).collect()
    };
    for (sides, why) in
        [([&a, &b], "transfer_time: B has none"), ([&b, &a], "transfer_time: A has none")]
    {
        let found = held(sides[0], sides[1]);
        assert_eq!((only(&found).metric.as_str(), names(&found)), ("timeouts", vec![why.into()]));
        let open = found.count(|it| matches!(it, Outcome::Inconclusive { .. }));
        assert_eq!((open, found.total()), (1, 2));
    }
    // Where no trial is left, the primary metric says so for all.
    let mut none = a.clone();
    none.cases[0].trials.clear();
    let found = held(&a, &none);
    assert_eq!((found.rows.len(), names(&found)), (0, vec!["transfer_time: B has none".into()]));
    // Each half has what the other lacks.
    let [mut a, mut b] = both([&[("timeouts", &[0.0; 8])], &[("timeouts", &[0.0; 8])]]);
    for (run, half) in [(&mut a, 0..4), (&mut b, 4..8)] {
        for trial in &mut run.cases[0].trials[half] {
            trial.metrics = Vec::new().into();
        }
    }
    assert_eq!(names(&held(&a, &b)), ["timeouts: no pair has both"]);
}

#[test]
fn cases_as_pairs_keep_their_warnings() {
    let levels = |cc: &str, place: usize, factor: f64| {
        let levels = [("cc", cc), ("place", ["x", "y", "z"][place])];
        let values = scaled(&TIMES, factor);
        case(&format!("{cc}-{place}"), &levels, World::Simulated, 1, &[("transfer_time", &values)])
    };
    let cases = (0..3).flat_map(|place| [levels("reno", place, 1.0), levels("cubic", place, 1.2)]);
    let mut run = run(1, cases.collect());
    let mut failed = without(super::run(1, vec![run.cases[1].clone()]), 2).cases;
    run.cases[1] = failed.remove(0);
    run.cases[3].trials[0].metrics = Vec::new().into();
    let levels = Some(["reno", "cubic"]);
    let at = Path::new("A");
    let found = compare_over_cases((at, &run), "cc", levels, &Asked::default()).unwrap();
    let by: BTreeMap<&str, &str> =
        found.warnings.iter().map(|it| it.split_once(": ").unwrap()).collect();
    assert!(by["x"].starts_with("1 of 8 trials of B failed (not done)"), "{by:?}");
    assert!(by["y"].starts_with("transfer_time: 1 of 8 trials of B have none"), "{by:?}");
    assert!(found.is_over_cases && by.len() == 2, "{by:?}");
    assert_eq!(only(&found).trials(), [3, 3]);
    // Where no trial is left, a failure is the reason.
    run.cases.iter_mut().for_each(|case| case.trials.clear());
    let error = compare_over_cases((at, &run), "cc", levels, &Asked::default()).unwrap_err();
    assert_eq!(error.to_string(), "nothing could be compared: the one trial failed (not done)");
}
