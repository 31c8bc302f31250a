//! Runs in virtual time that are interrupted, resumed, extended, or have failed trials: results
//! equal those of an undisturbed run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tcplab_results::Run;
use tcplab_units::Rng;

use crate::errors::SMALL;
use crate::home::{Ended, Home, everything, names};

/// Two cases of a few milliseconds each, with losses.
const TINY: &str = r#"title    = "Tiny"
path     = { rate = "10 Mbit/s", delay = "5 ms", loss = "2 %" }
client   = { stack = "model:linux-6.18" }
server   = { stack = "model:linux-6.18" }
workload = { upload = "60 kB" }

[matrix]
"client.socket.congestion" = ["reno", "cubic"]

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true
"#;

/// Compares them.
const COMPARE: &str = "[[compare]]\nfactor = \"client.socket.congestion\"\nthreshold = \"1 %\"\n";

/// Runs [`TINY`] and `rest` below `name`.
fn begin(home: &Home, name: &str, rest: &str, options: &str) -> (Ended, Finished) {
    home.write("tiny.toml", format!("{TINY}{rest}"));
    let ended = home.run(&format!("run tiny.toml --runs {name} {options}"));
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    (ended, Finished(home.only(format!("{name}/tiny"))))
}

/// The same where everything succeeds.
fn run(home: &Home, name: &str, rest: &str, options: &str) -> Finished {
    let (ended, run) = begin(home, name, rest, options);
    ended.answer(&format!("{name} {options}"));
    run
}

/// The directory of a run.
struct Finished(PathBuf);

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.display().fmt(f)
    }
}

impl Finished {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn result(&self) -> Run {
        serde_json::from_str(&self.text("run.json")).unwrap()
    }

    fn trials(&self) -> Vec<String> {
        names(&self.path("trials"))
    }

    /// The rows of `metrics.csv` that begin like this.
    fn metrics(&self, begin: &str) -> Vec<String> {
        let table = self.text("metrics.csv");
        table.lines().filter(|line| line.starts_with(begin)).map(Into::into).collect()
    }

    /// All tables by name, without the time of the start and the machine's load.
    fn tables(&self) -> Vec<(String, String)> {
        let is_table = |name: &String| {
            Path::new(name).extension().is_some_and(|it| it == "csv")
                || ["run.json", "comparisons.json"].contains(&name.as_str())
        };
        let read = |name: String| {
            let text = self.text(&name);
            let mut lines: Vec<&str> = text.lines().collect();
            lines.retain(|line| !line.trim_start().starts_with("\"started\": "));
            let load = lines.iter().position(|line| line.ends_with("\"load at the start\","));
            if let Some(at) = load {
                lines.remove(at + 1);
            }
            (name, lines.join("\n"))
        };
        names(&self.0).into_iter().filter(is_table).map(read).collect()
    }

    /// Files below its directory that are not finished.
    fn partial(&self) -> Vec<PathBuf> {
        let mut left = everything(&self.0);
        left.retain(|path| path.to_string_lossy().contains(".partial-"));
        left
    }

    fn equals(&self, other: &Finished, what: &str) {
        let (ours, theirs) = (self.tables(), other.tables());
        assert_eq!(ours.len(), theirs.len(), "{what}");
        assert!([8, 10].contains(&ours.len()), "{what}: seven tables, run.json, and comparisons");
        for ((name, ours), (other, theirs)) in ours.iter().zip(&theirs) {
            assert_eq!(name, other, "{what}");
            let differs = |(ours, theirs): &(&str, &str)| ours != theirs;
            let line = ours.lines().zip(theirs.lines()).find(differs);
            assert!(ours == theirs, "{what}: {name} differs: {line:.300?}");
        }
        assert!(self.partial().is_empty(), "{what}: {:?}", self.partial());
    }
}

/// Kills runs fifty times, at moments from their beginning to their end, and resumes them.
#[test]
fn killed_run_resumes_to_equal_results() {
    let home = Home::new();
    let mut random = Rng::new(1, "kill");
    let until = "[repeat]\nuntil = { ci = \"8 %\", min = 3, max = 5 }\n";
    for (name, rest) in [("fixed", "[repeat]\ntrials = 3\n"), ("until", until)] {
        let plain = run(&home, &format!("{name}-plain"), &format!("{rest}{COMPARE}"), "");
        assert!(plain.path("comparisons.csv").exists());
        let mut kills = 0;
        for nth in 1.. {
            let place = format!("{name}-{nth}");
            // Later and later, so that it ends however slow the machine is.
            let mut latest = 30;
            while !ends_within(&home, &place, random.below(latest)) {
                (kills, latest) = (kills + 1, latest + 30);
            }
            Finished(home.only(format!("{place}/tiny"))).equals(&plain, name);
            if kills >= 25 {
                break;
            }
        }
    }
}

/// Begins or resumes the run below `runs`, and kills it after so many milliseconds; whether it had
/// ended by then.
fn ends_within(home: &Home, runs: &str, after: u64) -> bool {
    let begun = names(&home.path(runs).join("tiny")).into_iter();
    let begun = begun.map(|name| format!("{runs}/tiny/{name}"));
    let mut begun = begun.filter(|run| home.exists(&format!("{run}/plan.json")));
    let line = if let Some(run) = begun.next() {
        format!("run --resume {run}")
    } else {
        // Without a plan it cannot be resumed.
        let _ = fs::remove_dir_all(home.path(runs));
        format!("run tiny.toml --runs {runs}")
    };
    let mut command = home.command(&line);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(after));
    if let Some(status) = child.try_wait().unwrap() {
        assert!(status.success(), "{line}: {status}");
        return true;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
fn partial_tables_and_report_are_rewritten() {
    let home = Home::new();
    let plain = run(&home, "plain", "", "");
    let struck = run(&home, "struck", "", "");
    fs::remove_file(struck.path("run.json")).unwrap();
    fs::remove_file(struck.path("ends.csv")).unwrap();
    fs::write(struck.path(".partial-report.html"), "<html>half").unwrap();
    fs::write(struck.path(".partial-run.json"), "{").unwrap();
    fs::create_dir(struck.path("trials/.partial-reno-3")).unwrap();
    home.answer(&format!("run --resume {struck}"));
    struck.equals(&plain, "tables");
    assert!(struck.text("report.html").contains("</html>"));
}

/// Tables and report of a run, by their place in it.
fn outcome(run: &Finished) -> Vec<(PathBuf, Vec<u8>)> {
    let is_it = |path: &Path| {
        let first = path.iter().next().unwrap_or_default();
        let is_partial = first.to_string_lossy().starts_with(".partial-");
        let is_table = path.extension().is_some_and(|it| it == "csv") && !is_partial;
        is_table && path.iter().count() == 1
            || ["run.json", "comparisons.json", "report.html", "report"]
                .iter()
                .any(|it| first == *it)
    };
    contents(&run.0).into_iter().filter(|(path, _)| is_it(path)).collect()
}

/// Resumes a run, and kills that as soon as its directory has changed so often, and a moment
/// later; whether it was killed.
fn is_killed_while_writing(home: &Home, run: &Finished, changes: usize, moment: u64) -> bool {
    let mut command = home.command(&format!("run --resume {run}"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut last, mut left) = (names(&run.0), changes);
    while left > 0 {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return false;
        }
        let now = names(&run.0);
        if now != last {
            (last, left) = (now, left - 1);
        }
    }
    (0..moment).for_each(|_| std::hint::spin_loop());
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

/// Kills the program at one file after the other: files under their final names are whole, and
/// resuming leaves what an undisturbed run does, byte by byte.
#[test]
fn interrupted_write_is_never_taken_as_complete() {
    let home = Home::new();
    let mut random = Rng::new(1, "kill while writing");
    let folder = "[repeat]\ntrials = 101\n[recording]\nkeep = \"none\"\n";
    // A folder's tables are as those of a file: only making and moving it is of interest.
    let (file, folder) = (("file", "[repeat]\ntrials = 1\n", 40), ("folder", folder, 3));
    for (name, rest, most) in [file, folder] {
        let run = run(&home, name, &format!("{rest}{COMPARE}"), "");
        let whole = outcome(&run);
        // On a busy machine a run may have ended before its changes are seen.
        let (mut kills, mut missed) = (0, 0);
        for changes in (1..most).step_by(if most > 9 { 3 } else { 1 }) {
            for (path, _) in &whole {
                let _ = fs::remove_file(run.0.join(path));
            }
            let _ = fs::remove_dir_all(run.path("report"));
            let killed = is_killed_while_writing(&home, &run, changes, random.below(30_000));
            files_are_whole(&run, &whole);
            (kills, missed) = if killed { (kills + 1, 0) } else { (kills, missed + 1) };
            if missed == 3 {
                break;
            }
        }
        assert!(kills >= 2, "{name}: {kills}");
        home.answer(&format!("run --resume {run}"));
        assert!(outcome(&run) == whole, "{name}");
        let left = names(&run.0).into_iter().find(|name| name.contains(".partial"));
        assert_eq!(left, None, "{name}");
    }
}

/// Files under their final names equal those of the whole; a folder is all there or not at all.
fn files_are_whole(run: &Finished, whole: &[(PathBuf, Vec<u8>)]) {
    let left = outcome(run);
    let half = left.iter().find(|it| !whole.contains(it)).map(|(path, _)| path);
    assert_eq!(half, None, "{run}");
    let pages = |all: &[(PathBuf, Vec<u8>)]| {
        all.iter().filter(|(path, _)| path.starts_with("report")).count()
    };
    assert!([0, pages(whole)].contains(&pages(&left)), "half a folder");
    let is_finished = left.iter().any(|(path, _)| path == Path::new("run.json"));
    assert!(!is_finished || left.len() == whole.len(), "run.json comes last");
}

/// The comparison of the scenario, equal to that of `tcplab compare`.
#[test]
fn compare_section_appears_in_all_outputs() {
    let home = Home::new();
    let section = format!("{COMPARE}metrics = [\"transfer_time\", \"lost\", \"cpu_per_byte\"]\n");
    let run = run(&home, "asked", &format!("{section}[repeat]\ntrials = 8\n"), "");
    let said = home.answer(&format!("report {run}"));
    let last: Vec<&str> = said.lines().rev().take(2).collect();
    assert!(last[0].starts_with("report: "), "{said}");
    let counts = last[1].strip_prefix("cubic against reno: ").unwrap();
    for part in
        ["client’s congestion: cubic against reno", "! no trial has `cpu_per_byte`: left out"]
    {
        assert!(said.contains(part), "`{part}` is missing: {said}");
    }
    let page = run.text("report.html");
    assert!(page.contains("<section id=\"verdicts\">") && page.contains(counts), "{counts}");
    // The same rows everywhere.
    let file: Value = serde_json::from_str(&run.text("comparisons.json")).unwrap();
    let rows = &file["comparisons"][0]["rows"];
    assert_eq!(rows.as_array().unwrap().len(), 2, "{rows}");
    let by = "--by congestion --threshold 1% --json --metrics transfer_time,lost";
    for options in [by, "--json"] {
        let ended = home.run(&format!("compare {run} {options}"));
        let found: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(*rows, found["rows"], "{options}");
    }
    let table = run.text("comparisons.csv");
    let lines: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert!(line.starts_with("client.socket.congestion,reno,cubic,tiny,"), "{line}");
    }
    // Extended to a scenario without one, it has none.
    home.write("tiny.toml", TINY);
    home.answer(&format!("run tiny.toml --extend {run} --trials 8"));
    assert!(!run.path("comparisons.csv").exists() && !run.path("comparisons.json").exists());
    let line = format!("compare {run}");
    home.refuses(&[(&line, "no `[[compare]]`"), (&line, "--by congestion")]);
}

#[test]
fn results_do_not_depend_on_jobs() {
    let home = Home::new();
    for (name, rest) in [
        ("fixed", "[repeat]\ntrials = 4\n"),
        ("until", "[repeat]\nuntil = { ci = \"5 %\", min = 3, max = 20 }\n"),
    ] {
        let one = run(&home, &format!("{name}-1"), rest, "--jobs 1");
        let three = run(&home, &format!("{name}-3"), rest, "--jobs 3");
        three.equals(&one, name);
        assert_eq!(one.trials().len(), three.trials().len(), "{name}: no trial is superfluous");
    }
    let run = Finished(home.only("until-1/tiny")).result();
    let stopping = run.stopping.unwrap();
    assert!((3..=20).contains(&stopping.blocks), "{stopping:?}");
    assert!(run.cases.iter().all(|case| case.trials.len() == stopping.blocks as usize));
    let reached: Vec<bool> = stopping.cases.iter().map(|case| case.reached).collect();
    assert!(stopping.blocks == 20 || reached == [true, true], "{stopping:?}");
}

#[test]
fn extended_run_equals_run_of_final_scenario() {
    let home = Home::new();
    let small = "[repeat]\ntrials = 2\n";
    let extended = run(&home, "extended", small, "");
    let done = || fs::metadata(extended.path("trials/reno-1/DONE")).unwrap().modified().unwrap();
    let first = done();
    let extend = |scenario: &str, options: &str| {
        let ended = home.run(&format!("run {scenario} --extend {extended} {options}"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended
    };
    // More repetitions.
    let plan = extend("", "--trials 5 --dry-run").stdout;
    assert!(plan.contains("existing 4 trials; 6 to run"), "{plan}");
    let Ended { stderr, .. } = extend("", "--trials 5");
    assert!(stderr.starts_with("4 existing trials reused\n"), "{stderr}");
    let plain = run(&home, "plain", small, "--trials 5");
    extended.equals(&plain, "more repetitions");
    assert_eq!(done(), first, "existing trials are reused");
    // Fewer than there are: it is not made smaller.
    for dry in ["", " --dry-run"] {
        let fewer = home.run(&format!("run --extend {extended} --trials 4{dry}"));
        let why = "the run has 5 trials of each case, and --trials is the number in all: pass \
                   --trials 5 or more";
        assert!(fewer.code == Some(2) && fewer.stderr.contains(why), "{}", fewer.stderr);
        assert_eq!(extended.trials().len(), 10);
    }
    // A factor more, which renames cases; other levels, and a level gone.
    let other = TINY
        .replace("[\"reno\", \"cubic\"]", "[\"vegas\", \"reno\"]")
        .replace("[[expect]]", "\"path.delay\" = [\"5 ms\", \"9 ms\"]\n\n[[expect]]");
    home.write("tiny.toml", format!("{other}[repeat]\ntrials = 3\n"));
    let Ended { stderr, .. } = extend("tiny.toml", "");
    for line in [
        "3 existing trials reused\n",
        "5 trials not reused: each belongs to no case of the new plan\n",
        "2 trials not reused: each is of another seed",
    ] {
        assert!(stderr.contains(line), "`{line}` is missing: {stderr}");
    }
    home.answer("run tiny.toml --runs other");
    extended.equals(&Finished(home.only("other/tiny")), "other levels");
    // And back: the unused trials are still there.
    home.write("tiny.toml", format!("{TINY}{small}"));
    let Ended { stderr, .. } = extend("tiny.toml", "--trials 5");
    assert!(stderr.contains("10 existing trials reused\n"), "{stderr}");
    extended.equals(&plain, "back");
    // An extension interrupted by a kill is finished when the run is opened.
    let plan = extended.text("plan.json").replace("\"trials\": 5", "\"trials\": 1");
    let source = serde_json::to_string(&extended.text("scenario.toml")).unwrap();
    let target =
        format!(r#"{{"plan": {plan}, "source": {source}, "files": {{}}, "environment": []}}"#);
    fs::write(extended.path("extension.json"), target).unwrap();
    home.answer(&format!("run --resume {extended}"));
    assert!(!extended.path("extension.json").exists());
    assert_eq!(extended.result().cases[0].trials.len(), 1);
}

#[test]
fn tables_do_not_depend_on_which_packets_are_kept() {
    let home = Home::new();
    let of = |keep: &str| run(&home, keep, &format!("[recording]\nkeep = \"{keep}\"\n"), "");
    let [all, first, none] = ["all", "first", "none"].map(of);
    // Only the setting and the column on packets differ.
    let tables = |run: &Finished, keep: &str| -> Vec<(String, String)> {
        let same = |text: &str| {
            text.replace(&format!("keep = \\\"{keep}\\\""), "")
                .replace("\"has_packets\":false", "\"has_packets\":true")
                .replace(",good,,0,false,", ",good,,0,true,")
        };
        run.tables().iter().map(|(name, text)| (name.clone(), same(text))).collect()
    };
    for (run, keep, expected) in
        [(&all, "all", [true; 2]), (&first, "first", [true, false]), (&none, "none", [false; 2])]
    {
        let has = |trial: &str| run.path("trials").join(trial).join("path.jsonl").exists();
        assert_eq!(["reno-1", "reno-2"].map(has), expected, "{keep}");
        for ((name, ours), (_, theirs)) in tables(run, keep).iter().zip(tables(&all, "all")) {
            assert!(*ours == theirs, "{keep}: {name}");
        }
    }
    let again = home.answer(&format!("report {none}"));
    assert!(again.contains("✓ all arrives"), "{again}");
}

#[test]
fn failed_trial_is_reported_and_others_count() {
    let home = Home::new();
    // Some trials take longer than that.
    let rest = "[repeat]\ntrials = 8\n[limits]\ntrial = \"90 ms\"\n";
    let (ended, directory) = begin(&home, "limit", rest, "");
    assert_eq!(ended.code, Some(2));
    let run = directory.result();
    let failed: usize = run.cases.iter().map(|case| case.failures.len()).sum();
    let good: usize = run.cases.iter().map(|case| case.trials.len()).sum();
    assert!(failed > 0 && good > 0 && failed + good == 16, "{failed} {good}");
    assert!(!run.claims[0].held && run.claims[0].found.contains("trials failed"));
    let table = directory.text("trials.csv");
    let failed_late =
        |line: &&str| line.contains(",failed,") && line.contains("not done after 90 ms");
    assert_eq!(table.lines().filter(failed_late).count(), failed, "{table}");
    // Resumed, it runs nothing and reports the same.
    let again = home.run(&format!("run --resume {directory}"));
    assert_eq!(again.code, Some(2));
    for part in
        [&format!("{failed} trials of 16 failed"), " of 8 ", "✗ all arrives", "not done after"]
    {
        assert!(again.stdout.contains(part), "`{part}` is missing: {}", again.stdout);
    }
    assert!(directory.text("report.html").contains("failed and are not counted"));
    // What no trial can do ends the run, and leaves nothing.
    home.write("none.toml", TINY.replace("[\"reno\", \"cubic\"]", "[\"nosuch\"]"));
    let none = home.run("run none.toml");
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("`nosuch` is no congestion control of a model"));
    assert!(!home.exists("runs"), "{:?}", everything(&home.path("")));
}

#[test]
fn dry_run_prints_plan_and_runs_nothing() {
    let rest = "[repeat]\ntrials = 4\nwarm_up = 2\n[design]\nexclude = [{ \
                \"client.socket.congestion\" = \"reno\", \"path.delay\" = \"9 ms\" }]\n";
    let source = TINY.replace("[[expect]]", "\"path.delay\" = [\"5 ms\", \"9 ms\"]\n\n[[expect]]");
    let home = Home::with("tiny.toml", format!("{source}{rest}"));
    let plan = home.answer("run tiny.toml --dry-run --jobs 2");
    // How long it takes depends on the machine.
    let fixed = plan.lines().filter(|line| !line.starts_with("time ")).collect::<Vec<_>>();
    let fixed = fixed.join("\n").replace("about a second", "…");
    insta::assert_snapshot!(fixed);
    let json = home.json("run tiny.toml --dry-run --jobs 2 --json");
    assert_eq!((&json["missing"], &json["blocks"]), (&12.into(), &4.into()));
    assert_eq!(json["order"].as_array().unwrap().len(), 3);
    assert!(json["seconds"][1].as_f64().unwrap() > 0.0);
    assert_eq!(names(&home.path("")), ["tiny.toml"], "nothing was made");
}

/// Every file below a directory with its content, by its place in it.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = everything(directory).into_iter().filter(|path| directory.join(path).is_file());
    files.map(|path| (path.clone(), fs::read(directory.join(path)).unwrap())).collect()
}

/// By the command that the run's report gives, in the run's directory.
#[test]
fn single_trial_equals_that_of_whole_run() {
    let source = TINY.replace("rate = \"10 Mbit/s\"", "rate = { trace = \"rate.trace\" }");
    let home = Home::with("tiny.toml", format!("{source}[repeat]\ntrials = 3\n"));
    // The path refers to a file, which is gone when the trial is run again.
    home.write("rate.trace", "1\n2\n4\n5\n9\n");
    home.answer("run tiny.toml --runs whole --seed 7");
    fs::remove_file(home.path("rate.trace")).unwrap();
    let whole = Finished(home.only("whole/tiny"));
    let given = "tcplab run scenario.toml --world sim --case cubic --trial 3 --seed 7";
    assert_eq!(whole.text("report.html").matches(given).count(), 1, "the report has the command");
    let mut command = home.command(given.strip_prefix("tcplab ").unwrap());
    let said = Ended::from(command.current_dir(&whole.0).output().unwrap()).answer(given);
    assert!(said.contains("– all arrives: met so far") && !said.contains("reno"), "{said}");
    let alone = Finished(home.only(format!("{whole}/runs/tiny")));
    assert_eq!(alone.trials(), ["cubic-3"]);
    let [ours, theirs] = [&alone, &whole].map(|run| contents(&run.path("trials/cubic-3")));
    assert!(ours.len() > 5, "{ours:?}");
    for ((name, ours), (other, theirs)) in ours.iter().zip(&theirs) {
        assert!((name, ours) == (other, theirs), "{}", name.display());
    }
    assert_eq!(ours.len(), theirs.len());
    let given = alone.text("report.html").matches(given).count();
    assert_eq!(given, 2, "of the trial, and of all that this run is");
    // The tables have its rows.
    let rows = whole.metrics("cubic,3,");
    assert_eq!(alone.metrics("cubic,3,"), rows);
    assert_eq!(alone.metrics("").len(), 1 + rows.len());
    // It is resumed as any other.
    home.answer(&format!("run --resume {alone}"));
    assert_eq!(alone.metrics("cubic,3,"), rows);
}

/// Whatever was built meanwhile.
#[test]
fn run_on_the_model_is_repeated_on_the_model() {
    let home = Home::with("it.toml", TINY.replace("model:linux-6.18", "linux"));
    home.answer("run it.toml --kernel model --trials 1 --seed 7 --runs whole");
    let whole = Finished(home.only("whole/it"));
    let report = whole.text("report.html");
    let alone =
        "tcplab run scenario.toml --world sim --kernel model --case reno --trial 1 --seed 7";
    let all = "tcplab run scenario.toml --world sim --kernel model --trials 1 --seed 7";
    for (given, trials) in [(alone, vec!["reno-1"]), (all, vec!["cubic-1", "reno-1"])] {
        assert_eq!(report.matches(given).count(), 1, "the report has the command: {given}");
        let given = given.strip_prefix("tcplab ").unwrap();
        let mut command = home.command(&format!("{given} --runs {}", trials.len()));
        Ended::from(command.current_dir(&whole.0).output().unwrap()).answer(given);
        let again = Finished(home.only(format!("{whole}/{}/it", trials.len())));
        assert_eq!(again.trials(), trials);
        let [ours, theirs] = [&again, &whole].map(|run| contents(&run.path("trials/reno-1")));
        assert!(ours.len() > 5 && ours == theirs, "{given}");
    }
}

/// The model is asked for as a kernel is by its name.
#[test]
fn model_as_kernel_implies_virtual_time_where_it_stands_for_linux() {
    let home = Home::with("it.toml", TINY.replace("model:linux-6.18", "linux"));
    let plan = home.answer("run it.toml --kernel model --dry-run");
    assert!(plan.contains("\nworld    sim, "), "{plan}");
    let said = home.run("run it.toml --kernel model --world kernel --dry-run");
    let note = "! the model is not used: no end has the stack `linux`";
    assert!(said.code != Some(0) || said.stderr.contains(note), "{}", said.stderr);
}

/// Also where the run as a whole keeps none.
#[test]
fn single_trial_keeps_its_packets() {
    let home = Home::new();
    let rest = "[repeat]\ntrials = 2\n[recording]\nkeep = \"none\"\n";
    let whole = run(&home, "whole", rest, "");
    let alone = run(&home, "alone", rest, "--case reno --trial 2");
    let has = |run: &Finished| run.path("trials/reno-2/client.pcapng").exists();
    assert_eq!([has(&whole), has(&alone)], [false, true]);
    assert_eq!(alone.metrics("reno,2,"), whole.metrics("reno,2,"));
    // All cases of that number, where none is named; none of another name.
    let both = run(&home, "both", rest, "--trial 2");
    assert_eq!(both.trials().len(), 2);
    let wrong = home.run("run tiny.toml --case vegas");
    assert_eq!(wrong.code, Some(2));
    for part in ["no case `vegas`", "one of: reno, cubic"] {
        assert!(wrong.stderr.contains(part), "{}", wrong.stderr);
    }
    let plan = home.run("run tiny.toml --case reno --trial 2 --dry-run").stdout;
    assert!(plan.contains("0 trials; 1 to run") && plan.contains("block 2, seed"), "{plan}");
}

/// For test runners: a test for each claim.
#[test]
fn claims_of_run_are_junit_tests() {
    let scenario = SMALL.to_owned()
        + r#"
[repeat]
trials = 2

[[expect]]
claim    = "slow & <steady>"
trials   = 1
metric   = "transfer_time"
at_least = "1 ns"

[[expect]]
claim   = "at once"
metric  = "transfer_time"
at_most = "1 ns"

[[expect]]
claim    = "sometimes"
metric   = "episode.type"
includes = ["with time lag"]
"#;
    let home = Home::with("small.toml", scenario);
    let ended = home.run("run small.toml --world sim --trials 1 --quiet --junit claims.xml");
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    insta::assert_snapshot!(home.text("claims.xml"));
    // The report of the run gives the same, printed.
    assert_eq!(home.run("report small --junit -").stdout, home.text("claims.xml"));
    home.make_directory("folder");
    home.write("folder/a.toml", SMALL);
    home.refuses(&[
        ("run small.toml --dry-run --junit claims.xml", "cannot be used with"),
        ("run folder --junit claims.xml", "--junit is of one experiment"),
    ]);
}
