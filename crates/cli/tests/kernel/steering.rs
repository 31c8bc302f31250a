//! The caller of a trial changes its path while it runs; the record says what was done.

use std::sync::atomic::AtomicBool;

use tcplab_lab::{Bench, Event, Overrides, begin, complete, no_report, plan, replay};
use tcplab_path::{Cause, PathChange};
use tcplab_recording::Recording;
use tcplab_results::World;
use tcplab_scenario::{Scenario, with_events};
use tcplab_testbed::{Launcher, Steering, SteeringAnswer, SteeringError};

use crate::home::Home;
use crate::program::{Io, allowed};

const SCENARIO: &str = r#"
title = "Steered"
[path] # a narrow link, and a wide one back
delay = "5 ms"
[path.forward]
rate  = "20 Mbit/s"
queue = "100 packets"
[workload]
upload = "4 MB"
[repeat]
trials = 1
"#;

/// What is changed at each report of progress; the last is not possible.
const CHANGES: [&str; 6] = [
    r#"{ "rate": "15 Mbit/s", "delay": "15 ms" }"#,
    r#"{ "direction": "forward", "drop": 1 }"#,
    r#"{ "loss": "0.5 %" }"#,
    r#"{ "direction": "forward", "interrupt": "50 ms", "drop": 2 }"#,
    r#"{ "loss": "0 %", "delay": "2 ms", "rate": "30 Mbit/s" }"#,
    r#"{ "direction": "reverse", "rate": "1 Mbit/s" }"#,
];

#[test]
fn steered_trial_replays_with_the_events_on_record() {
    if !allowed(Io::Tun) {
        return;
    }
    let home = Home::new();
    let scenario = Scenario::parse(SCENARIO, "steered").unwrap();
    let plan = plan(&scenario, Some(World::Kernel), || None, Overrides::default()).unwrap();
    let directory = begin(home.0.path(), scenario, plan).unwrap();
    let program = env!("CARGO_BIN_EXE_tcplab").into();
    let launcher = Launcher { program, arguments: vec!["kernel-world".into()] };
    let steering = Steering::default();
    let bench =
        Bench { calibrate: false, steering: Some(steering.clone()), ..Bench::new(launcher) };
    let mut changes = CHANGES.iter().map(|json| serde_json::from_str(json).unwrap());
    let on_event = |event: Event<'_>| {
        if let Event::Progress(_) = event
            && let Some(change) = changes.next()
        {
            steering.send(change).unwrap();
        }
    };
    let stop = AtomicBool::new(false);
    let outcome = complete(&directory, &bench, &stop, on_event, no_report).unwrap();
    let trial = &outcome.run.cases[0].trials[0];
    let warns = |warning: &String| warning.starts_with("the path was changed");
    assert!(trial.warnings.iter().any(warns), "{:?}", trial.warnings);

    let late = PathChange { drop: Some(1), ..PathChange::default() };
    assert_eq!(steering.send(late), Err(SteeringError::NoTrial));
    let recording = Recording::open(&directory.path().join(&trial.directory)).unwrap();
    let record = recording.record().unwrap();
    let (mut applied, mut refused) = (Vec::new(), Vec::new());
    for answer in steering.answers() {
        match answer {
            SteeringAnswer::Applied(events) => applied.extend(events),
            SteeringAnswer::Refused(why) => refused.push(why),
        }
    }
    assert_eq!(record.path_events, applied);
    assert!(!applied.is_empty(), "there was progress");
    assert!(refused.iter().all(|why| why.starts_with("there is no bottleneck")), "{refused:?}");
    let dropped = recording.truth().unwrap();
    let dropped = dropped.iter().filter_map(|row| row.verdict.fate.cause());
    let by_events = dropped.filter(|cause| matches!(cause, Cause::Event { .. })).count();
    let asked: u32 = applied.iter().filter_map(|event| event.drop).sum();
    assert!(by_events as u32 <= asked, "{by_events} of {asked}");

    // The path with these events does the same, and a scenario that has them comes out.
    let replay = replay(&recording).unwrap();
    assert_eq!(replay.differences, []);
    assert!(replay.packets > 1_000, "{}", replay.packets);
    let text = with_events(SCENARIO, &record.path_events).unwrap();
    let scenario = Scenario::parse(&text, "steered").unwrap();
    assert_eq!(scenario.cases[0].path, record.steered_path());
}
