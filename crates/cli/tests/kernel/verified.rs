//! Calibrates paths before use, and refuses what this machine cannot do.

use tcplab_quantities::{CALIBRATION_DOCUMENT, PATH_CHECK_DOCUMENT};
use tcplab_recording::Recording;
use tcplab_results::verification::{CheckRow, Machine, Outcome, PathCheck};
use tcplab_results::{Calibration, Run};
use tcplab_units::Span;

use crate::home::{Ended, Home, ended, names};
use crate::processes::{Family, Machine as Before};
use crate::program::namespaces_allowed;
use crate::schema::check;

/// The answer of `path verify --json`.
#[derive(Debug, serde::Deserialize)]
struct Answer {
    machine: Machine,
    real_time: PathCheck,
    virtual_time: Vec<CheckRow>,
}

/// Probes have the port of a second flow.
const PATH: &str = "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"1 %\"\n\
                    port_delay = [{ port = 5002, delay = \"40 ms\" }]\n";

/// What may be off on a busy machine: how late the latest packets are.
const OF_THE_MACHINE: [&str; 4] = ["timer error", "delay", "lateness", "ring wait"];

fn verify(home: &Home) -> Answer {
    let line = "path verify path.toml --duration '1500 ms' --json";
    let Ended { code, stdout, stderr } = home.run(line);
    assert!(matches!(code, Some(0 | 1)), "{stderr}");
    let answer: Answer = serde_json::from_str(&stdout).unwrap();
    check(&PATH_CHECK_DOCUMENT, &serde_json::from_str(&stdout).unwrap(), "path verify");
    assert_eq!(code == Some(1), off(&answer).next().is_some(), "{stdout}");
    answer
}

fn off(answer: &Answer) -> impl Iterator<Item = &CheckRow> {
    answer.real_time.rows.iter().filter(|row| row.outcome == Outcome::Off)
}

#[test]
fn path_verify_passes() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::with("path.toml", PATH);
    // A stalling machine also misses the rate, but only at times; a wrong path is wrong each time.
    let is_of_the_machine = |row: &CheckRow| OF_THE_MACHINE.contains(&row.quantity.as_str());
    let mut answer = verify(&home);
    for _ in 0..2 {
        if !off(&answer).all(is_of_the_machine) {
            answer = verify(&home);
        }
    }
    assert!(off(&answer).all(is_of_the_machine), "{:#?}", off(&answer).collect::<Vec<_>>());
    for quantity in ["rate", "delay", "loss"] {
        let of = |row: &&CheckRow| row.quantity == quantity;
        let rows: Vec<_> = answer.real_time.rows.iter().filter(of).collect();
        assert_eq!(rows.len(), 2, "{quantity}: both directions");
        assert!(rows.iter().all(|row| !row.achieved.is_empty()), "{rows:#?}");
    }
    let base = answer.real_time.round_trip.unwrap().as_millis_f64();
    assert!((20.0..60.0).contains(&base), "base RTT {base} ms");
    assert!(answer.machine.ceiling_pps > 0 && answer.machine.lead.as_micros() <= 200);
    let is_measured = |row: &CheckRow| row.outcome != Outcome::NotMeasured;
    let (measured, others): (Vec<_>, Vec<_>) =
        answer.virtual_time.into_iter().partition(is_measured);
    assert!(measured.iter().all(|row| row.outcome == Outcome::Ok), "{measured:#?}");
    // What no probe shows is named.
    let others: Vec<&str> = others.iter().map(|row| row.quantity.as_str()).collect();
    assert_eq!(others, ["port_delay", "queue", "port_delay", "queue"]);
}

#[test]
fn rate_above_ceiling_is_refused() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let scenario = "title = \"Fast\"\n[path]\nrate = \"1 Tbit/s\"\n[workload]\nupload = \"1 kB\"\n";
    home.write("fast.toml", scenario);
    for line in ["run fast.toml", "path verify fast.toml"] {
        let mut program = home.command(line);
        let family = Family::of(&mut program, "a rate above the ceiling");
        let before = Before::now();
        let stderr = ended(&mut program).refusal(line);
        for part in ["asks for 1 Tbit/s", "this machine models", "bit/s or less"] {
            assert!(stderr.contains(part), "`{part}` is missing: {stderr}");
        }
        let is_run = line.starts_with("run");
        assert_eq!(stderr.contains("--allow-above-ceiling"), is_run, "only a run has it: {stderr}");
        family.is_gone("a rate above the ceiling", &before, &std::collections::BTreeSet::new());
        assert!(!home.exists("runs"), "{line}");
    }
    let allowed = home.answer("run fast.toml --quick --allow-above-ceiling");
    assert!(allowed.contains("✗ ceiling"), "{allowed}");
}

#[test]
fn run_reports_its_calibration() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let scenario = "title = \"Two\"\n[path]\nrate = \"20 Mbit/s\"\n[workload]\nupload = \"1 kB\"\n\
                    [matrix]\n\"path.delay\" = [\"1 ms\", \"2 ms\"]\n\
                    \"client.socket.congestion\" = [\"reno\", \"cubic\"]\n[repeat]\ntrials = 1\n";
    home.write("two.toml", scenario);
    home.answer("run two.toml --spin 100µs");
    let directory = home.only("runs/two");
    let read = |name: &str| home.bytes(directory.join(name));
    let run: Run = serde_json::from_slice(&read("run.json")).unwrap();
    let calibration: Calibration = serde_json::from_slice(&read("calibration.json")).unwrap();
    let calibration_json = serde_json::from_slice(&read("calibration.json")).unwrap();
    check(&CALIBRATION_DOCUMENT, &calibration_json, "calibration.json");
    assert_eq!(run.calibration.as_ref(), Some(&calibration), "it survives being written and read");
    let trials = directory.join("trials");
    let record = Recording::open(&trials.join(&names(&trials)[0])).unwrap().record().unwrap();
    assert_eq!([calibration.machine.spin, record.world.spin], [Span::from_micros(100); 2]);
    assert_eq!(record.world.lead, calibration.machine.lead);
    let cases: Vec<usize> = calibration.paths.iter().map(|path| path.cases.len()).collect();
    assert_eq!(cases, [2, 2], "once for each path");

    let without = home.answer("run two.toml --no-calibration --runs other");
    assert!(without.contains("path not verified before the trials"), "{without}");
}

/// Before the program runs, at the end, and in the recording; for every kind of path.
#[test]
fn shell_above_ceiling_is_warned() {
    if !namespaces_allowed() {
        return;
    }
    for (index, keys) in [
        &["rate=100 Gbit/s"][..],
        &["rate=100 Gbit/s", "burst=64 kB"],
        &["rate={ start = '1 Mbit/s', steps = [{ at = '1 h', to = '1 Tbit/s' }] }"],
    ]
    .into_iter()
    .enumerate()
    {
        let home = Home::new();
        let mut shell = home.command("shell --spin 0µs --capture seen");
        shell.args(["--json=end.json"]).args(keys.iter().flat_map(|key| ["-s", key]));
        // --quiet suppresses only the final summary.
        if index == 0 {
            shell.arg("--quiet");
        }
        let run = ended(shell.args(["--", "sh", "-c", "echo program >&2; exit 3"]));
        assert_eq!(run.code, Some(3), "{keys:?}: {}", run.stderr);
        let (before, after) = run.stderr.split_once("program\n").unwrap();
        let warning = "warning: the path asks for ";
        assert!(before.contains(warning) && before.contains("this machine models"), "{before}");
        assert_eq!(after.contains(warning), index > 0, "{after}");
        let summary: serde_json::Value = serde_json::from_slice(&home.bytes("end.json")).unwrap();
        assert!(
            summary["warnings"][0].as_str().unwrap().starts_with("the path asks for"),
            "{summary}"
        );
        let record = Recording::open(&home.path("seen")).unwrap().record().unwrap();
        assert!(record.world.notes[0].starts_with("the path asks for"), "{:?}", record.world);
        assert_eq!(record.world.spin, Span::ZERO);
    }
    // A slow path needs no measurement.
    let home = Home::new();
    let slow = home.run("shell -s 'rate=20 Mbit/s' -- true");
    assert_eq!(slow.code, Some(0), "{}{}", slow.stdout, slow.stderr);
    assert!(!slow.stderr.contains("the path asks for"), "{}", slow.stderr);
}
