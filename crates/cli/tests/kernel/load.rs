//! A server design under load: its clients' answers, and its leftovers.

use std::os::unix::process::CommandExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tcplab_capture::Reader;
use tcplab_recording::Recording;
use tcplab_units::Endpoint;

use crate::experiment::Experiment;
use crate::home::Home;
use crate::processes::{Family, Machine, await_that};
use crate::program::{Io, namespaces_allowed};

/// Processes, threads and event loops, across a path and on one host.
const SCENARIO: &str = r#"
title    = "Servers"
workload = { load = { design = "fork", requests = 40, concurrency = 4 } }
path     = {}
repeat   = { trials = 1 }
[matrix.place]
lan      = { "path.delay" = "1 ms" }
loopback = { "path.same_host" = true }
[matrix]
"workload.load.design" = ["fork", "prefork", "thread", "epoll", "io-uring"]
"#;

#[test]
fn every_design_answers_all_requests_and_exits() {
    let Some(run) = Experiment::run(SCENARIO, Io::PacketSocket) else { return };
    for case in &run.result().cases {
        let (name, trial) = (&case.name, &case.trials[0]);
        let load = trial.load.as_ref().unwrap_or_else(|| panic!("{name} has no load"));
        if let Some(why) = &load.impossible {
            assert!(name.ends_with("io-uring"), "{name} is impossible: {why}");
            assert!(trial.metrics.is_empty() && trial.warnings.iter().any(|it| it.contains(why)));
            continue;
        }
        let metric = |name: &str| trial.metrics.value_named(name);
        assert_eq!(metric("load.requests"), Some(40.0), "{name}");
        assert_eq!(
            (metric("load.errors"), metric("load.intact")),
            (Some(0.0), Some(1.0)),
            "{name}"
        );
        // One more connection checks that the server listens.
        assert_eq!((load.server.accepted, load.server.requests), (41, 40), "{name}");
        assert!(metric("load.server_time") > Some(0.0), "{name}");
        let directory = run.directory().join(&trial.directory);
        assert!(!directory.join("served").exists(), "{name}: the file is still there");
        if name.starts_with("lan") {
            // A round trip to connect, and one more to the first byte.
            assert!(metric("load.connect") >= Some(2.0), "{name}: {trial:?}");
            assert!(metric("load.latency") >= Some(4.0), "{name}: {trial:?}");
            assert_eq!(metric("lost"), Some(0.0), "{name}");
        }
        let recording = Recording::open(&directory).unwrap();
        assert_eq!(recording.app().unwrap().load.as_ref(), Some(&**load), "{name}");
        for end in Endpoint::BOTH {
            let mut reader = Reader::new(recording.capture(end).unwrap().1).unwrap();
            let mut frames = 0;
            while let Some(record) = reader.next_record().unwrap() {
                assert!(record.captured.len() <= 128, "{name}: only headers are kept");
                frames += 1;
            }
            assert!(frames > 41 * 6, "{name}: all connections are captured: {frames}");
        }
    }
    run.home().refuses(&[("run made.toml --world sim", "processes and threads")]);
}

#[test]
fn forking_server_leaves_no_process() {
    if !namespaces_allowed() {
        return;
    }
    for (design, signal) in [("fork", Signal::KILL), ("prefork", Signal::INT)] {
        let home = Home::new();
        let scenario = SCENARIO.replace("requests = 40", "for = \"60 s\"").replace(
            "\"fork\", \"prefork\", \"thread\", \"epoll\", \"io-uring\"",
            &format!("\"{design}\""),
        );
        home.write("long.toml", scenario);
        let mut program = home.command("run long.toml --no-calibration");
        let family = Family::of(&mut program, design);
        let before = Machine::now();
        let mut child =
            program.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The program, the trial, the server and its children.
        assert!(await_that(|| family.members().len() > 3), "{design}: no server came");
        let had = family.namespaces();
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        family.is_gone(design, &before, &had);
    }
}
