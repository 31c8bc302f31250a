use tcplab_scenario::Check;

use super::*;

fn judge(expectations: &[Expectation], cases: &[Case]) -> Vec<Claim> {
    let mut gathered = ClaimValues::new(expectations);
    for (index, case) in cases.iter().enumerate() {
        case.trials.iter().for_each(|trial| gathered.see(index, trial));
    }
    gathered.judge(cases)
}

fn case(name: &str, kinds: &[&str], time: f64) -> Case {
    let episode = |kind: &&str| EpisodeRow { kind: (*kind).into(), ..EpisodeRow::default() };
    let metric = tcplab_results::Metric::of(metrics::TRANSFER_TIME, time);
    let trial = Trial {
        number: 1,
        metrics: vec![metric].into(),
        episodes: kinds.iter().map(episode).collect(),
        ..Trial::empty(Vec::new())
    };
    Case { name: name.into(), trials: vec![trial], ..Case::default() }
}

fn expectation(metric: &str, of: Statistic, check: Check) -> Expectation {
    Expectation {
        claim: "it is so".into(),
        metric: metric.into(),
        of,
        selection: tcplab_scenario::Selection::default(),
        checks: vec![check],
        trials: 1,
        cases: vec![0, 1],
        baselines: Vec::new(),
        over: None,
    }
}

#[test]
fn claim_text_lists_failing_cases() {
    let scenario = |claim: &str| {
        let delays: Vec<String> = (1..=9).map(|ms| format!("\"{ms} ms\"")).collect();
        let source = format!(
            "title = \"t\"\n[path]\n[workload]\nupload = \"1 B\"\n[matrix]\n\
             \"path.delay\" = [{}]\n[[expect]]\nclaim = \"c\"\n\
             metric = \"transfer_time\"\n{claim}",
            delays.join(", ")
        );
        tcplab_scenario::Scenario::parse(&source, "t").unwrap()
    };
    let cases: Vec<Case> = (1..=9).map(|n| case(&format!("{n}ms"), &[], f64::from(n))).collect();
    for (claim, held, found) in [
        ("at_most = \"9 s\"", true, "all 9: 1 to 9 s"),
        ("at_most = \"8 s\"", false, "9ms: 9 s; the other 8: 1 to 8 s"),
    ] {
        let claim = &judge(&scenario(claim).expects, &cases)[0];
        assert_eq!((claim.held, claim.found.as_str()), (held, found));
    }
}

/// What is shown is on the same side of the bound as the value.
#[test]
fn value_found_agrees_with_the_verdict() {
    for (value, check, held, found) in [
        (0.883_345_6, Check::AtMost(0.883), false, "0.8833 s"),
        (0.882_999_6, Check::AtMost(0.883), true, "0.8829996 s"),
        (0.883_345_6, Check::AtMost(0.9), true, "0.883 s"),
        (0.883, Check::AtMost(0.883), true, "0.883 s"),
        (1.999_9, Check::AtLeast(2.0), false, "1.9999 s"),
        (0.3 + 1e-9, Check::Equals(Value::Number(0.3)), false, "0.300000001 s"),
        (0.000_124, Check::AtMost(1.0), true, "0.0001 s"),
        (1234.0, Check::AtMost(1.0), false, "1234 s"),
        (0.0, Check::AtMost(1.0), true, "0 s"),
    ] {
        let cases = [case("base", &[], value)];
        let of =
            Expectation { cases: vec![0], ..expectation("transfer_time", Statistic::All, check) };
        let claim = &judge(&[of], &cases)[0];
        assert_eq!((claim.held, claim.found.as_str()), (held, &*format!("base: {found}")));
    }
}

#[test]
fn claim_about_two_cases_needs_both() {
    let cases =
        [case("reno", &["with time lag"], 17.0), case("cubic", &["without time lag"], 18.5)];
    let includes = Check::Includes(vec![Value::Text("with time lag".into())]);
    for (expectation, held, found) in [
        (
            expectation("episode.type", Statistic::All, includes),
            false,
            "reno: 1 × with time lag; cubic: 1 × without time lag",
        ),
        (
            expectation("transfer_time", Statistic::Mean, Check::AtMost(19.0)),
            true,
            "reno: 17 s; cubic: 18.5 s",
        ),
        (
            expectation("transfer_time", Statistic::All, Check::AtMost(18.0)),
            false,
            "reno: 17 s; cubic: 18.5 s",
        ),
        (
            expectation("goodput", Statistic::Max, Check::AtLeast(1.0)),
            false,
            "reno: nothing; cubic: nothing; not all that was to be sent arrived",
        ),
    ] {
        let claim = &judge(&[expectation], &cases)[0];
        assert_eq!((claim.held, claim.found.as_str()), (held, found));
    }
}

/// Fewer trials than it needs break no claim that all might bear out, and none that all must
/// break is spared.
#[test]
fn claim_with_too_few_trials_is_judged_only_where_they_settle_it() {
    use tcplab_results::ClaimOutcome::{Failed, NotJudged, Passed};
    let cases =
        [case("reno", &["with time lag"], 17.0), case("cubic", &["without time lag"], 18.5)];
    let texts = |text: &str| vec![Value::Text(text.into())];
    for (metric, of, check, outcome) in [
        ("transfer_time", Statistic::Mean, Check::AtMost(19.0), NotJudged),
        ("transfer_time", Statistic::Median, Check::AtMost(18.0), NotJudged),
        ("transfer_time", Statistic::All, Check::AtMost(19.0), NotJudged),
        ("transfer_time", Statistic::All, Check::AtMost(18.0), Failed),
        ("transfer_time", Statistic::Max, Check::AtMost(18.0), Failed),
        ("transfer_time", Statistic::Max, Check::AtLeast(18.0), NotJudged),
        ("transfer_time", Statistic::Max, Check::AtLeast(17.0), Passed),
        ("transfer_time", Statistic::Min, Check::AtMost(18.0), NotJudged),
        ("transfer_time", Statistic::Min, Check::AtLeast(17.0), NotJudged),
        ("transfer_time", Statistic::Min, Check::AtLeast(17.5), Failed),
        ("goodput", Statistic::All, Check::AtLeast(1.0), NotJudged),
        ("episode.type", Statistic::All, Check::Includes(texts("with time lag")), NotJudged),
        ("episode.type", Statistic::All, Check::Excludes(texts("with time lag")), Failed),
        ("episode.type", Statistic::All, Check::Excludes(texts("intermittent")), NotJudged),
    ] {
        let needs = |trials| Expectation { trials, ..expectation(metric, of, check.clone()) };
        let [few, enough] = [needs(2), needs(1)].map(|one| judge(&[one], &cases).remove(0));
        assert_eq!(few.outcome(), outcome, "{}", few.check);
        assert_eq!(enough.outcome() == Passed, enough.held, "{}", enough.check);
        let open = "not judged: needs 2 trials, there is 1";
        let open = if few.held { format!("met so far, {open}") } else { open.to_owned() };
        let said = few.shortfall(&cases[..1]).filter(|_| few.outcome() == NotJudged);
        assert_eq!(said, (outcome == NotJudged).then_some(open));
    }
}

/// Each phase alone has one type only; both occur over the phases.
#[test]
fn claim_over_a_factor_pools_its_levels() {
    let at = |stack: &str, offset: &str, kinds: &[&str], share: f64| {
        let levels = vec![("stack".into(), stack.into()), ("offset".into(), offset.into())];
        let case = case(&format!("{stack}_{offset}"), kinds, share);
        Case { levels, ..case }
    };
    let [with, without] = ["with time lag", "without time lag"];
    let cases = [
        at("reno", "1 s", &[with], 0.0),
        at("reno", "2 s", &[without], 100.0),
        at("reno", "3 s", &[without], 100.0),
        at("cubic", "1 s", &[with], 0.0),
    ];
    let both = Check::Includes([with, without].map(|it| Value::Text(it.into())).to_vec());
    let over = |metric, of, check, cases| Expectation {
        cases,
        over: Some("offset".into()),
        ..expectation(metric, of, check)
    };
    let alone = Expectation {
        over: None,
        ..over("episode.type", Statistic::All, both.clone(), vec![0, 1])
    };
    let share = |bound| over("transfer_time", Statistic::Mean, bound, vec![0, 1, 2]);
    for (expectation, held, found) in [
        (alone, false, "reno_1 s: 1 × with time lag; reno_2 s: 1 × without time lag"),
        (
            over("episode.type", Statistic::All, both, vec![0, 1, 2, 3]),
            false,
            "reno: 1 × with time lag, 2 × without time lag; cubic: 1 × with time lag",
        ),
        (share(Check::AtLeast(50.0)), true, "reno: 66.667 s (95 % CI 0 to 100)"),
        (share(Check::AtLeast(70.0)), false, "reno: 66.667 s (95 % CI 0 to 100)"),
    ] {
        let claim = &judge(&[expectation], &cases)[0];
        assert_eq!((claim.held, claim.found.as_str()), (held, found));
    }
}

/// Levels are free text: `a, b` and `c` read like `a` and `b, c` when joined.
#[test]
fn pools_of_different_levels_stay_apart_though_their_text_is_equal() {
    let at = |first: &str, second: &str, offset: &str, time: f64| {
        let levels = [("first", first), ("second", second), ("offset", offset)];
        let levels = levels.map(|(key, level)| (key.to_owned(), level.to_owned())).into();
        Case { levels, ..case(&format!("{first}_{second}_{offset}"), &[], time) }
    };
    let cases = [
        at("a, b", "c", "1 s", 1.0),
        at("a, b", "c", "2 s", 3.0),
        at("a", "b, c", "1 s", 10.0),
        at("a", "b, c", "2 s", 30.0),
    ];
    let mean = Expectation {
        over: Some("offset".into()),
        cases: vec![0, 1, 2, 3],
        ..expectation("transfer_time", Statistic::Mean, Check::AtMost(20.0))
    };
    let found = &judge(&[mean], &cases)[0].found;
    let means: Vec<&str> = found.split("; ").map(|it| it.split(" (").next().unwrap()).collect();
    assert_eq!(means, ["a, b, c: 2 s", "a, b, c: 20 s"], "{found}");
}

/// A missing value might have failed the claim.
#[test]
fn claim_with_failed_trial_fails() {
    let mut cases = [case("reno", &[], 17.0), case("cubic", &[], 18.0)];
    cases[1].failures.push(tcplab_results::Failure {
        number: 2,
        seed: 2,
        directory: "trials/cubic-2".into(),
        attempts: 3,
        reason: "it took too long".into(),
    });
    let claim = |of| expectation("transfer_time", of, Check::AtMost(30.0));
    for of in [Statistic::All, Statistic::Mean] {
        let claim = &judge(&[claim(of)], &cases)[0];
        let found = "reno: 17 s; cubic: 18 s; cubic: 1 of 2 trials failed";
        assert_eq!((claim.held, claim.found.as_str()), (false, found));
        assert_eq!((claim.held_alone, claim.trials), (2, 3), "in those that did not fail");
    }
    let other = Expectation { cases: vec![0], ..claim(Statistic::All) };
    assert!(judge(&[other], &cases)[0].held, "of the other case it is proved");
    let against = Expectation { cases: vec![0], baselines: vec![1], ..claim(Statistic::All) };
    assert!(!judge(&[against], &cases)[0].held);
    // Of a case without any trial nothing is known but that.
    cases[1].trials.clear();
    let found = &judge(&[claim(Statistic::All)], &cases)[0].found;
    assert_eq!(found, "reno: 17 s; cubic: nothing; cubic: 1 of 1 trials failed");
}

/// A variant that never meets it takes nothing from one that always does.
#[test]
fn single_trials_are_those_of_each_variant_that_it_is_about() {
    let with_times = |name: &str, times: &[f64]| {
        let trial = |(place, time): (usize, &f64)| Trial {
            number: place as u32 + 1,
            ..case(name, &[], *time).trials.remove(0)
        };
        let trials = times.iter().enumerate().map(trial).collect();
        let levels = vec![("loss".into(), name.into())];
        Case { levels, trials, ..case(name, &[], 0.0) }
    };
    let cases = [
        with_times("1 %", &[1.0, 2.0, 3.0]),
        with_times("20 %", &[3.0, 9.0, 9.0]),
        with_times("90 %", &[9.0, 9.0, 9.0]),
    ];
    let alone = |expectation: Expectation| {
        let claim = judge(&[expectation], &cases).remove(0);
        (claim.held_alone, claim.trials)
    };
    let claim =
        |of, cases| Expectation { cases, ..expectation("transfer_time", of, Check::AtMost(4.0)) };
    assert_eq!(alone(claim(Statistic::All, vec![0, 1, 2])), (4, 9));
    assert_eq!(alone(claim(Statistic::All, vec![0])), (3, 3));
    let pooled = Expectation { over: Some("loss".into()), ..claim(Statistic::Mean, vec![0, 1]) };
    assert_eq!(alone(pooled), (1, 3), "means of each repetition: 2 s, 5.5 s, 6 s");
}

#[test]
fn ratio_uses_trials_of_equal_number() {
    let cases = [case("5", &[], 0.9), case("20", &[], 0.6)];
    let claim = Expectation {
        cases: vec![1],
        baselines: vec![0],
        ..expectation("transfer_time", Statistic::Mean, Check::AtMost(0.7))
    };
    let claim = &judge(&[claim], &cases)[0];
    assert_eq!((claim.held, claim.found.as_str()), (true, "20: 0.667 times"));
}

/// Of a baseline without any, one is infinitely more; of none, none is no ratio.
#[test]
fn ratio_to_zero_is_infinite() {
    let case = |name: &str, values: [f64; 4]| {
        let trial = |(place, value): (usize, &f64)| Trial {
            number: place as u32 + 1,
            metrics: vec![tcplab_results::Metric::of(metrics::TIMEOUTS, *value)].into(),
            ..Trial::empty(Vec::new())
        };
        let trials = values.iter().enumerate().map(trial).collect();
        Case { name: name.into(), trials, ..Case::default() }
    };
    let judged = |base: [f64; 4], own: [f64; 4], of: Statistic, check: Check| {
        let relative = Expectation {
            cases: vec![1],
            baselines: vec![0],
            ..expectation("timeouts", of, check)
        };
        let claim = judge(&[relative], &[case("base", base), case("own", own)]).remove(0);
        (claim.held, claim.held_alone, claim.found)
    };
    let all = Statistic::All;
    for (own, of, check, expected) in [
        ([3.0, 4.0, 2.0, 0.0], all, Check::AtMost(6.0), (false, 1, "own: 4 to ∞ times")),
        ([3.0, 4.0, 2.0, 0.0], all, Check::AtLeast(2.0), (true, 3, "own: 4 to ∞ times")),
        ([0.0, 4.0, 0.0, 0.0], all, Check::AtMost(6.0), (true, 1, "own: 4 times")),
        ([3.0, 4.0, 0.0, 0.0], Statistic::Mean, Check::AtMost(6.0), (false, 1, "own: ∞ times")),
        ([3.0, 4.0, 2.0, 0.0], Statistic::Median, Check::AtLeast(9.0), (true, 2, "own: ∞ times")),
        ([0.0, 4.0, 0.0, 3.0], Statistic::Min, Check::AtMost(6.0), (true, 1, "own: 4 times")),
    ] {
        let (held, alone, found) = judged([0.0, 1.0, 0.0, 0.0], own, of, check);
        let zeros =
            own.iter().zip([0.0, 1.0, 0.0, 0.0]).filter(|both| *both == (&0.0, 0.0)).count();
        let zeros = match zeros {
            0 => String::new(),
            zeros => format!("; own: 0 / 0 in {zeros} of 4 trials, left out"),
        };
        assert_eq!((held, alone, found), (expected.0, expected.1, expected.2.to_owned() + &zeros));
    }
}
