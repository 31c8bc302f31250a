use std::fs;
use std::path::Path;

use tcplab_scenario::Scenario;

use super::files::{PARTIAL, SCENARIO_FILE};
use super::*;
use crate::error::LabError;
use crate::plan::Plan;

const SCENARIO: &str = r#"
title = "small"
[path]
delay = "1 ms"
[workload]
upload = "1 kB"
[matrix]
"client.socket.congestion" = ["reno", "cubic"]
"#;

fn plan(scenario: &Scenario, started: &str) -> Plan {
    Plan {
        name: "small".into(),
        started: started.into(),
        seed: 1,
        trials: 2,
        first: 1,
        retries: 2,
        tcplab: "0".into(),
        cases: scenario.cases.iter().map(|case| case.hash.clone()).collect(),
        ..Plan::default()
    }
}

fn create(runs: &Path, started: &str) -> RunDirectory {
    let scenario = Scenario::parse(SCENARIO, "small").unwrap();
    let plan = plan(&scenario, started);
    RunDirectory::create(runs, plan, scenario, &[("kernel".into(), "6.18".into())]).unwrap()
}

/// A trial's process came to its end in `stage`.
fn finish_trial(stage: &Path) {
    fs::write(stage.join("client.pcapng"), "").unwrap();
    fs::write(stage.join("DONE"), "").unwrap();
}

#[test]
fn run_stays_in_the_folder_of_runs() {
    let runs = tempfile::tempdir().unwrap();
    let below = runs.path().join("below");
    for (name, folder) in [
        ("..", "--"),
        (".", "-"),
        ("", "-"),
        ("../../etc", "..-..-etc"),
        ("/etc/passwd", "-etc-passwd"),
        ("a\x1b[2Jb\n", "a-[2Jb-"),
        (".hidden", ".hidden"),
    ] {
        let scenario = Scenario::parse(SCENARIO, name).unwrap();
        let plan = Plan { name: name.into(), ..plan(&scenario, "2026-11-21T20:15:00Z") };
        let run = RunDirectory::create(&below, plan, scenario, &[]).unwrap();
        assert_eq!(run.path().parent().unwrap(), below.join(folder), "{name:?}");
        let found = RunDirectory::newest_unfinished(&below, Some(name)).unwrap();
        assert_eq!(found.parent(), run.path().parent(), "{name:?}");
    }
    assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 1, "nothing beside it");
}

#[test]
fn link_in_place_of_partial_file_is_not_followed() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path(), "2026-11-21T20:15:00Z");
    let theirs = runs.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("file"), "precious").unwrap();
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, run.path().join(name)).unwrap();
    };
    link(&theirs.join("file"), &format!("{PARTIAL}run.json"));
    run.replace("run.json", b"{}").unwrap();
    assert_eq!(fs::read_to_string(theirs.join("file")).unwrap(), "precious");
    assert!(!fs::symlink_metadata(run.path().join("run.json")).unwrap().is_symlink());
    for target in [theirs.clone(), runs.path().join("dangling")] {
        link(&target, &format!("trials/{PARTIAL}reno-1"));
        let stage = run.stage_trial("reno", 1).unwrap();
        assert!(!fs::symlink_metadata(&stage).unwrap().is_symlink());
        fs::remove_dir(&stage).unwrap();
    }
    assert!(theirs.join("file").exists());
}

#[test]
fn lock_is_no_link_to_another_file() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path(), "2026-11-21T20:15:00Z").path().to_owned();
    let lock = run.join("lock");
    assert!(fs::symlink_metadata(&lock).unwrap().is_file());
    let elsewhere = runs.path().join("elsewhere");
    for is_there in [false, true] {
        fs::remove_file(&lock).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
        if is_there {
            fs::write(&elsewhere, "precious").unwrap();
        }
        let error = RunDirectory::open(&run).unwrap_err().to_string();
        assert!(error.contains("/lock: Too many levels of symbolic links"), "{error}");
        assert_eq!(elsewhere.exists(), is_there);
    }
}

#[test]
fn reopened_run_has_its_plan() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path(), "2026-11-21T20:15:00Z");
    let path = run.path().to_owned();
    assert!(path.starts_with(runs.path().join("small")));
    assert!(path.file_name().unwrap().to_string_lossy().starts_with("20261121T201500-"));
    let plan = run.plan().clone();
    drop(run);
    let again = RunDirectory::open(&path).unwrap();
    assert_eq!(*again.plan(), plan);
    assert_eq!(again.scenario().trials, 2);
    assert_eq!(again.environment().unwrap(), [("kernel".to_owned(), "6.18".to_owned())]);
}

#[test]
fn runs_of_same_second_get_own_directories() {
    let runs = tempfile::tempdir().unwrap();
    let [first, second] = [(); 2].map(|()| create(runs.path(), "2026-11-21T20:15:00Z"));
    assert_ne!(first.path(), second.path());
    let newest = RunDirectory::newest_unfinished(runs.path(), None).unwrap();
    assert_eq!(newest, second.path());
}

#[test]
fn kept_trial_is_whole() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path(), "2026-11-21T20:15:00Z");
    let stage = run.stage_trial("reno", 1).unwrap();
    assert!(run.keep_trial(&stage, "reno", 1).is_err(), "it has no DONE");
    assert!(!run.has_trial("reno", 1));
    finish_trial(&stage);
    run.keep_trial(&stage, "reno", 1).unwrap();
    assert!(run.has_trial("reno", 1));
    assert!(!run.has_trial("reno", 2));
    assert!(!stage.exists());
}

#[test]
fn partial_files_after_kill_are_removed() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path(), "2026-11-21T20:15:00Z");
    let left = run.stage_trial("reno", 1).unwrap();
    fs::write(left.join("client.pcapng"), "half").unwrap();
    let beside = run.stage_trial("cubic", 1).unwrap();
    let again = run.stage_trial("reno", 1).unwrap();
    assert_eq!(again, left);
    assert_eq!(fs::read_dir(&again).unwrap().count(), 0, "what was half made is gone");
    assert!(beside.exists(), "trials are made side by side");
    run.sweep().unwrap();
    assert!(!again.exists() && !beside.exists());
}

#[test]
fn flawed_attempts_are_stored_with_reasons() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path(), "2026-11-21T20:15:00Z");
    assert_eq!(run.flawed("reno", 1), 0);
    for attempt in 1..=2 {
        let stage = run.stage_trial("reno", 1).unwrap();
        fs::write(stage.join("client.pcapng"), "late").unwrap();
        run.set_aside(&stage, "reno", 1, &["late".into(), "lost".into()]).unwrap();
        assert_eq!((run.flawed("reno", 1), run.flawed("reno", 11)), (attempt, 0));
        assert!(!stage.exists() && !run.has_trial("reno", 1));
    }
    let second = run.path().join("flawed/reno-1-2");
    assert!(second.join("client.pcapng").exists());
    let reasons: Vec<String> =
        serde_json::from_slice(&fs::read(second.join("flaws.json")).unwrap()).unwrap();
    assert_eq!(reasons, ["late", "lost"]);
    // A resumed run knows how often it has tried.
    let path = run.path().to_owned();
    drop(run);
    assert_eq!(RunDirectory::open(&path).unwrap().flawed("reno", 1), 2);
}

#[test]
fn discarded_run_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let runs = place.path().join("runs");
    let run = create(&runs, "2026-11-21T20:15:00Z");
    assert_eq!(run.kept(), 0);
    run.discard().unwrap();
    assert!(!runs.exists());

    let kept = create(&runs, "2026-11-21T20:16:00Z");
    let empty = create(&runs, "2026-11-21T20:17:00Z");
    empty.discard().unwrap();
    assert!(kept.path().exists(), "a run beside it stays");
}

#[test]
fn open_run_refuses_second_process() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path(), "2026-11-21T20:15:00Z");
    let error = RunDirectory::open(run.path()).unwrap_err();
    assert!(matches!(error, LabError::Busy { .. }), "{error}");
    let path = run.path().to_owned();
    drop(run);
    assert!(RunDirectory::open(&path).is_ok());
}

#[test]
fn newest_unfinished_run_is_resumed() {
    let runs = tempfile::tempdir().unwrap();
    let first = create(runs.path(), "2026-11-21T20:15:00Z").path().to_owned();
    let second = create(runs.path(), "2026-11-21T20:16:00Z").path().to_owned();
    let newest = |name| RunDirectory::newest_unfinished(runs.path(), name);
    assert_eq!(newest(Some("small")).unwrap(), second);
    fs::write(second.join(RUN), "{}").unwrap();
    assert_eq!(newest(None).unwrap(), first);
    assert_eq!(RunDirectory::newest_finished(runs.path(), None), Some(second));
    assert!(matches!(newest(Some("other")), Err(LabError::NothingToResume { .. })));
}

#[test]
fn not_a_run_is_refused_with_reason() {
    let runs = tempfile::tempdir().unwrap();
    let error = RunDirectory::open(runs.path()).unwrap_err().to_string();
    assert!(error.contains("no plan.json"), "{error}");
    let error = RunDirectory::open(&runs.path().join("nowhere")).unwrap_err().to_string();
    assert!(error.contains("no such directory"), "{error}");

    let path = create(runs.path(), "2026-11-21T20:15:00Z").path().to_owned();
    let changed = SCENARIO.replace("1 ms", "2 ms");
    fs::write(path.join(SCENARIO_FILE), changed).unwrap();
    let error = RunDirectory::open(&path).unwrap_err().to_string();
    assert!(error.contains("this version reads its scenario differently"), "{error}");

    fs::write(path.join(PLAN), "{").unwrap();
    let error = RunDirectory::open(&path).unwrap_err().to_string();
    assert!(error.contains("plan.json is damaged"), "{error}");
}

#[test]
fn replaced_file_is_whole_or_unchanged() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path(), "2026-11-21T20:15:00Z");
    let place = run.replace("metrics.csv", b"old").unwrap();
    run.replace("metrics.csv", b"new").unwrap();
    assert_eq!(fs::read(&place).unwrap(), b"new");
    // A directory in its way cannot be replaced by a file.
    fs::create_dir(run.path().join("report.html")).unwrap();
    assert!(run.replace("report.html", b"page").is_err());
    let left = fs::read_dir(run.path()).unwrap().flatten();
    assert!(left.into_iter().all(|e| !e.file_name().to_string_lossy().starts_with(PARTIAL)));
}

#[test]
fn scenario_files_are_kept_with_run() {
    let runs = tempfile::tempdir().unwrap();
    let source = SCENARIO.replace("delay = \"1 ms\"", "rate = { trace = \"../up.trace\" }");
    let mut read = |name: &str| {
        assert_eq!(name, "../up.trace");
        Ok(b"0\n4\n9\n".to_vec())
    };
    let scenario = Scenario::parse_with_files(&source, "small", &mut read).unwrap();
    let plan = plan(&scenario, "2026-11-21T20:15:00Z");
    let run = RunDirectory::create(runs.path(), plan, scenario.clone(), &[]).unwrap();
    let path = run.path().to_owned();
    drop(run);
    // The trace itself may be gone by now.
    let again = RunDirectory::open(&path).unwrap();
    assert_eq!(again.scenario().cases, scenario.cases);
    drop(again);
    fs::write(path.join("files.json"), "{}").unwrap();
    let error = RunDirectory::open(&path).unwrap_err().to_string();
    assert!(error.contains("`../up.trace` is not among the files of this run"), "{error}");
}
