//! A kernel in virtual time beside ns-3, a model, and this machine's kernel: packets a second of
//! real time on one processor, and where the time goes. `make bench-virtual-kernel`; needs an image
//! (`tcplab kernel build 7.2`). Choose rates with `BENCH="10 100"` (Mbit/s).
//!
//! The trials of kernels count from the start of the guests to their end, less what the least trial
//! takes; analysis and report are apart. ns-3 records nothing and sends zeros.

#[path = "../../../sim/benches/sim/ns3.rs"]
mod ns3;
mod watch;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use watch::{Cost, watch};

/// Payload of a full segment, bytes.
const DATA_BYTES: u64 = 1448;

/// What ns-3 took.
pub(crate) struct Run {
    pub(crate) segments: f64,
    #[expect(dead_code, reason = "another benchmark shows it")]
    pub(crate) processor: f64,
    pub(crate) real: f64,
}

/// A path, and how much goes through it: ten seconds' worth, 200 MB at most.
#[derive(Debug, Clone, Copy)]
struct Flow {
    /// Mbit/s.
    rate: u64,
    megabytes: u64,
}

impl Flow {
    fn new(rate: u64) -> Flow {
        Flow { rate, megabytes: (rate * 10 / 8).clamp(2, 200) }
    }

    fn path(self) -> String {
        let rate = self.rate;
        format!("path = {{ rate = \"{rate} Mbit/s\", delay = \"10 ms\", queue = \"2 bdp\" }}\n")
    }

    fn scenario(self, amount: &str, stack: &str) -> String {
        format!(
            "title = \"Speed\"\n{}workload = {{ upload = \"{amount}\" }}\n\
             client = {{ stack = \"{stack}\" }}\nserver = {{ stack = \"{stack}\" }}\n\
             repeat = {{ trials = 1 }}\nrecording = {{ snaplen = \"96 B\" }}\n",
            self.path()
        )
    }

    /// Seconds on the path.
    fn length(self) -> f64 {
        self.megabytes as f64 * 8.0 / self.rate as f64
    }
}

/// What a run took.
#[derive(Debug, Clone, Copy)]
struct Ran {
    /// Of real time, without what does not depend on its length.
    seconds: f64,
    /// On the path, both ways.
    packets: f64,
    /// From the sender.
    data: f64,
}

fn main() -> io::Result<()> {
    let given: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let rates = if given.is_empty() { vec![10, 100, 1000] } else { given };
    let place = std::env::temp_dir().join(format!("tcplab-speed-{}", std::process::id()));
    fs::create_dir(&place)?;
    let measured = measure(&place, &rates);
    fs::remove_dir_all(&place)?;
    measured
}

fn measure(place: &Path, rates: &[u64]) -> io::Result<()> {
    let mut out = io::stdout();
    let ns3 = ns3::build();
    if let Err(why) = &ns3 {
        writeln!(out, "without ns-3: {why}")?;
    }
    writeln!(
        out,
        "rate Mbit/s  host                        packets      s  packets/s  data segments/s  µs a packet  of real time"
    )?;
    for flow in rates.iter().map(|rate| Flow::new(*rate)) {
        let mut say = |host: &str, ran: io::Result<Ran>| match ran {
            Ok(ran) => row(&mut out, flow, host, ran),
            Err(why) => writeln!(out, "{:>11}  {host:<26} cannot run here: {why}", flow.rate),
        };
        let virtual_time = trial(place, flow, "linux-newest", "--world sim");
        let costs = virtual_time.as_ref().ok().map(|(_, costs)| *costs);
        say("kernel, own applications", virtual_time.map(|(ran, _)| ran))?;
        say("kernel, iperf3", iperf3(place, flow))?;
        let model = trial(place, flow, "model:linux-6.18", "--world sim");
        say("model, with analysis", model.map(|(ran, _)| ran))?;
        let real = trial(place, flow, "linux", "--world kernel --no-calibration");
        say("kernel, real time", real.map(|(ran, _)| ran))?;
        if let Ok(program) = &ns3 {
            say("ns-3", of_ns3(program, flow))?;
        }
        if let Some([least, whole]) = costs {
            let Cost { kernels, programs, path, memory, .. } = whole;
            let boot = least.guests;
            writeln!(
                out,
                "{:>11}  own applications: processor time {kernels:.2} s in kernels, {programs:.2} s in programs, \
                 {path:.2} s on path and recording; start to end of a least trial {boot:.2} s; {memory:.0} MB a guest",
                ""
            )?;
        }
    }
    Ok(())
}

fn row(out: &mut impl Write, flow: Flow, host: &str, ran: Ran) -> io::Result<()> {
    let Ran { seconds, packets, data } = ran;
    writeln!(
        out,
        "{:>11}  {host:<26} {packets:>8} {seconds:>6.2} {:>10.0} {:>16.0} {:>12.1} {:>13.2}",
        flow.rate,
        packets / seconds,
        data / seconds,
        1e6 * seconds / packets,
        seconds / flow.length(),
    )
}

/// A trial of this stack at both ends, and what the least and the whole cost.
fn trial(place: &Path, flow: Flow, stack: &str, flags: &str) -> io::Result<(Ran, [Cost; 2])> {
    let (least, _) = run(place, &flow.scenario("1 kB", stack), flags)?;
    let amount = format!("{} MB", flow.megabytes);
    let (whole, path) = run(place, &flow.scenario(&amount, stack), flags)?;
    let seconds = |(whole_run, cost): (f64, Cost)| {
        if cost.guests > 0.0 { cost.guests } else { whole_run }
    };
    let packets = path.lines().count() as f64;
    let data = path.lines().filter(|line| line.contains("\"forward\"")).count() as f64;
    let taken = (seconds(whole) - seconds(least)).max(1e-3);
    Ok((Ran { seconds: taken, packets, data }, [least.1, whole.1]))
}

/// How long a run took, what it cost, and the rows of its path.
fn run(place: &Path, scenario: &str, flags: &str) -> io::Result<((f64, Cost), String)> {
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
    let cost = watch(&mut child)?;
    let seconds = begun.elapsed().as_secs_f64();
    let runs = place.join("runs");
    let path = find(&runs, "path.jsonl");
    let text = path.map(fs::read_to_string).transpose()?.unwrap_or_default();
    let _ = fs::remove_dir_all(&runs);
    if !child.wait()?.success() || text.is_empty() {
        return Err(io::Error::other("the run failed"));
    }
    Ok(((seconds, cost), text))
}

/// iperf3, unchanged, on two kernels.
fn iperf3(place: &Path, flow: Flow) -> io::Result<Ran> {
    fs::write(place.join("path.toml"), format!("title = \"Path\"\n{}", flow.path()))?;
    let send = |amount: &str| -> io::Result<(f64, f64, f64)> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tcplab"))
            .args(["shell", "--near", "linux-newest", "--far", "linux-newest"])
            .args(["--far-command", "iperf3 -s -1", "--json=speed.json", "path.toml", "--"])
            .args(["sh", "-c", &format!("iperf3 -c $TCPLAB_FAR -n {amount}")])
            .current_dir(place)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let cost = watch(&mut child)?;
        if !child.wait()?.success() {
            return Err(io::Error::other("`tcplab shell` with iperf3 failed"));
        }
        let said: Value = serde_json::from_slice(&fs::read(place.join("speed.json"))?)?;
        let packets = |way: &str| said["traffic"][way]["packets_in"].as_f64().unwrap_or_default();
        Ok((cost.guests, packets("forward"), packets("reverse")))
    };
    let (least, ..) = send("1K")?;
    let (whole, forward, reverse) = send(&format!("{}M", flow.megabytes))?;
    Ok(Ran { seconds: (whole - least).max(1e-3), packets: forward + reverse, data: forward })
}

fn of_ns3(program: &ns3::Program, flow: Flow) -> io::Result<Ran> {
    // Two bandwidth-delay products, in packets.
    let queue = 2 * flow.rate * 1_000_000 * 20 / 1000 / 8 / (DATA_BYTES + 52);
    let seconds = flow.length().ceil() as u64;
    let Run { segments, real, .. } =
        program.run(flow.rate, queue, seconds, 64 << 20).map_err(io::Error::other)?;
    // It counts what carries data; there is an acknowledgement for every two.
    Ok(Ran { seconds: real, packets: segments * 1.5, data: segments })
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
