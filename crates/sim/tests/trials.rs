//! Whole trials in virtual time.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use tcplab_recording::Recording;
use tcplab_scenario::Scenario;
use tcplab_sim::{TrialRequest, run_trial};

fn scenario(text: &str) -> Scenario {
    Scenario::parse(&format!("title = \"A trial\"\n{text}\n[repeat]\ntrials = 1\n"), "trial")
        .unwrap()
}

/// Runs the only case of a scenario.
fn trial(text: &str, seed: u64, directory: &Path) -> Recording {
    let scenario = scenario(text);
    let request = TrialRequest { case: &scenario.cases[0], seed, directory, snaplen: None };
    run_trial(&request, &AtomicBool::new(false)).unwrap();
    Recording::open(directory).unwrap()
}

const LOSSY: &str = r#"
[path]
rate  = "10 Mbit/s"
delay = "10 ms"
queue = "50 packets"
loss  = "1 %"
[workload]
upload = "1 MB"
"#;

#[test]
fn a_transfer_through_losses_arrives() {
    let place = tempfile::tempdir().unwrap();
    let recording = trial(LOSSY, 1, place.path());
    let app = recording.app().unwrap();
    assert_eq!(app.server.bytes.as_u64(), 1_000_000);
    assert_eq!(app.server.digest, app.client.digest);
}
