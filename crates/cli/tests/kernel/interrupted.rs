//! Ctrl-C, as a terminal sends it to every process of the group: exit code 130, what is kept is
//! said, and nothing is left.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::home::{Home, everything};
use crate::processes::{Family, Machine, await_that};
use crate::program::namespaces_allowed;

/// A trial that is over at once, and one that takes a minute and a half; in this order by the seed.
const SCENARIO: &str = r#"
title    = "Interrupted"
path     = { rate = "10 Mbit/s", delay = "1 ms" }
workload = { upload = "10 kB" }
repeat   = { trials = 1, seed = 2 }

[matrix]
"workload.upload" = ["10 kB", "100 MB"]
"#;

/// What the command says on standard error when it gets the signal after this line of it, in the
/// process of a trial.
fn interrupted(home: &Home, line: &str, event: &str) -> String {
    let mut command = home.command(line);
    let family = Family::of(&mut command, line);
    let before = Machine::now();
    command.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains(event) {
        assert_ne!(errors.read_line(&mut said).unwrap(), 0, "{line}: it ended: {said}");
    }
    let own = |had: &BTreeSet<_>| had.difference(&before.namespaces).count();
    let mut had = BTreeSet::new();
    let is_in_trial = await_that(|| {
        had = family.namespaces();
        own(&had) > 0
    });
    assert!(is_in_trial, "{line}: {said}");
    kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    let mut rest = String::new();
    errors.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{line}: {rest}");
    family.is_gone(line, &before, &had);
    for word in ["error", "panicked", "failed"] {
        assert!(!rest.contains(word), "{line}: {rest}");
    }
    let left = everything(&home.path(""));
    let is_partial = |path: &PathBuf| path.to_string_lossy().contains(".partial-");
    assert!(!left.iter().any(is_partial), "{line}: {left:?}");
    rest
}

#[test]
fn interrupted_run_says_how_to_resume_it() {
    if !namespaces_allowed() {
        return;
    }
    for (line, event, kept) in [
        ("run long.toml --io packet-socket", "calibrating the path: step 1", 0..=0),
        ("run long.toml --io packet-socket --no-calibration", "trial 2 of 2", 1..=1),
        ("run long.toml --io packet-socket --no-calibration --quiet", "", 0..=1),
    ] {
        let home = Home::with("long.toml", SCENARIO);
        let rest = interrupted(&home, line, event);
        let run = home.only("runs/long");
        let run = run.strip_prefix(home.path("")).unwrap().display();
        let resume = format!("stopped; resume with: tcplab run --resume {run}\n");
        assert!(rest.ends_with(&resume), "{line}: {rest}");
        let plan = home.answer(&format!("run --resume {run} --dry-run"));
        let exist = |count: u32| plan.contains(&format!("existing {count} trials"));
        assert!(kept.into_iter().any(exist), "{line}: {plan}");
    }
}

#[test]
fn interrupted_fidelity_keeps_finished_trials() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::with("long.toml", SCENARIO);
    let line = "fidelity long.toml --quick --io packet-socket";
    let rest = interrupted(&home, line, "trial 2 of 2");
    let kept = "stopped; finished trials are kept: repeat the command to resume\n";
    assert!(rest.ends_with(kept), "{rest}");
    // The first trial is there already.
    let rest = interrupted(&home, line, "  exists\ntrial 2 of 2");
    assert!(rest.ends_with(kept), "{rest}");
}

#[test]
fn interrupted_verification_leaves_nothing() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let line = "path verify dsl-25 --duration 10min --json=out.json";
    let rest = interrupted(&home, line, "measuring for");
    assert_eq!(rest, "stopped on request\n");
    assert_eq!(everything(&home.path("")).len(), 0);
}
