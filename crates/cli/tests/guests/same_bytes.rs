//! The same seed gives the same bytes, whatever else the machine does.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::{fs, thread};

use crate::home::{Home, everything};
use crate::image::Images;

/// Controls with random numbers of their own, losses, several flows.
const SCENARIO: &str = r#"
title    = "Twice"
path     = { rate = "20 Mbit/s", delay = "5 ms", queue = "64 kB", loss = "0.5 %" }
workload = { upload = "600 kB" }
repeat   = { trials = 2, seed = 7 }
client   = { stack = "linux-6.12" }
server   = { stack = "linux-6.12" }

[matrix]
"client.socket.congestion" = ["reno", "cubic", "westwood", "bbr"]

[flow.one]
[flow.two]
start = "50 ms"
"#;

/// Everything of a trial but when and how long it was analysed.
pub(crate) fn recordings(home: &Home, runs: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let run = home.only(home.only(runs));
    let kept = |path: &PathBuf| {
        ["pcapng", "jsonl", "csv"].iter().any(|it| path.extension().is_some_and(|e| e == *it))
            || path.ends_with("app.json")
    };
    let trials = run.join("trials");
    let read = |path: PathBuf| {
        let bytes = fs::read(trials.join(&path)).unwrap();
        (path, bytes)
    };
    everything(&trials).into_iter().filter(kept).map(read).collect()
}

/// Programs that keep all processors busy until they are dropped.
struct Load(Vec<Child>);

impl Load {
    fn start() -> Load {
        let count = thread::available_parallelism().map_or(2, usize::from) * 2;
        let spin = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Load((0..count).map(|_| spin()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn same_seed_gives_the_same_bytes_on_a_busy_machine_and_with_other_jobs() {
    let Some(images) = Images::find() else { return };
    let (quiet, busy) = (Home::new(), Home::new());
    images.run_scenario(&quiet, SCENARIO, "--jobs 1 --runs here");
    {
        let _load = Load::start();
        images.run_scenario(&busy, SCENARIO, "--jobs 3 --runs there/and/farther");
    }
    let (first, second) = (recordings(&quiet, "here"), recordings(&busy, "there/and/farther"));
    assert!(first.len() >= 8 * 4, "{}", first.len());
    for ((name, one), (other_name, other)) in first.iter().zip(&second) {
        assert_eq!(name, other_name);
        assert!(one == other, "{} differs", Path::new(name).display());
    }
    assert_eq!(first.len(), second.len());
}

#[test]
fn another_seed_gives_other_random_numbers() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    let scenario = SCENARIO.replace(r#""reno", "cubic", "westwood", "bbr""#, r#""reno""#);
    images.run_scenario(&home, &scenario, "--runs one --trials 1 --seed 1");
    images.run_scenario(&home, &scenario, "--runs two --trials 1 --seed 2");
    let (one, two) = (recordings(&home, "one"), recordings(&home, "two"));
    let capture = |all: &[(PathBuf, Vec<u8>)]| {
        let is_it = |path: &Path| path.ends_with("client.pcapng");
        all.iter().find(|(path, _)| is_it(path)).unwrap().1.clone()
    };
    assert!(capture(&one) != capture(&two), "the initial sequence numbers, for one");
}
