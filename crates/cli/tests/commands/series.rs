//! All experiments of a directory, in virtual time.

use std::process::Stdio;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::home::{Ended, Home, everything, names};

/// Claims a minimum goodput in Mbit/s.
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
fn directory_without_scenarios_is_told_as_such() {
    let home = home(&[("deep/one", &experiment(0)), ("deep/two", &experiment(0))]);
    home.make_directory("empty");
    for (line, part) in [
        ("run empty", "error: no scenario (*.toml) in empty"),
        ("run series", "error: no scenario (*.toml) in series, but in series/deep"),
        ("fidelity series/deep", "series/deep is a directory: pass a scenario file (*.toml)"),
    ] {
        let refusal = home.refusal(line);
        assert!(refusal.contains(part), "{line}: {refusal}");
    }
}

/// A directory with these experiments in `series`.
fn home(experiments: &[(&str, &str)]) -> Home {
    let home = Home::new();
    for (name, source) in experiments {
        home.write(&format!("series/{name}.toml"), source);
    }
    home
}

#[test]
fn directory_runs_in_order_with_a_line_each() {
    let (possible, impossible) = (experiment(0), experiment(1000));
    let home = home(&[("one", &possible), ("two", &impossible), ("three", &possible)]);
    let Ended { code, stdout, stderr } = home.run("run series --world sim");
    assert_eq!(code, Some(1), "the worst counts: {stderr}");
    let last: Vec<&str> = stdout.lines().rev().take(3).collect();
    for (line, (name, result)) in last.iter().rev().zip([
        ("one", "✓ 1 of 1 claims passed"),
        ("three", "✓ 1 of 1 claims passed"),
        ("two", "✗ 0 of 1 claims passed"),
    ]) {
        let begins = line.starts_with(&format!("series/{name}.toml"));
        assert!(begins && line.contains(result), "{line}");
        let report = line.rsplit("  ").next().unwrap();
        assert!(report.contains(&format!("runs/{name}/")), "{line}");
        assert!(home.path(report).is_file(), "{report}");
    }
    assert!(stderr.contains("experiment 2 of 3: series/three.toml"), "{stderr}");
}

/// For the page: each experiment is a part, and the last line says that all is done.
#[test]
fn series_is_told_in_parts() {
    let (possible, impossible) = (experiment(0), experiment(1000));
    let home = home(&[("one", &possible), ("two", &impossible)]);
    let mut child = home
        .command("run series --world sim --control")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its end would stop the series.
    let input = child.stdin.take();
    let ended = child.wait_with_output().unwrap();
    drop(input);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!((ended.status.code(), &*said), (Some(1), ""));
    let events: Vec<Value> =
        ended.stdout.split(|it| *it == b'\n').filter(|line| !line.is_empty()).map(json).collect();
    let told: Vec<&str> = events
        .iter()
        .filter_map(|it| it["event"].as_str())
        .filter(|it| ["part", "begun", "part-finished", "finished"].contains(it))
        .collect();
    let each = ["part", "begun", "part-finished"];
    assert_eq!(told, [&each[..], &each, &["finished"]].concat());
    let parts: Vec<&Value> = events.iter().filter(|it| it["event"] == "part").collect();
    assert_eq!((&parts[1]["index"], &parts[1]["total"]), (&2.into(), &2.into()));
    assert_eq!(parts[0]["name"], "series/one.toml");
    let claims = events.iter().filter(|it| it["event"] == "part-finished");
    assert_eq!(claims.map(|it| it["claims"]["failed"].clone()).collect::<Vec<_>>(), [0, 1]);
}

fn json(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

/// The headers of one trial of each case, unless a scenario says otherwise.
#[test]
fn series_keeps_few_packets() {
    let of = |recording: &str| {
        format!(
            "title = \"t\"\n[path]\nrate = \"50 Mbit/s\"\n[workload]\nupload = \"1 MB\"\n\
             [repeat]\ntrials = 4\n{recording}"
        )
    };
    let (usual, all) = (of(""), of("[recording]\nkeep = \"all\"\n"));
    let home = home(&[("all", &all), ("usual", &usual)]);
    home.answer("run series --world sim");
    let kept = |name: &str| -> Vec<u64> {
        let trials = home.only(format!("runs/{name}")).join("trials");
        let captures = names(&trials).into_iter().map(|it| trials.join(it).join("client.pcapng"));
        captures.filter_map(|it| Some(std::fs::metadata(it).ok()?.len())).collect()
    };
    assert_eq!(kept("all").len(), 4);
    let usual = kept("usual");
    assert!(matches!(usual[..], [size] if size < 400_000), "{usual:?} of 1 MB");
}

#[test]
fn series_with_unreadable_file_runs_nothing() {
    let home = home(&[("good", &experiment(0)), ("wrong", "title = 1\n")]);
    home.refuses(&[
        ("run series --world sim", "series/wrong.toml"),
        ("run haiku-tcp --resume", "haiku-tcp has 7 experiments"),
    ]);
    assert!(!home.exists("runs"));
}

#[test]
fn catalogue_folder_is_listed_with_its_command() {
    let listed = Home::new().answer("scenarios");
    assert!(listed.starts_with("  interruption\n"), "{listed}");
    assert!(listed.contains("\nhaiku-tcp/  7 experiments: tcplab run haiku-tcp\n"), "{listed}");
    let document = "source: [gsoc_2017] tcp optimization report 5";
    assert_eq!(listed.matches(document).count(), 1, "once for the folder: {listed}");
}

/// An experiment that takes much longer than the signal to stop it.
fn long() -> String {
    let long = experiment(0).replace("trials = 1", "trials = 20000");
    format!("{long}[recording]\nkeep = \"all\"\n")
}

#[test]
fn stopped_series_starts_no_other_run() {
    let short = experiment(0);
    let home = home(&[("a", &short), ("b", &long()), ("c", &short)]);
    let mut series = home.command("run series --world sim");
    let series = series.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let made = || {
        let runs = names(&home.path("runs/b")).into_iter();
        runs.flat_map(|run| names(&home.path(format!("runs/b/{run}/trials")))).collect::<Vec<_>>()
    };
    // Several are made at once: these two are whole when they have their names.
    while !["base-1", "base-2"].iter().all(|trial| made().iter().any(|name| name == trial)) {
        thread::yield_now();
    }
    kill_process(Pid::from_child(&series), Signal::INT).unwrap();
    let Ended { code, stdout, stderr } = Ended::from(series.wait_with_output().unwrap());
    assert_eq!(code, Some(130), "Ctrl-C: {stderr}");
    assert!(stderr.contains("stopped; resume with: tcplab run --resume runs/b/"), "{stderr}");
    let count = made().len();
    assert!(count < 2000, "it stops with the trials that run: {count} were made");
    let lines: Vec<&str> = stdout.lines().rev().take(3).collect();
    let [c, b, a] = lines[..] else { panic!("{stdout}") };
    assert!(a.starts_with("series/a.toml  ✓ 1 of 1 claims passed  runs/a/"), "{stdout}");
    let (_, run) = b.split_once("unfinished, resume with: tcplab run --resume ").unwrap();
    assert_eq!(c, "series/c.toml  – not started: the series was stopped");
    assert!(!home.exists("runs/c"));
    assert!(!stderr.contains("experiment 3 of 3"), "{stderr}");
    // The finished trials are whole and are resumed; here with as many as there is time for.
    let left = everything(&home.path(run));
    let is_partial = |path: &std::path::PathBuf| path.to_string_lossy().contains(".partial-");
    assert!(!left.iter().any(is_partial), "{left:?}");
    let plan = home.answer(&format!("run --resume {run} --dry-run"));
    let existing = plan.lines().find_map(|line| line.strip_prefix("existing "));
    assert!(existing.is_some_and(|existing| !existing.starts_with("0 trials")), "{plan}");
    // Several are made at once, so that one of a lower number may be missing.
    let whole = names(&home.path(format!("{run}/trials")));
    let number = |name: &String| name.strip_prefix("base-")?.parse::<u32>().ok();
    let highest = whole.iter().filter_map(number).max().unwrap();
    let shorter = home.run(&format!("run --extend {run} --trials {highest}"));
    assert_eq!(shorter.code, Some(0), "{}", shorter.stderr);
    let reused = format!("{} existing trials reused", whole.len());
    assert!(shorter.stderr.contains(&reused), "{reused}: {}", shorter.stderr);
}
