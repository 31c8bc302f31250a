//! However a run ends, it leaves no process or namespace, no trial that looks complete and is not,
//! and it can be resumed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tcplab_recording::{Recording, capture_file};
use tcplab_results::Run;
use tcplab_units::{Endpoint, Rng};

use crate::frames::Tap;
use crate::home::{Ended, Home, names};
use crate::processes::{Family, Machine, await_that};
use crate::program::namespaces_allowed;

/// Two cases, one trial each, a few hundred milliseconds apiece.
pub(crate) const SCENARIO: &str = r#"
title    = "Short trials"
path     = { rate = "20 Mbit/s", delay = "5 ms" }
workload = { upload = "250 kB" }
repeat   = { trials = 1 }

[matrix]
"client.socket.congestion" = ["reno", "cubic"]
"#;
const TRIALS: usize = 2;

/// When to send the signal: a random time after an event.
#[derive(Debug, Clone, Copy)]
struct Moment {
    after: Event,
    /// The longest wait, milliseconds.
    within: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Start,
    /// The trial's directory exists; namespaces and devices come next.
    TrialBegun,
    /// The trial's captures exist; the transfer comes next.
    TransferBegun,
    /// A trial is complete; the next is set up.
    TrialKept,
}

const MOMENTS: [Moment; 5] = [
    Moment { after: Event::Start, within: 1_200 },
    Moment { after: Event::TrialBegun, within: 20 },
    Moment { after: Event::TransferBegun, within: 150 },
    Moment { after: Event::TrialKept, within: 5 },
    Moment { after: Event::Start, within: 60 },
];

/// A run under way, in a directory of its own.
struct Underway<'h> {
    home: &'h Home,
    child: Child,
    family: Family,
    before: Machine,
    name: String,
}

impl<'h> Underway<'h> {
    fn start(home: &'h Home, mut command: Command, name: String) -> Underway<'h> {
        home.write("short.toml", SCENARIO);
        let family = Family::of(&mut command, &name);
        let before = Machine::now();
        let line = ["run", "short.toml", "--no-calibration", "--snaplen", "whole"];
        command.args(line).process_group(0);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Underway { home, child, family, before, name }
    }

    fn run_directory(&self) -> Option<PathBuf> {
        newest(&self.home.path("runs/short"), |_| true)
    }

    /// Waits until it happens, or the program has ended.
    fn await_event(&mut self, event: Event) {
        let runs = self.home.path("runs/short");
        let happened = || {
            let trials = newest(&runs, |_| true).unwrap_or_default().join("trials");
            let staged = || newest(&trials, |name| name.starts_with(".partial-"));
            match event {
                Event::Start => true,
                Event::TrialBegun => staged().is_some(),
                Event::TransferBegun => staged().is_some_and(|s| s.join("client.pcapng").exists()),
                Event::TrialKept => newest(&trials, |name| !name.starts_with('.')).is_some(),
            }
        };
        let over = await_that(|| happened() || self.child.try_wait().unwrap().is_some());
        assert!(over, "{}: {event:?} never came", self.name);
    }
}

/// The last entry by name that fits.
fn newest(directory: &Path, fits: impl Fn(&str) -> bool) -> Option<PathBuf> {
    names(directory).into_iter().rfind(|name| fits(name)).map(|name| directory.join(name))
}

/// Sends the signal at each moment, looks for leftovers and resumes the run.
fn survives(signal: Signal, whole_group: bool) {
    if !namespaces_allowed() {
        return;
    }
    let mut random = Rng::new(1, &format!("{signal:?}"));
    let mut namespaces = 0;
    for (index, moment) in MOMENTS.into_iter().enumerate() {
        let home = Home::new();
        let wait = Duration::from_millis(random.below(moment.within));
        let name = format!("{signal:?} {wait:?} after {:?} ({index})", moment.after);
        let program = home.command("");
        namespaces += struck(&home, program, name, moment.after, wait, |child| {
            let pid = Pid::from_child(child);
            // It may have ended just before.
            let _ = if whole_group {
                kill_process_group(pid, signal)
            } else {
                kill_process(pid, signal)
            };
        });
        is_resumed(&home);
    }
    assert!(namespaces > 0, "no strike hit a run with namespaces");
}

/// With namespaces, of which nothing may be left.
pub(crate) fn killed_in_transfer(home: &Home, program: Command) {
    let (name, wait) = ("killed in the transfer".to_owned(), Duration::from_millis(20));
    let own = struck(home, program, name, Event::TransferBegun, wait, |child| {
        kill_process(Pid::from_child(child), Signal::KILL).unwrap();
    });
    // The trial process has one, and each endpoint.
    assert_eq!(own, 3, "namespaces seen before");
}

/// Sends the signal and looks for leftovers. Returns how many namespaces the run had.
fn struck(
    home: &Home,
    program: Command,
    name: String,
    event: Event,
    wait: Duration,
    strike: impl Fn(&Child),
) -> usize {
    let mut run = Underway::start(home, program, name);
    run.await_event(event);
    std::thread::sleep(wait);
    let had = run.family.namespaces();
    strike(&run.child);
    let Underway { child, family, before, name, .. } = run;
    let Ended { code, stdout, stderr } = child.wait_with_output().unwrap().into();
    family.is_gone(&name, &before, &had);
    match code {
        // By the signal itself, or finished just before.
        None | Some(0) => {}
        Some(129 | 130 | 143) => {
            let is_finished = stdout.contains("\nreport: ");
            assert!(is_finished || stderr.contains("tcplab run --resume"), "{name}: {stderr}");
        }
        Some(code) => panic!("{name}: exit code {code}: {stderr}"),
    }
    if let Some(run) = newest(&home.path("runs/short"), |_| true) {
        finished_files_are_whole(&name, &run);
    }
    had.difference(&before.namespaces).count()
}

/// No incomplete file or trial has a final name.
fn finished_files_are_whole(name: &str, run: &Path) {
    let text = |file: &str| fs::read_to_string(run.join(file)).ok();
    for file in ["plan.json", "environment.json", "run.json"] {
        if let Some(text) = text(file) {
            let parsed = serde_json::from_str::<serde_json::Value>(&text);
            assert!(parsed.is_ok(), "{name}: {file}: {parsed:?}");
        }
    }
    if let Some(page) = text("report.html") {
        assert!(page.trim_end().ends_with("</html>"), "{name}: report.html is cut off");
    }
    for table in ["metrics.csv", "episodes.csv"].into_iter().filter_map(text) {
        assert!(table.ends_with('\n'), "{name}: a table is cut off");
    }
    assert!(text("plan.json").is_none() || text("scenario.toml").is_some_and(|t| t == SCENARIO));
    for trial in whole_trials(run) {
        let recording = Recording::open(&trial).unwrap_or_else(|error| panic!("{name}: {error}"));
        recording.app().and(recording.record()).unwrap();
        assert!(!recording.truth().unwrap().is_empty() && !recording.samples().unwrap().is_empty());
        for end in Endpoint::BOTH {
            let tap = Tap::read(&trial.join(capture_file(end)));
            let [Some(counted)] = tap.statistics[..] else {
                panic!("{name}: {} has no end", trial.display())
            };
            assert_eq!(counted.received, Some(tap.frames.len() as u64), "{name}");
        }
    }
}

/// Finished trials.
fn whole_trials(run: &Path) -> Vec<PathBuf> {
    let whole = names(&run.join("trials")).into_iter().filter(|name| !name.starts_with('.'));
    whole.map(|name| run.join("trials").join(name)).collect()
}

/// The run is finished like an undisturbed one, or it had not begun and says so.
fn is_resumed(home: &Home) {
    let run = newest(&home.path("runs/short"), |_| true);
    let Some(run) = run.filter(|run| run.join("plan.json").exists()) else {
        return home.refuses(&[("run --resume", "no unfinished run below")]);
    };
    let kept = whole_trials(&run);
    let digest = |trial: &PathBuf| fs::read(trial.join("result.json")).unwrap();
    let before: Vec<Vec<u8>> = kept.iter().map(digest).collect();
    home.answer(&format!("run --no-calibration --resume {}", run.display()));
    assert_eq!(kept.iter().map(digest).collect::<Vec<_>>(), before, "finished trials stay");
    assert_eq!(whole_trials(&run).len(), TRIALS);
    finished_files_are_whole("resumed", &run);
    let result: Run = serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap();
    assert_eq!(result.cases.iter().map(|case| case.trials.len()).sum::<usize>(), TRIALS);
    for place in [run.clone(), run.join("trials")] {
        assert_eq!(newest(&place, |name| name.starts_with(".partial-")), None);
    }
}

#[test]
fn kill_leaves_nothing() {
    survives(Signal::KILL, false);
}

#[test]
fn sigterm_leaves_nothing() {
    survives(Signal::TERM, false);
}

/// As a terminal sends it: to every process of the group.
#[test]
fn sigint_leaves_nothing() {
    survives(Signal::INT, true);
}

/// The trial is retried; the rejected attempt is stored with the reason.
#[test]
fn death_of_trial_process_leaves_nothing() {
    if !namespaces_allowed() {
        return;
    }
    for event in [Event::TransferBegun, Event::TrialKept] {
        let home = Home::new();
        let name = format!("a trial's process dies after {event:?}");
        let mut run = Underway::start(&home, home.command(""), name);
        run.await_event(event);
        assert!(await_that(|| run.family.helper().is_some_and(|helper| helper.kill())));
        let Underway { child, family, before, name, .. } = run;
        let Ended { code, stderr, .. } = child.wait_with_output().unwrap().into();
        family.is_gone(&name, &before, &BTreeSet::new());
        assert_eq!(code, Some(0), "{name}: {stderr}");
        for part in ["the process of the trial", "ended early (signal: 9", "retrying"] {
            assert!(stderr.contains(part), "{name}: `{part}` is missing: {stderr}");
        }
        let directory = newest(&home.path("runs/short"), |_| true).unwrap();
        // On a busy machine other attempts may be rejected, too.
        let aside = names(&directory.join("flawed"));
        let flaws =
            aside.iter().map(|it| home.text(directory.join("flawed").join(it).join("flaws.json")));
        let flaws: Vec<String> = flaws.collect();
        assert!(flaws.iter().any(|it| it.contains("ended early")), "{name}: {flaws:?}\n{stderr}");
        is_resumed(&home);
    }
}

#[test]
fn second_tcplab_in_same_run_is_refused() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let mut run = Underway::start(&home, home.command(""), "two at once".into());
    run.await_event(Event::TrialBegun);
    let directory = run.run_directory().unwrap();
    let second = format!("run --resume {}", directory.display());
    home.refuses(&[(&second, "is locked by another tcplab process")]);
    assert!(run.child.wait().unwrap().success());
    assert_eq!(whole_trials(&directory).len(), TRIALS);
}
