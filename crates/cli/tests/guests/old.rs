//! Kernels whose clock is shared by a patch (`shared-clock`), where their images are built.

use crate::home::Home;
use crate::image::{Images, VERSION};
use crate::same_bytes::recordings;

const OLD: [&str; 2] = ["5.10", "6.1"];

/// Losses, a timeout and all samples; then a newer kernel at the other end.
const SCENARIO: &str = r#"
title    = "Old"
path     = { rate = "20 Mbit/s", delay = "5 ms", queue = "64 kB", loss = "0.5 %", interruption = { every = "2 s", lasting = "100 ms", offset = "100 ms" } }
workload = { upload = "600 kB" }
sampling = { each_ack = true }
repeat   = { trials = 1, seed = 7 }

[matrix.ends]
alone = { "client.stack" = "linux-OLD", "server.stack" = "linux-OLD" }
sends = { "client.stack" = "linux-OLD", "server.stack" = "linux-NEW" }

[matrix]
"client.socket.congestion" = ["cubic", "bbr"]

[[expect]]
claim  = "Every byte arrives intact"
metric = "payload_intact"
equals = true

[[expect]]
claim    = "The outage is met"
metric   = "retransmissions"
at_least = 1
"#;

#[test]
fn old_kernel_transfers_and_gives_the_same_bytes_again() {
    if Images::find().is_none() {
        return;
    }
    for old in OLD {
        let Some(images) = Images::with(old) else { continue };
        let home = Home::new();
        let scenario = SCENARIO.replace("OLD", old).replace("NEW", VERSION);
        let run = images.run_scenario(&home, &scenario, "--jobs 1 --runs one");
        for case in run["cases"].as_array().unwrap() {
            let client = case["stacks"][0]["name"].as_str().unwrap();
            assert!(client.starts_with(&format!("Linux {old}.")), "{client}");
        }
        for claim in run["claims"].as_array().unwrap() {
            assert_eq!(claim["held"], true, "{old}: {claim}");
        }
        images.run_scenario(&home, &scenario, "--jobs 2 --runs two");
        let (first, second) = (recordings(&home, "one"), recordings(&home, "two"));
        assert!(first.len() >= 4 * 5, "{}", first.len());
        assert!(first == second, "{old}: the two runs differ");
    }
}

#[test]
fn old_kernel_runs_programs() {
    for old in OLD {
        let Some(images) = Images::with(old) else { continue };
        let home = Home::new();
        let line = format!("shell --near linux-{old} --far linux-{old} -s delay=10ms -- uname -r");
        let said = images.run(&home, &line).answer(&line);
        assert!(said.starts_with(&format!("{old}.")), "{said}");
    }
}
