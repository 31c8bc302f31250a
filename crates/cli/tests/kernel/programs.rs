//! Application programs in both worlds: the socket API's documented behaviour, in the log of calls
//! and in the packets.

use std::fs;

use tcplab_workload::{CALLS, RESULTS};

use crate::experiment::Experiment;
use crate::home::Home;
use crate::program::Io;

const SCENARIO: &str = include_str!("programs.toml");

/// The scenario's claims pass, and its log is valid.
#[test]
fn calls_return_documented_results() {
    let Some(experiment) = Experiment::run(SCENARIO, Io::Tun) else { return };
    for trial in experiment.trials() {
        for report in [&trial.app.client, &trial.app.server] {
            for row in &report.log {
                assert!(CALLS.contains(&&*row.call), "{}: {row:?}", trial.name());
                assert!(RESULTS.contains(&&*row.result), "{}: {row:?}", trial.name());
                assert!(row.began <= row.ended && row.longest <= row.took, "{row:?}");
            }
            let in_order = report.log.is_sorted_by_key(|row| row.began);
            assert!(in_order, "{}: {:?}", trial.name(), report.log);
        }
    }
    let calls = fs::read_to_string(experiment.directory().join("calls.csv")).unwrap();
    assert!(calls.lines().any(|row| row.starts_with("timeout,1,client,1,read,1,,EAGAIN,1,0,")));
}

#[test]
fn calls_return_documented_results_in_virtual_time() {
    let home = Home::with("made.toml", SCENARIO);
    home.answer("run made.toml --world sim");
}
