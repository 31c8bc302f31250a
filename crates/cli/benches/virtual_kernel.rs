//! A kernel in virtual time, a model, and this machine's kernel, side by side: packets a second of
//! real time, with recording and analysis. `make bench-virtual-kernel`; needs an image (`tcplab
//! kernel build 7.2`). Choose rates with `BENCH="10 100"` (Mbit/s).

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A transfer long enough that its start and end count little.
fn scenario(rate: u32, megabytes: u32, stack: &str) -> String {
    format!(
        r#"title    = "Speed"
path     = {{ rate = "{rate} Mbit/s", delay = "10 ms", queue = "2 bdp" }}
workload = {{ upload = "{megabytes} MB" }}
client   = {{ stack = "{stack}" }}
server   = {{ stack = "{stack}" }}
repeat   = {{ trials = 1 }}
recording = {{ snaplen = "96 B" }}
"#
    )
}

/// What a run took.
struct Ran {
    seconds: f64,
    /// On the path, both ways.
    packets: u64,
    /// From the sender.
    data: u64,
    /// The largest proportional share of memory of a guest's process, MB.
    memory: f64,
}

fn main() -> io::Result<()> {
    let given: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let rates = if given.is_empty() { vec![10, 100, 1000] } else { given };
    let place = std::env::temp_dir().join(format!("tcplab-speed-{}", std::process::id()));
    fs::create_dir(&place)?;
    let measured = measure(&place, &rates);
    fs::remove_dir_all(&place)?;
    measured
}

fn measure(place: &Path, rates: &[u32]) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(
        out,
        "one trial each, on one processor, with recording and analysis, without start and end"
    )?;
    writeln!(
        out,
        "rate Mbit/s  host              packets     s  packets/s  data segments/s  µs a packet  of real time"
    )?;
    for &rate in rates {
        // Ten seconds of the path, 200 MB at most.
        let megabytes = (rate * 10 / 8).clamp(2, 200);
        for (host, stack, flags) in [
            ("kernel, virtual", "linux-newest", "--world sim"),
            ("model", "model:linux-6.18", "--world sim"),
            ("kernel, real time", "linux", "--world kernel --no-calibration"),
        ] {
            let least = run(place, &scenario(rate, 0, stack), flags);
            let ran = run(place, &scenario(rate, megabytes, stack), flags);
            let (Ok(least), Ok(ran)) = (least, ran) else {
                writeln!(out, "{rate:>11}  {host:<17} cannot run here")?;
                continue;
            };
            let seconds = (ran.seconds - least.seconds).max(1e-3);
            let per_second = |count: u64| count as f64 / seconds;
            let virtual_seconds = f64::from(megabytes) * 8.0 / f64::from(rate);
            writeln!(
                out,
                "{rate:>11}  {host:<17} {:>7} {seconds:>5.1} {:>10.0} {:>16.0} {:>12.1} {:>13.2}",
                ran.packets,
                per_second(ran.packets),
                per_second(ran.data),
                1e6 / per_second(ran.packets),
                seconds / virtual_seconds,
            )?;
            if ran.memory > 0.0 {
                let memory = ran.memory;
                writeln!(
                    out,
                    "{:>11}  start, end and files {:.2} s; a guest's memory {memory:.0} MB",
                    "", least.seconds
                )?;
            }
        }
    }
    Ok(())
}

/// Runs a scenario in a directory of its own.
fn run(place: &Path, scenario: &str, flags: &str) -> io::Result<Ran> {
    let scenario = scenario.replace("\"0 MB\"", "\"1 kB\"");
    fs::write(place.join("speed.toml"), scenario)?;
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args(["run", "speed.toml", "--jobs", "1", "--quiet"])
        .args(flags.split_whitespace())
        .current_dir(place)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let memory = watch(&mut child)?;
    let seconds = begun.elapsed().as_secs_f64();
    let runs = place.join("runs");
    let path = find(&runs, "path.jsonl");
    let text = path.map(fs::read_to_string).transpose()?.unwrap_or_default();
    let _ = fs::remove_dir_all(&runs);
    if !child.wait()?.success() || text.is_empty() {
        return Err(io::Error::other("the run failed"));
    }
    let packets = text.lines().count() as u64;
    let data = text.lines().filter(|line| line.contains("\"forward\"")).count() as u64;
    Ok(Ran { seconds, packets, data, memory })
}

/// Waits for its end; the largest share of memory of one of its guests, MB.
fn watch(child: &mut Child) -> io::Result<f64> {
    let mut most = 0.0f64;
    while child.try_wait()?.is_none() {
        let children = format!("/proc/{0}/task", child.id());
        for task in fs::read_dir(children).into_iter().flatten().flatten() {
            let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for pid in list.split_whitespace() {
                let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
                let rollup = rollup.unwrap_or_default();
                let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
                let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
                most = most.max(kilobytes.unwrap_or(0.0) / 1e3);
            }
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(most)
}

fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(directory).ok()?.flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|it| it == name) {
            return Some(path);
        }
        if let Some(found) = path.is_dir().then(|| find(&path, name)).flatten() {
            return Some(found);
        }
    }
    None
}
