//! How fast virtual time goes, side by side with ns-3.
//!
//! `make bench-sim`, or `cargo bench -p tcplab-sim --bench sim -- [--rounds N] [--seconds S]
//! [--only RATE] [--without-ns3]`. One flow: CUBIC with SACK and timestamps over a bottleneck with
//! a round trip of 20 ms, a drop-tail queue of one bandwidth-delay product in packets of 1500
//! bytes, 64 MiB of buffer at both ends, delayed acknowledgements; payload that is not read. Both
//! are set to do the same, and what is counted is segments with data that came out of the
//! bottleneck, by processor time, as other things may happen on the machine: where none do, that is
//! real time. Rounds are interleaved, and medians are shown; above 100 Mbit/s, ns-3 runs once.
//! Nothing is asserted.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod ns3;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tcplab_scenario::Scenario;
use tcplab_sim::{SimError, TrialRequest, measure, run_trial};

/// Rates in Mbit/s, how many seconds of virtual time each runs, and how often ns-3 does: a minute
/// of 10 Gbit/s would keep it busy for an hour.
const FLOWS: [(u64, u64, usize); 3] = [(100, 60, usize::MAX), (1_000, 10, 1), (10_000, 1, 1)];
/// A full segment's data where timestamps are on, and its packet.
const SEGMENT: f64 = 1448.0;
const PACKET_BITS: u64 = 12_000;
/// Both ends' buffers.
const BUFFER: u64 = 64 << 20;
/// Segments a second with a recording.
const GOAL_RECORDED: u64 = 800_000;
/// Round trips a second.
const PER_SECOND: u64 = 50;

/// What a run came to.
#[derive(Debug, Clone, Copy)]
struct Run {
    segments: f64,
    /// Seconds of processor time, and of real time.
    processor: f64,
    real: f64,
}

impl Run {
    fn per_second(&self) -> f64 {
        self.segments / self.processor
    }
}

/// Who takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contender {
    Ns3,
    /// Without a recording.
    Plain,
    /// With payload, digests, and everything that `tcplab run` writes.
    Recorded,
}

impl Contender {
    fn name(self) -> &'static str {
        match self {
            Contender::Ns3 => "ns-3",
            Contender::Plain => "tcplab",
            Contender::Recorded => "tcplab, recorded",
        }
    }
}

struct Arguments {
    rounds: usize,
    seconds: Option<u64>,
    only: Option<u64>,
    ns3: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments { rounds: 3, seconds: None, only: None, ns3: true };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().ok_or(format!("{word} needs a value"))?;
            value.parse::<u64>().map_err(|error| format!("{word} {value}: {error}"))
        };
        match word.as_str() {
            "--rounds" => arguments.rounds = number()?.max(1) as usize,
            "--seconds" => arguments.seconds = Some(number()?),
            "--only" => arguments.only = Some(number()?),
            "--without-ns3" => arguments.ns3 = false,
            // What cargo adds.
            "--bench" => {}
            other => return Err(format!("what is {other}?")),
        }
    }
    Ok(arguments)
}

fn main() -> Result<(), String> {
    let arguments = arguments()?;
    let ns3 = if arguments.ns3 { ns3::build() } else { Err("not asked for".into()) };
    if let Err(reason) = &ns3 {
        println!("Without ns-3: {reason}\n");
    }
    println!(
        "{:>11} {:>8} {:18} {:>10} {:>9} {:>9} {:>12} {:>8} {:>9}",
        "Mbit/s", "virtual", "", "segments", "processor", "real", "segments/s", "times", "cost"
    );
    let mut first: [Option<f64>; 3] = [None; 3];
    for (rate, seconds, most_ns3) in FLOWS {
        if arguments.only.is_some_and(|only| only != rate) {
            continue;
        }
        let seconds = arguments.seconds.unwrap_or(seconds);
        let mut runs: [Vec<Run>; 3] = Default::default();
        for round in 0..arguments.rounds {
            if let Ok(program) = &ns3
                && round < most_ns3
            {
                runs[0].push(program.run(rate, queue(rate), seconds, BUFFER)?);
            }
            runs[1].push(plain(rate, seconds)?);
            runs[2].push(recorded(rate, seconds)?);
        }
        let medians = runs.map(|runs| median(&runs));
        let contenders = [Contender::Ns3, Contender::Plain, Contender::Recorded];
        for (index, contender) in contenders.into_iter().enumerate() {
            let Some(run) = medians[index] else { continue };
            let speed = run.per_second();
            let times =
                medians[0].map_or(String::new(), |ns3| format!("{:.1}", speed / ns3.per_second()));
            let cost = *first[index].get_or_insert(speed) / speed;
            println!(
                "{rate:>11} {seconds:>6} s {:18} {:>10.0} {:>7.2} s {:>7.2} s {speed:>12.0} \
                 {times:>8} {cost:>9.2}",
                contender.name(),
                run.segments,
                run.processor,
                run.real,
            );
        }
    }
    println!(
        "\ntimes: segments a second as against ns-3. cost: processor time of a segment as against \
         the first row. Goal: {GOAL_RECORDED} segments/s recorded at 100 Mbit/s."
    );
    Ok(())
}

/// Packets that wait: one bandwidth-delay product.
fn queue(rate: u64) -> u64 {
    (rate * 1_000_000 / PER_SECOND).div_ceil(PACKET_BITS)
}

fn scenario(rate: u64, seconds: u64) -> Scenario {
    let text = format!(
        "title = \"One flow\"\n[path]\nrate = \"{rate} Mbit/s\"\ndelay = \"10 ms\"\n\
         queue = \"{queue} packets\"\n[workload]\nupload = \"1000 GB\"\n\
         [client]\nstack = \"model:linux-6.18\"\nsocket = {{ congestion = \"cubic\" }}\n\
         sysctl = {{ \"net.ipv4.tcp_wmem\" = \"4096 16384 {BUFFER}\" }}\n\
         [server]\nstack = \"model:linux-6.18\"\n\
         sysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 131072 {BUFFER}\" }}\n\
         [limits]\ntrial = \"{seconds} s\"\n[repeat]\ntrials = 1\n",
        queue = queue(rate),
    );
    Scenario::parse(&text, "flow").expect("the scenario is well-formed")
}

fn plain(rate: u64, seconds: u64) -> Result<Run, String> {
    let scenario = scenario(rate, seconds);
    let watch = Watch::start();
    let measured = measure(&scenario.cases[0], 1, scenario.cases[0].limits.trial, &mut || false)
        .map_err(|error| error.to_string())?;
    Ok(watch.stop(measured.received))
}

fn recorded(rate: u64, seconds: u64) -> Result<Run, String> {
    let scenario = scenario(rate, seconds);
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let request = TrialRequest {
        case: &scenario.cases[0],
        seed: 1,
        directory: place.path(),
        snaplen: Some(128),
        keeps_packets: true,
    };
    let watch = Watch::start();
    match run_trial(&request, &AtomicBool::new(false)) {
        // More is sent than the time allows.
        Err(SimError::Overdue { received, .. }) => Ok(watch.stop(received)),
        Ok(()) => Err("all was sent: the flow ends too early".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Time that passes.
struct Watch {
    began: Instant,
    used: Option<f64>,
}

impl Watch {
    fn start() -> Watch {
        Watch { used: processor_time(), began: Instant::now() }
    }

    fn stop(self, received: u64) -> Run {
        let real = self.began.elapsed().as_secs_f64();
        let used = processor_time().zip(self.used).map(|(now, then)| now - then);
        let segments = received as f64 / SEGMENT;
        Run { segments, processor: used.unwrap_or(real), real }
    }
}

/// Seconds that this process has run so far (`/proc/self/schedstat`), where the kernel counts.
fn processor_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanos: u64 = text.split_whitespace().next()?.parse().ok()?;
    (nanos > 0).then_some(nanos as f64 * 1e-9)
}

/// The run of median speed.
fn median(runs: &[Run]) -> Option<Run> {
    let mut runs = runs.to_vec();
    runs.sort_by(|one, other| one.per_second().total_cmp(&other.per_second()));
    runs.get(runs.len() / 2).copied()
}
