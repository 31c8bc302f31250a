//! All experiments of a directory, in virtual time.

use std::fs;
use std::process::Stdio;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use crate::{command, everything, home, refusal, text};

/// Claims that its goodput is no less than so many Mbit/s.
fn experiment(least: u32) -> String {
    format!(
        r#"title = "Small"

[path]
rate = "10 Mbit/s"

[workload]
upload = "10 kB"

[repeat]
trials = 1

[[expect]]
claim    = "It is fast"
metric   = "goodput"
at_least = "{least} Mbit/s"
"#
    )
}

#[test]
fn directory_runs_in_order_with_a_line_each() {
    let home = home();
    fs::create_dir(home.path().join("series")).unwrap();
    // The second claims what cannot be.
    for (name, least) in [("one", 0), ("two", 1000), ("three", 0)] {
        fs::write(home.path().join(format!("series/{name}.toml")), experiment(least)).unwrap();
    }
    let output = command(home.path(), &["run", "series", "--world", "sim"]).output().unwrap();
    let (answer, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "the worst counts: {told}");
    let last: Vec<&str> = answer.lines().rev().take(3).collect();
    for (line, (name, came)) in last.iter().rev().zip([
        ("one", "✓ 1 of 1 claims passed"),
        ("three", "✓ 1 of 1 claims passed"),
        ("two", "✗ 0 of 1 claims passed"),
    ]) {
        assert!(line.starts_with(&format!("series/{name}.toml")) && line.contains(came), "{line}");
        let report = line.rsplit("  ").next().unwrap();
        assert!(report.contains(&format!("runs/{name}/")), "{line}");
        assert!(home.path().join(report).is_file(), "{report}");
    }
    assert!(told.contains("experiment 2 of 3: series/three.toml"), "{told}");
}

#[test]
fn series_with_unreadable_file_runs_nothing() {
    let home = home();
    fs::create_dir(home.path().join("series")).unwrap();
    fs::write(home.path().join("series/good.toml"), experiment(0)).unwrap();
    fs::write(home.path().join("series/wrong.toml"), "title = 1\n").unwrap();
    let said = refusal(home.path(), &["run", "series", "--world", "sim"]);
    assert!(said.contains("series/wrong.toml"), "{said}");
    let said = refusal(home.path(), &["run", "haiku-tcp", "--resume"]);
    assert!(said.contains("haiku-tcp has 4 experiments"), "{said}");
}

#[test]
fn catalogue_folder_is_listed_with_its_command() {
    let home = home();
    let listed = text(&command(home.path(), &["scenarios"]).output().unwrap().stdout);
    assert!(listed.starts_with("  interruption "), "{listed}");
    assert!(listed.contains("\nhaiku-tcp/  4 experiments: tcplab run haiku-tcp\n"), "{listed}");
    let document = "source: [gsoc_2017] tcp optimization report 5";
    assert_eq!(listed.matches(document).count(), 1, "told once for the folder: {listed}");
}

/// An experiment that takes much longer than it takes to be told that it has begun.
fn long() -> String {
    let long = experiment(0).replace("trials = 1", "trials = 20000");
    format!("{long}[recording]\nkeep = \"all\"\n")
}

#[test]
fn stopped_series_starts_no_other_run() {
    let home = home();
    fs::create_dir(home.path().join("series")).unwrap();
    for (name, source) in [("a", experiment(0)), ("b", long()), ("c", experiment(0))] {
        fs::write(home.path().join(format!("series/{name}.toml")), source).unwrap();
    }
    let mut series = command(home.path(), &["run", "series", "--world", "sim"]);
    let series = series.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let trials = || {
        let runs = fs::read_dir(home.path().join("runs/b")).into_iter().flatten().flatten();
        let folders = runs.map(|run| run.path().join("trials"));
        folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten()).count()
    };
    while trials() < 3 {
        thread::yield_now();
    }
    kill_process(Pid::from_child(&series), Signal::INT).unwrap();
    let output = series.wait_with_output().unwrap();
    let (answer, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "as of a single run: {told}");
    assert!(told.contains("stopped; resume with: tcplab run --resume runs/b/"), "{told}");
    let lines: Vec<&str> = answer.lines().rev().take(3).collect();
    let [c, b, a] = lines[..] else { panic!("{answer}") };
    assert!(a.starts_with("series/a.toml  ✓ 1 of 1 claims passed  runs/a/"), "{answer}");
    let (_, run) = b.split_once("unfinished, resume with: tcplab run --resume ").unwrap();
    assert_eq!(c, "series/c.toml  – not started: the series was stopped");
    assert!(!home.path().join("runs/c").exists());
    assert!(!told.contains("experiment 3 of 3"), "{told}");
    // What is there is whole, and is gone on with; here with as much as there is time for.
    let left = everything(&home.path().join(run));
    assert!(!left.iter().any(|path| path.contains(".partial-")), "{left:?}");
    let resumed = command(home.path(), &["run", "--resume", run, "--dry-run"]).output().unwrap();
    let resumed = text(&resumed.stdout);
    let there = resumed.lines().find_map(|line| line.strip_prefix("existing "));
    assert!(there.is_some_and(|there| !there.starts_with("0 trials")), "{resumed}");
    let shorter = ["run", "--extend", run, "--trials", "2"];
    let shorter = command(home.path(), &shorter).output().unwrap();
    assert!(shorter.status.success(), "{}", text(&shorter.stderr));
    assert!(text(&shorter.stderr).contains("2 existing trials reused"));
}
