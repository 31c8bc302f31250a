//! Runs in virtual time that are interrupted, resumed, extended, or have failed trials: results
//! equal those of an undisturbed run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tcplab_results::Run;
use tcplab_units::Rng;

use crate::{command, everything, text};

/// Two cases that take a few milliseconds each, with losses to tell of.
const TINY: &str = r#"title = "Tiny"

[path]
rate  = "10 Mbit/s"
delay = "5 ms"
loss  = "2 %"

[client]
stack = "model:linux-6.18"

[server]
stack = "model:linux-6.18"

[workload]
upload = "60 kB"

[matrix]
"client.socket.congestion" = ["reno", "cubic"]

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true

"#;

/// And which of them is better.
const COMPARE: &str = "[[compare]]\nfactor = \"client.socket.congestion\"\nthreshold = \"1 %\"\n";

/// Runs a scenario that starts as [`TINY`] does, named `name`; gives the directory of its run.
fn run(home: &Path, name: &str, rest: &str, options: &[&str]) -> PathBuf {
    let (code, directory) = run_to(home, name, rest, options);
    assert_eq!(code, Some(0), "{name} {options:?}");
    directory
}

/// The same with any exit code.
fn run_to(home: &Path, name: &str, rest: &str, options: &[&str]) -> (Option<i32>, PathBuf) {
    let file = home.join("tiny.toml");
    fs::write(&file, format!("{TINY}{rest}")).unwrap();
    let mut all = vec!["run", "tiny.toml", "--runs", name];
    all.extend(options);
    let output = command(home, &all).output().unwrap();
    let said = text(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    (output.status.code(), only(&home.join(name).join("tiny")))
}

/// The one thing in a directory.
fn only(directory: &Path) -> PathBuf {
    let mut entries = fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
    let one = entries.next().unwrap();
    assert_eq!(entries.next(), None, "{}", directory.display());
    one
}

/// All tables of a run by name, without what tells when and under which load it ran.
fn tables(run: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(run).unwrap().flatten().map(|entry| entry.path());
    let is_table = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "csv")
            || path.ends_with("run.json")
            || path.ends_with("comparisons.json")
    };
    let mut names: Vec<PathBuf> = entries.filter(is_table).collect();
    names.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.retain(|line| !line.trim_start().starts_with("\"started\": "));
        if let Some(at) = lines.iter().position(|line| line.ends_with("\"load at the start\",")) {
            lines.remove(at + 1);
        }
        (path.file_name().unwrap().to_string_lossy().into_owned(), lines.join("\n"))
    };
    names.iter().map(read).collect()
}

fn same(one: &Path, other: &Path, what: &str) {
    let (ours, theirs) = (tables(one), tables(other));
    assert_eq!(ours.len(), theirs.len(), "{what}");
    assert!([8, 10].contains(&ours.len()), "{what}: seven tables and run.json, and comparisons");
    for ((name, ours), (other, theirs)) in ours.iter().zip(&theirs) {
        assert_eq!(name, other, "{what}");
        let differs = |(ours, theirs): &(&str, &str)| ours != theirs;
        let line = ours.lines().zip(theirs.lines()).find(differs);
        assert!(ours == theirs, "{what}: {name} differs: {line:.300?}");
    }
    let left: Vec<String> =
        everything(one).into_iter().filter(|path| path.contains(".partial-")).collect();
    assert_eq!(left, [""; 0], "{what}");
}

fn read(run: &Path) -> Run {
    serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap()
}

/// Kills runs fifty times, at moments from their beginning to their end, and goes on with them.
#[test]
fn killed_run_resumes_to_equal_results() {
    let home = tempfile::tempdir().unwrap();
    let mut random = Rng::new(1, "kill");
    let until = "[repeat]\nuntil = { ci = \"8 %\", min = 3, max = 5 }\n";
    for (name, rest) in [("fixed", "[repeat]\ntrials = 3\n"), ("until", until)] {
        let rest = &format!("{rest}{COMPARE}");
        let plain = run(home.path(), &format!("{name}-plain"), rest, &[]);
        assert!(plain.join("comparisons.csv").exists());
        let mut kills = 0;
        for nth in 1.. {
            let place = home.path().join(format!("{name}-{nth}"));
            // Later and later, so that it comes to its end however slow the machine is.
            let mut latest = 30;
            while !came_to_its_end(home.path(), &place, random.below(latest)) {
                (kills, latest) = (kills + 1, latest + 30);
            }
            same(&only(&place.join("tiny")), &plain, name);
            if kills >= 25 {
                break;
            }
        }
    }
}

/// Begins the run below `runs`, or goes on with it, and kills it after so many milliseconds;
/// whether it had ended by then.
fn came_to_its_end(home: &Path, runs: &Path, after: u64) -> bool {
    let entries = fs::read_dir(runs.join("tiny")).into_iter().flatten().flatten();
    let mut begun = entries.map(|entry| entry.path());
    let begun = begun.find(|run| run.join("plan.json").exists());
    if begun.is_none() {
        // It had no plan yet, so it is none to go on with.
        let _ = fs::remove_dir_all(runs);
    }
    let place = begun.as_deref().unwrap_or(runs).display().to_string();
    let arguments = match begun {
        Some(_) => vec!["run", "--resume", &place],
        None => vec!["run", "tiny.toml", "--runs", &place],
    };
    let mut command = command(home, &arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(after));
    if let Some(status) = child.try_wait().unwrap() {
        assert!(status.success(), "{place}: {status}");
        return true;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

/// Nothing that a kill leaves while tables and report are written looks whole, or stays.
#[test]
fn partial_tables_and_report_are_rewritten() {
    let home = tempfile::tempdir().unwrap();
    let plain = run(home.path(), "plain", "", &[]);
    let struck = run(home.path(), "struck", "", &[]);
    fs::remove_file(struck.join("run.json")).unwrap();
    fs::remove_file(struck.join("ends.csv")).unwrap();
    fs::write(struck.join(".partial-report.html"), "<html>half").unwrap();
    fs::write(struck.join(".partial-run.json"), "{").unwrap();
    fs::create_dir(struck.join("trials/.partial-reno-3")).unwrap();
    let directory = struck.display().to_string();
    let again = command(home.path(), &["run", "--resume", &directory]).output().unwrap();
    assert!(again.status.success(), "{}", text(&again.stderr));
    same(&struck, &plain, "tables");
    let report = |run: &Path| fs::read_to_string(run.join("report.html")).unwrap();
    assert!(report(&struck).contains("</html>"));
}

/// Tables and report of a run, by their names in it.
fn outcome(run: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let is_it = |path: &Path| {
        let first = path.iter().next().unwrap_or_default();
        let is_partial = first.to_string_lossy().starts_with(".partial-");
        let is_table = path.extension().is_some_and(|it| it == "csv") && !is_partial;
        is_table && path.iter().count() == 1
            || ["run.json", "comparisons.json", "report.html", "report"]
                .iter()
                .any(|it| first == *it)
    };
    contents(run).into_iter().filter(|(path, _)| is_it(path)).collect()
}

/// The names in a directory.
fn names(directory: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path()).collect()
}

/// Goes on with a run, and kills that as soon as what is in its directory has changed so often,
/// and a moment later; whether it was killed.
fn is_killed_while_writing(run: &Path, changes: usize, moment: u64) -> bool {
    let directory = run.display().to_string();
    let mut command = command(run, &["run", "--resume", &directory]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut seen, mut left) = (names(run), changes);
    while left > 0 {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return false;
        }
        let now = names(run);
        if now != seen {
            (seen, left) = (now, left - 1);
        }
    }
    (0..moment).for_each(|_| std::hint::spin_loop());
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

/// Kills what writes tables and report, at one file after the other: what has its name is whole,
/// and to go on leaves all that an undisturbed run does, byte by byte.
#[test]
fn interrupted_write_is_never_taken_as_complete() {
    let home = tempfile::tempdir().unwrap();
    let mut random = Rng::new(1, "kill while writing");
    let folder = "[repeat]\ntrials = 101\n[recording]\nkeep = \"none\"\n";
    // Of a folder only its own making and moving is of interest: its tables are as those of a file.
    let (file, folder) = (("file", "[repeat]\ntrials = 1\n", 40), ("folder", folder, 3));
    for (name, rest, most) in [file, folder] {
        let run = run(home.path(), name, &format!("{rest}{COMPARE}"), &[]);
        let whole = outcome(&run);
        let mut kills = 0;
        for changes in (1..most).step_by(if most > 9 { 3 } else { 1 }) {
            for (path, _) in &whole {
                let _ = fs::remove_file(run.join(path));
            }
            let _ = fs::remove_dir_all(run.join("report"));
            if !is_killed_while_writing(&run, changes, random.below(30_000)) {
                break;
            }
            kills += 1;
            what_is_left_is_whole(&run, &whole);
        }
        assert!(kills >= 2, "{name}: {kills}");
        let directory = run.display().to_string();
        let again = command(&run, &["run", "--resume", &directory]).output().unwrap();
        assert!(again.status.success(), "{}", text(&again.stderr));
        assert!(outcome(&run) == whole, "{name}");
        let left = names(&run).into_iter().find(|it| it.display().to_string().contains(".partial"));
        assert_eq!(left, None, "{name}");
    }
}

/// What has its name is as it is in the whole; a folder is all there or not at all.
fn what_is_left_is_whole(run: &Path, whole: &[(PathBuf, Vec<u8>)]) {
    let left = outcome(run);
    let half = left.iter().find(|it| !whole.contains(it)).map(|(path, _)| path);
    assert_eq!(half, None, "{}", run.display());
    let pages = |all: &[(PathBuf, Vec<u8>)]| {
        all.iter().filter(|(path, _)| path.starts_with("report")).count()
    };
    assert!([0, pages(whole)].contains(&pages(&left)), "half a folder");
    let is_finished = left.iter().any(|(path, _)| path == Path::new("run.json"));
    assert!(!is_finished || left.len() == whole.len(), "run.json comes last");
}

/// What the scenario asks to compare: the same as `tcplab compare` says, in every place where one
/// looks.
#[test]
fn compare_section_appears_in_all_outputs() {
    let home = tempfile::tempdir().unwrap();
    let asked = format!("{COMPARE}metrics = [\"transfer_time\", \"lost\", \"cpu_per_byte\"]\n");
    let run = run(home.path(), "asked", &format!("{asked}[repeat]\ntrials = 8\n"), &[]);
    let place = run.display().to_string();
    let answer =
        |arguments: &[&str]| text(&command(home.path(), arguments).output().unwrap().stdout);
    let said = answer(&["report", &place]);
    let last: Vec<&str> = said.lines().rev().take(2).collect();
    assert!(
        last[0].starts_with("report: ") && last[1].starts_with("cubic against reno: "),
        "{said}"
    );
    for part in
        ["client’s congestion: cubic against reno", "! no trial has `cpu_per_byte`: left out"]
    {
        assert!(said.contains(part), "`{part}` is missing: {said}");
    }
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    let counts = last[1].strip_prefix("cubic against reno: ").unwrap();
    assert!(page.contains("<section id=\"verdicts\">") && page.contains(counts), "{counts}");
    // The same rows everywhere.
    let json = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let file = json(&fs::read_to_string(run.join("comparisons.json")).unwrap());
    let rows = &file["comparisons"][0]["rows"];
    assert_eq!(rows.as_array().unwrap().len(), 2, "{rows}");
    let by = ["compare", &place, "--by", "congestion", "--threshold", "1%", "--json"];
    let by = [&by[..], &["--metrics", "transfer_time,lost"]].concat();
    assert_eq!(*rows, json(&answer(&by))["rows"]);
    assert_eq!(*rows, json(&answer(&["compare", &place, "--json"]))["rows"]);
    let table = fs::read_to_string(run.join("comparisons.csv")).unwrap();
    let lines: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert!(line.starts_with("client.socket.congestion,reno,cubic,tiny,"), "{line}");
    }
    // Extended to a scenario that asks for nothing, it has none.
    fs::write(home.path().join("tiny.toml"), TINY).unwrap();
    let extend = ["run", "tiny.toml", "--extend", &place, "--trials", "2"];
    assert!(command(home.path(), &extend).status().unwrap().success());
    assert!(!run.join("comparisons.csv").exists() && !run.join("comparisons.json").exists());
    let said = command(home.path(), &["compare", &place]).output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    let said = text(&said.stderr);
    assert!(said.contains("no `[[compare]]`") && said.contains("--by FACTOR"), "{said}");
}

#[test]
fn results_do_not_depend_on_jobs() {
    let home = tempfile::tempdir().unwrap();
    for (name, rest) in [
        ("fixed", "[repeat]\ntrials = 4\n"),
        ("until", "[repeat]\nuntil = { ci = \"5 %\", min = 3, max = 20 }\n"),
    ] {
        let one = run(home.path(), &format!("{name}-1"), rest, &["--jobs", "1"]);
        let three = run(home.path(), &format!("{name}-3"), rest, &["--jobs", "3"]);
        same(&three, &one, name);
        let trials = |run: &Path| fs::read_dir(run.join("trials")).unwrap().count();
        assert_eq!(trials(&one), trials(&three), "{name}: none is run in vain and stays");
    }
    let run = read(&only(&home.path().join("until-1/tiny")));
    let stopping = run.stopping.unwrap();
    assert!((3..=20).contains(&stopping.blocks), "{stopping:?}");
    assert!(run.cases.iter().all(|case| case.trials.len() == stopping.blocks as usize));
    let told: Vec<bool> = stopping.cases.iter().map(|case| case.reached).collect();
    assert!(stopping.blocks == 20 || told == [true, true], "{stopping:?}");
}

#[test]
fn extended_run_equals_run_of_final_scenario() {
    let home = tempfile::tempdir().unwrap();
    let small = "[repeat]\ntrials = 2\n";
    let extended = run(home.path(), "extended", small, &[]);
    let directory = extended.display().to_string();
    let first = fs::metadata(extended.join("trials/reno-1/DONE")).unwrap().modified().unwrap();
    let extend = |options: &[&str]| {
        let mut all = vec!["run", "--extend", &directory];
        all.extend(options);
        let output = command(home.path(), &all).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    // More repetitions.
    let (told, _) = extend(&["--trials", "5", "--dry-run"]);
    assert!(told.contains("existing 4 trials; 6 to run"), "{told}");
    let (_, told) = extend(&["--trials", "5"]);
    assert!(told.starts_with("4 existing trials reused\n"), "{told}");
    let plain = run(home.path(), "plain", small, &["--trials", "5"]);
    same(&extended, &plain, "more repetitions");
    let now = fs::metadata(extended.join("trials/reno-1/DONE")).unwrap().modified().unwrap();
    assert_eq!(now, first, "what was there is used again");
    // Other levels, which are called otherwise because there is a factor more; and a level gone.
    let other = TINY
        .replace("[\"reno\", \"cubic\"]", "[\"vegas\", \"reno\"]")
        .replace("[[expect]]", "\"path.delay\" = [\"5 ms\", \"9 ms\"]\n\n[[expect]]");
    fs::write(home.path().join("tiny.toml"), format!("{other}[repeat]\ntrials = 3\n")).unwrap();
    let (_, told) = extend(&["tiny.toml"]);
    assert!(told.contains("3 existing trials reused\n"), "{told}");
    assert!(
        told.contains("5 trials not reused: each belongs to no case of the new plan\n"),
        "{told}"
    );
    assert!(told.contains("2 trials not reused: each is of another seed"), "{told}");
    let arguments = ["run", "tiny.toml", "--runs", "other"];
    assert!(command(home.path(), &arguments).status().unwrap().success());
    same(&extended, &only(&home.path().join("other/tiny")), "other levels");
    // And back: what was put away is still there.
    fs::write(home.path().join("tiny.toml"), format!("{TINY}{small}")).unwrap();
    let (_, told) = extend(&["tiny.toml", "--trials", "5"]);
    assert!(told.contains("10 existing trials reused\n"), "{told}");
    same(&extended, &plain, "back");
    // An extension that a kill broke off is finished when the run is opened.
    let target = r#"{"plan": PLAN, "source": SOURCE, "files": {}, "environment": []}"#;
    let plan = fs::read_to_string(extended.join("plan.json")).unwrap();
    let source = fs::read_to_string(extended.join("scenario.toml")).unwrap();
    let plan = plan.replace("\"trials\": 5", "\"trials\": 1");
    let target = target.replace("PLAN", &plan);
    let target = target.replace("SOURCE", &serde_json::to_string(&source).unwrap());
    fs::write(extended.join("extension.json"), target).unwrap();
    let resumed = command(home.path(), &["run", "--resume", &directory]).output().unwrap();
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert!(!extended.join("extension.json").exists());
    assert_eq!(read(&extended).cases[0].trials.len(), 1);
}

/// What was let go of is in no table; all else is told as if it were there.
#[test]
fn tables_do_not_depend_on_which_packets_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let of = |keep: &str| run(home.path(), keep, &format!("[recording]\nkeep = \"{keep}\"\n"), &[]);
    let [all, first, none] = ["all", "first", "none"].map(of);
    let has = |run: &Path, trial: &str| run.join("trials").join(trial).join("path.jsonl").exists();
    let told = |run: &Path, keep: &str| -> Vec<(String, String)> {
        let same = |text: &str| {
            text.replace(&format!("keep = \\\"{keep}\\\""), "")
                .replace("\"has_packets\":false", "\"has_packets\":true")
                .replace(",good,,0,false,", ",good,,0,true,")
        };
        tables(run).iter().map(|(name, text)| (name.clone(), same(text))).collect()
    };
    for (run, keep, expected) in
        [(&all, "all", [true; 2]), (&first, "first", [true, false]), (&none, "none", [false; 2])]
    {
        assert_eq!(["reno-1", "reno-2"].map(|trial| has(run, trial)), expected, "{keep}");
        for ((name, ours), (_, theirs)) in told(run, keep).iter().zip(told(&all, "all")) {
            assert!(*ours == theirs, "{keep}: {name}");
        }
    }
    let again = command(home.path(), &["report", &none.display().to_string()]).output().unwrap();
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert!(text(&again.stdout).contains("✓ all arrives"), "{}", text(&again.stdout));
}

#[test]
fn failed_trial_is_reported_and_others_count() {
    let home = tempfile::tempdir().unwrap();
    // Some trials take longer than that.
    let rest = "[repeat]\ntrials = 8\n[limits]\ntrial = \"90 ms\"\n";
    let (code, directory) = run_to(home.path(), "limit", rest, &[]);
    assert_eq!(code, Some(2));
    let run = read(&directory);
    let failed: usize = run.cases.iter().map(|case| case.failures.len()).sum();
    let good: usize = run.cases.iter().map(|case| case.trials.len()).sum();
    assert!(failed > 0 && good > 0 && failed + good == 16, "{failed} {good}");
    assert!(!run.claims[0].held && run.claims[0].found.contains("trials failed"));
    let table = fs::read_to_string(directory.join("trials.csv")).unwrap();
    let failed_late =
        |line: &&str| line.contains(",failed,") && line.contains("not done after 90 ms");
    let lines = table.lines().filter(failed_late);
    assert_eq!(lines.count(), failed, "{table}");
    // To go on with it runs nothing again, and says the same.
    let resumed = ["run", "--resume", &directory.display().to_string()];
    let again = command(home.path(), &resumed).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    let said = text(&again.stdout);
    for part in
        [&format!("{failed} trials of 16 failed"), " of 8 ", "✗ all arrives", "not done after"]
    {
        assert!(said.contains(part), "`{part}` is missing: {said}");
    }
    assert!(
        fs::read_to_string(directory.join("report.html"))
            .unwrap()
            .contains("failed and are not counted")
    );
    // What no trial can do ends the run, and leaves nothing.
    let none = TINY.replace("[\"reno\", \"cubic\"]", "[\"nosuch\"]");
    fs::write(home.path().join("none.toml"), none).unwrap();
    let output = command(home.path(), &["run", "none.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`nosuch` is no congestion control of a model"));
    assert!(!home.path().join("runs").exists(), "{:?}", everything(home.path()));
}

#[test]
fn dry_run_prints_plan_and_runs_nothing() {
    let home = tempfile::tempdir().unwrap();
    let rest = "[repeat]\ntrials = 4\nwarm_up = 2\n[design]\nexclude = [{ \
                \"client.socket.congestion\" = \"reno\", \"path.delay\" = \"9 ms\" }]\n";
    let source = TINY.replace("[[expect]]", "\"path.delay\" = [\"5 ms\", \"9 ms\"]\n\n[[expect]]");
    fs::write(home.path().join("tiny.toml"), format!("{source}{rest}")).unwrap();
    let said = |options: &[&str]| {
        let mut all = vec!["run", "tiny.toml", "--dry-run", "--jobs", "2"];
        all.extend(options);
        let output = command(home.path(), &all).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let plan = said(&[]);
    // How long it takes depends on the machine.
    let fixed = plan.lines().filter(|line| !line.starts_with("time ")).collect::<Vec<_>>();
    let fixed = fixed.join("\n").replace("about a second", "…");
    insta::assert_snapshot!(fixed);
    let json: Value = serde_json::from_str(&said(&["--json"])).unwrap();
    assert_eq!((&json["missing"], &json["blocks"]), (&12.into(), &4.into()));
    assert_eq!(json["order"].as_array().unwrap().len(), 3);
    assert!(json["seconds"][1].as_f64().unwrap() > 0.0);
    assert_eq!(everything(home.path()).len(), 1, "nothing was made");
}

/// Every file below a directory with its content, by its path in it.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let all = everything(directory).into_iter().map(PathBuf::from).filter(|path| path.is_file());
    let mut all: Vec<(PathBuf, Vec<u8>)> = all
        .map(|path| (path.strip_prefix(directory).unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

/// The command that the report of a run gives for a trial, run where the report says.
#[test]
fn single_trial_equals_that_of_whole_run() {
    let home = tempfile::tempdir().unwrap();
    // The path refers to a file, which is gone when the trial is run again.
    fs::write(home.path().join("rate.trace"), "1\n2\n4\n5\n9\n").unwrap();
    let source = TINY.replace("rate  = \"10 Mbit/s\"", "rate  = { trace = \"rate.trace\" }");
    fs::write(home.path().join("tiny.toml"), format!("{source}[repeat]\ntrials = 3\n")).unwrap();
    let begun = ["run", "tiny.toml", "--runs", "whole", "--seed", "7"];
    assert!(command(home.path(), &begun).status().unwrap().success());
    fs::remove_file(home.path().join("rate.trace")).unwrap();
    let whole = only(&home.path().join("whole/tiny"));
    let given = "tcplab run scenario.toml --world sim --case cubic --trial 3 --seed 7";
    let report = fs::read_to_string(whole.join("report.html")).unwrap();
    assert_eq!(report.matches(given).count(), 1, "the report gives the command");
    let arguments: Vec<&str> = given.split(' ').skip(1).collect();
    let output = command(&whole, &arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("✓ all arrives") && !said.contains("reno"), "{said}");
    let alone = only(&whole.join("runs/scenario"));
    let trials = everything(&alone.join("trials"));
    assert!(trials.iter().all(|path| path.contains("trials/cubic-3")), "{trials:?}");
    let [ours, theirs] = [&alone, &whole].map(|run| contents(&run.join("trials/cubic-3")));
    assert!(ours.len() > 5, "{trials:?}");
    for ((name, ours), (other, theirs)) in ours.iter().zip(&theirs) {
        assert!((name, ours) == (other, theirs), "{}", name.display());
    }
    assert_eq!(ours.len(), theirs.len());
    let report = fs::read_to_string(alone.join("report.html")).unwrap();
    assert_eq!(report.matches(given).count(), 2, "of the trial, and of all that this run is");
    // The tables have its rows.
    let rows = |run: &Path| -> Vec<String> {
        let table = fs::read_to_string(run.join("metrics.csv")).unwrap();
        table.lines().filter(|line| line.starts_with("cubic,3,")).map(Into::into).collect()
    };
    assert_eq!(rows(&alone), rows(&whole));
    assert_eq!(
        fs::read_to_string(alone.join("metrics.csv")).unwrap().lines().count(),
        1 + rows(&whole).len()
    );
    // It is resumed and reported as any other.
    let again = ["run", "--resume", &alone.display().to_string()];
    assert!(command(home.path(), &again).status().unwrap().success());
    assert_eq!(rows(&alone), rows(&whole));
}

/// Of trials whose packets were not kept: by itself it has them.
#[test]
fn single_trial_keeps_its_packets() {
    let home = tempfile::tempdir().unwrap();
    let rest = "[repeat]\ntrials = 2\n[recording]\nkeep = \"none\"\n";
    let whole = run(home.path(), "whole", rest, &[]);
    let alone = run(home.path(), "alone", rest, &["--case", "reno", "--trial", "2"]);
    let has = |run: &Path| run.join("trials/reno-2/client.pcapng").exists();
    assert_eq!([has(&whole), has(&alone)], [false, true]);
    let rows = |run: &Path| -> Vec<String> {
        let table = fs::read_to_string(run.join("metrics.csv")).unwrap();
        table.lines().filter(|line| line.starts_with("reno,2,")).map(Into::into).collect()
    };
    assert_eq!(rows(&alone), rows(&whole));
    // All cases of that number, where none is named; none of another name.
    let both = run(home.path(), "both", rest, &["--trial", "2"]);
    assert_eq!(fs::read_dir(both.join("trials")).unwrap().count(), 2);
    let wrong = ["run", "tiny.toml", "--case", "vegas"];
    let output = command(home.path(), &wrong).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("no case `vegas`") && said.contains("one of: reno, cubic"), "{said}");
    let planned = ["run", "tiny.toml", "--case", "reno", "--trial", "2", "--dry-run"];
    let said = text(&command(home.path(), &planned).output().unwrap().stdout);
    assert!(said.contains("0 trials; 1 to run") && said.contains("block 2, seed"), "{said}");
}
