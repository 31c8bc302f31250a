//! Many trials in virtual time: measures their time, and fails if memory grows. `make
//! bench-trials`; choose numbers of trials with `BENCH="1000 10000"`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A transfer of 10 MB with a few losses.
const SCENARIO: &str = r#"title    = "Many trials"
path     = { rate = "100 Mbit/s", delay = "10 ms", loss = "0.02 %" }
client   = { stack = "model:linux-6.18" }
server   = { stack = "model:linux-6.18" }
workload = { upload = "10 MB" }
"#;
/// The compared numbers of trials.
const USUAL: [u32; 2] = [1_000, 10_000];
/// Seconds that the larger number of trials should take on two processors.
const GOAL: u64 = 150;
/// The largest ratio of memory that counts as flat: the metrics of each trial, some hundred bytes,
/// stay in memory.
const FLAT: f64 = 1.3;

fn main() -> io::Result<()> {
    let given: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let counts = if given.is_empty() { USUAL.to_vec() } else { given };
    let place = std::env::temp_dir().join(format!("tcplab-trials-{}", std::process::id()));
    fs::create_dir(&place)?;
    fs::write(place.join("many.toml"), SCENARIO)?;
    let mut out = io::stdout();
    let (mut first, mut most) = (None, 1.0f64);
    for count in counts {
        let (time, peak) = run(&place, count)?;
        let room = size(&place.join("runs"))?;
        fs::remove_dir_all(place.join("runs"))?;
        let ratio = peak as f64 / *first.get_or_insert(peak) as f64;
        most = most.max(ratio);
        writeln!(
            out,
            "{count} trials of 10 MB: {:.1} s, {:.1} ms each; peak memory {:.1} MB ({:.2} of the \
             first); on disk {:.1} MB",
            time.as_secs_f64(),
            time.as_secs_f64() * 1e3 / f64::from(count),
            peak as f64 / 1e3,
            ratio,
            room as f64 / 1e6
        )?;
    }
    writeln!(out, "goal: {} trials in {GOAL} s on two processors", USUAL[1])?;
    fs::remove_dir_all(&place)?;
    if most > FLAT {
        return Err(io::Error::other(format!("memory is not flat: {most:.2} of the first run's")));
    }
    Ok(())
}

/// Runs `count` trials; returns the time and the peak of resident memory, kB.
fn run(place: &Path, count: u32) -> io::Result<(Duration, u64)> {
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args(["run", "many.toml", "--trials", &count.to_string()])
        .current_dir(place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut peak = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        if let Some(status) = child.try_wait()? {
            assert!(status.success(), "{status}");
            return Ok((begun.elapsed(), peak));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Bytes of all files below `directory`.
fn size(directory: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        sum += if entry.file_type()?.is_dir() {
            size(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(sum)
}
