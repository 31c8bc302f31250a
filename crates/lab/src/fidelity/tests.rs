//! The arithmetic of the comparison, by figures worked out by hand.

use std::ops::ControlFlow;

use tcplab_recording::Sample;
use tcplab_results::fidelity::{Compared, Parting, Quantity};
use tcplab_scenario::Scenario;
use tcplab_units::{Endpoint, Instant, Span};

use super::curve::{POINTS, curve, distance};
use super::figures::QUANTITIES;
use super::ratios::{exact_goals, goals, noise, ratio, summarise};
use super::*;
use crate::error::LabError;

fn quantity(name: &str, kernel: &[f64], model: &[f64]) -> Quantity {
    Quantity {
        name: name.into(),
        unit: String::new(),
        kernel: kernel.to_vec(),
        model: model.to_vec(),
        ratio: ratio(kernel, model),
        noise: noise(kernel),
    }
}

/// A case with these transfer times and retransmissions, as (kernel, model).
fn case(time: (&[f64], &[f64]), resent: (f64, f64)) -> Compared {
    Compared {
        scenario: "s".into(),
        case: "c".into(),
        levels: Vec::new(),
        flawed: 0,
        trials: 1,
        failed: 0,
        partings: Vec::new(),
        quantities: vec![
            quantity("transfer_time", time.0, time.1),
            quantity("retransmissions", &[resent.0], &[resent.1]),
        ],
        cwnd_distance: None,
    }
}

#[test]
fn ratios_are_of_medians() {
    for (kernel, model, expected) in [
        (&[4.0, 5.0, 90.0][..], &[10.0, 1.0][..], Some(1.1)),
        (&[0.0, 0.0], &[0.0], Some(1.0)),
        (&[0.0, 0.0], &[3.0], None),
        (&[2.0], &[0.0], Some(0.0)),
        (&[], &[1.0], None),
        (&[1.0], &[], None),
    ] {
        assert_eq!(ratio(kernel, model), expected, "{kernel:?} {model:?}");
    }
}

#[test]
fn summary_uses_sorted_distances() {
    // Distances of the transfer time: 1, 2, 4, 8, 20 %; of retransmissions: 0, 10, 50 %, and two
    // cases in which only the model has any.
    let cases: Vec<Compared> = [
        (1.01, (10.0, 10.0)),
        (0.98, (10.0, 11.0)),
        (1.04, (10.0, 5.0)),
        (0.92, (0.0, 1.0)),
        (1.20, (0.0, 2.0)),
    ]
    .map(|(time, resent)| case((&[1.0], &[time]), resent))
    .into();
    let summary = summarise(&cases);
    let of = |name: &str| summary.iter().find(|overall| overall.name == name).unwrap();
    let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
    let time = of("transfer_time");
    assert_eq!((time.cases, time.undefined), (5, 0));
    // Type 7: at position 3.6 of 0 to 4, between 8 and 20 %.
    assert!(near(time.median, 0.04) && near(time.most, 0.152), "{time:?}");
    let resent = of("retransmissions");
    assert_eq!((resent.cases, resent.undefined), (3, 2));
    assert!(near(resent.median, 0.5), "{resent:?}");
    assert_eq!(resent.most, None, "what is infinitely far stays so");
    let held: Vec<bool> = goals(&summary).iter().map(|goal| goal.held).collect();
    assert_eq!(held, [true, false, false]);
}

#[test]
fn noise_is_what_the_kernel_differs_from_itself() {
    assert_eq!(noise(&[3.0; 5]), Some(0.0));
    assert_eq!(noise(&[3.0]), None, "one value shows no spread");
    // Each draw of two has a median of 1, 1.5 or 2 with probabilities ¼, ½, ¼: the distance of two
    // such is 0 with 3/8; ¼ (1.5 to 2) with 1/8; ⅓ (2 to 1.5, and 1 to 1.5) … so its middle is ¼ to
    // ⅓.
    let found = noise(&[1.0, 2.0]).unwrap();
    assert!((0.25..=0.334).contains(&found), "{found}");
    let (narrow, wide) = (noise(&[9.9, 10.0, 10.1]).unwrap(), noise(&[9.0, 10.0, 11.0]).unwrap());
    assert!(narrow < wide && wide < 0.25, "{narrow} {wide}");
}

fn looks(windows: &[(u64, u64)]) -> Vec<Sample> {
    let look = |&(millis, cwnd): &(u64, u64)| Sample {
        state: 1,
        cwnd_segments: cwnd,
        ..Sample::empty(Instant::ZERO + Span::from_millis(millis), Endpoint::Client)
    };
    windows.iter().map(look).collect()
}

#[test]
fn curves_are_steps_over_the_transfer() {
    let end = Instant::ZERO + Span::from_millis(1_100);
    let found = curve(&looks(&[(100, 10), (350, 20), (600, 40)]), Endpoint::Client, end).unwrap();
    // A second from the first look to the end, in steps of 5 ms.
    let runs = [(0, 10.0), (49, 10.0), (50, 20.0), (99, 20.0), (100, 40.0), (POINTS - 1, 40.0)];
    for (index, expected) in runs {
        assert_eq!(found[index].to_bits(), f64::to_bits(expected), "{index}");
    }
    assert_eq!(curve(&looks(&[(100, 10)]), Endpoint::Server, end), None);
}

#[test]
fn distance_of_curves_is_share_of_kernel_mean() {
    let level = |window: f64| vec![window; POINTS];
    // Medians 10 and 12.
    let kernel = [level(10.0), level(2.0), level(50.0)];
    assert_eq!(distance(&kernel, &[level(12.0)]), Some(0.2));
    assert_eq!(distance(&kernel, &kernel), Some(0.0));
    assert_eq!(distance(&kernel, &[]), None);
    // Above as far as below: differences do not cancel.
    let mut swings = level(5.0);
    swings[..POINTS / 2].fill(15.0);
    assert_eq!(distance(&[level(10.0)], &[swings]), Some(0.5));
}

const SCENARIO: &str = "
title = 'two cases in virtual time'
path = { rate = '10 Mbit/s', delay = '5 ms', queue = '20 packets' }
workload = { upload = '600 kB' }
[matrix]
'client.socket.congestion' = ['reno', 'cubic']
[repeat]
trials = 1
";

/// No kernel is needed to compare two runs: here the model is compared with itself.
#[test]
fn equal_runs_have_ratio_one() {
    let place = tempfile::tempdir().unwrap();
    let scenario = Scenario::parse(SCENARIO, "small").unwrap();
    let run = |folder: &str| {
        let plan = crate::plan(
            &scenario,
            Some(tcplab_results::World::Simulated),
            || None,
            crate::Overrides::default(),
        )
        .unwrap();
        let run = crate::begin(&place.path().join(folder), scenario.clone(), plan).unwrap();
        let launcher = tcplab_testbed::Launcher { program: "none".into(), arguments: Vec::new() };
        let bench = crate::Bench::new(launcher);
        crate::complete(&run, &bench, &false.into(), |_| {}, crate::no_report).unwrap();
        run
    };
    let pair = Pair { kernel: run("a"), model: run("b") };
    let mut read = Vec::new();
    let found = compare(&[pair], |done, total| {
        read.push((done, total));
        ControlFlow::Continue(())
    });
    let found = found.unwrap();
    assert_eq!(read, [(1, 4), (2, 4), (3, 4), (4, 4)]);
    let names: Vec<&str> = found.cases.iter().map(|case| case.case.as_str()).collect();
    assert_eq!(names, ["reno", "cubic"]);
    for case in &found.cases {
        assert!(case.quantities.iter().all(|quantity| quantity.ratio == Some(1.0)), "{case:?}");
        assert_eq!(case.cwnd_distance, Some(0.0));
    }
    assert!(found.is_within());
    let rows = csv(&found);
    assert_eq!(rows.lines().count(), 1 + 2 * (QUANTITIES.len() + 1));
    assert!(rows.contains("\nsmall,cubic,transfer_time,s,1,0."), "{rows}");
}

#[test]
fn scenario_with_model_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let modelled = SCENARIO.replace("[matrix]", "client.stack = 'model:netburner'\n[matrix]");
    let scenario = Scenario::parse(&modelled, "small").unwrap();
    let error =
        Pair::prepare(place.path(), &scenario, Against::ThisKernel, None, None).unwrap_err();
    assert!(matches!(error, LabError::NotOnKernel { .. }), "{error}");
    assert_eq!(error.remedy().as_deref(), Some("leave `stack` out of the scenario"));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing is begun");
}

#[test]
fn exact_goals_count_trials_that_differ() {
    let same = case((&[1.0], &[1.005]), (10.0, 10.0));
    let parting = Parting { trial: 1, segments_alike: 1, segments: 2, kernel: None, model: None };
    let different = Compared { partings: vec![parting], ..same.clone() };
    // One that failed on a side is no trial that is the same.
    let failed = Compared { trials: 0, failed: 1, ..same.clone() };
    for (cases, share, held) in [
        (vec![same.clone(), same.clone(), different.clone()], 1.0 / 3.0, true),
        (vec![same.clone(), failed], 0.5, false),
        (vec![same, different.clone(), different], 2.0 / 3.0, false),
    ] {
        let goals = exact_goals(&summarise(&cases), &cases);
        let [time, resent, identity] = &goals[..] else { panic!("{goals:?}") };
        assert!(time.held && resent.held, "{goals:?}");
        assert_eq!((identity.found, identity.held), (Some(share), held));
    }
}

#[test]
fn kernel_and_model_are_chosen_by_the_comparison() {
    let named = "title = \"t\"\npath = { rate = \"1 Mbit/s\" }\nworkload = { upload = \"1 kB\" }\n\
                 client = { stack = \"linux-newest\" }\n";
    let scenario = Scenario::parse(named, "s").unwrap();
    let place = tempfile::tempdir().unwrap();
    let kernel = "7.2".parse().unwrap();
    let against = Against::Virtual(&kernel, "linux-7.2");
    let error = Pair::prepare(place.path(), &scenario, against, None, None).unwrap_err();
    assert!(error.to_string().contains("names a stack"), "{error}");
}
