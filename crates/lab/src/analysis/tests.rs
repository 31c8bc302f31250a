//! What is said of whole trials, from the scenario to the metrics.

use std::sync::atomic::AtomicBool;

use tcplab_recording::Recording;
use tcplab_results::Trial;
use tcplab_scenario::{MetricInfo, Scenario, metrics};
use tcplab_sim::{TrialRequest, run_trial};

use super::Contents;
use super::trial::examine;

/// The first case of a scenario, run once in virtual time.
fn trial(scenario: &str) -> Trial {
    let scenario = format!("title = \"Made\"\n{scenario}");
    let scenario = Scenario::parse(&scenario, "made").unwrap();
    let place = tempfile::tempdir().unwrap();
    let (case, directory) = (&scenario.cases[0], place.path());
    let request = TrialRequest { case, seed: 1, directory, snaplen: None, keeps_packets: true };
    run_trial(&request, &AtomicBool::new(false)).unwrap();
    let recording = Recording::open(directory).unwrap();
    examine(&Contents::read(recording, case).unwrap(), case, None).unwrap()
}

fn value(trial: &Trial, info: &MetricInfo) -> Option<f64> {
    trial.metrics.iter().find(|metric| metric.name == info.name).map(|metric| metric.value)
}

/// Two flows that fill a path, by what limits it.
#[test]
fn path_is_used_to_the_full_whatever_limits_it() {
    for path in [
        r#"rate = "8 Mbit/s""#,
        r#"rate = { start = "4 Mbit/s", steps = [{ at = "500 ms", to = "16 Mbit/s" }] }"#,
        r#"rate = { start = "16 Mbit/s", steps = [{ at = "500 ms", to = "4 Mbit/s" }] }"#,
        r#"rate = "20 Mbit/s"
           police = { rate = "8 Mbit/s", burst = "100 kB" }"#,
    ] {
        let trial = trial(&format!(
            "[path]\n{path}\ndelay = \"5 ms\"\nqueue = \"50 packets\"\n\
             [workload]\nupload = \"1 MB\"\n[flow.a]\n[flow.b]\n"
        ));
        let utilisation = value(&trial, metrics::PATH_UTILISATION).unwrap();
        assert!((75.0..=105.0).contains(&utilisation), "{path}: {utilisation} %");
    }
}

/// The ACKs of an upload are not what a path is used for.
#[test]
fn busier_direction_without_a_rate_has_no_utilisation() {
    let trial = trial(
        "[path]\ndelay = \"5 ms\"\nreverse.rate = \"10 Mbit/s\"\n\
         [workload]\nupload = \"200 kB\"\n[flow.a]\n[flow.b]\n",
    );
    assert_eq!(value(&trial, metrics::PATH_UTILISATION), None);
}
