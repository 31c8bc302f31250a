//! `tcplab load` and `tcplab server` side by side with others.
//!
//! `make bench-load`, or `cargo bench -p tcplab-load --bench load -- --help`. Sections are
//! `generators` (tcplab load, wrk and ab on nginx and on our servers), `servers` (the same figures,
//! as servers), `bulk` (beside iperf3) and `many` (10,000 connections). Rounds are interleaved, so
//! whatever else the machine does meets all alike; medians are shown. Servers have one processor
//! and generators another, where there are two and taskset(1) is installed. All on loopback.

mod bulk;
mod generators;
mod many;
mod process;
mod servers;

use std::io::Write;
use std::path::PathBuf;
use std::{fs, io};

use clap::Parser;
use generators::Generator;
use serde_json::{Map, Value, json};
use servers::{Served, Site};

/// `tcplab load` and `tcplab server` side by side with others.
#[derive(clap::Parser)]
pub(crate) struct Arguments {
    /// File for the results.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    pub(crate) seconds: f64,
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) connections: usize,
    /// Size of the file.
    #[arg(long, value_name = "N", default_value_t = 3000)]
    bytes: usize,
    /// Only these sections, separated by `;`.
    #[arg(long, value_name = "SECTION", value_delimiter = ';')]
    only: Vec<String>,
    /// Passed by cargo.
    #[arg(long = "bench", hide = true)]
    _bench: bool,
}

impl Arguments {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    if process::is_pinned() {
        say("servers have one processor, generators another");
    } else {
        say(
            "SKIPPED: taskset is not installed, or there is one processor: all share what there is",
        );
    }
    let mut results = Map::new();
    if arguments.wants("generators") || arguments.wants("servers") {
        results.insert("http".into(), http(&arguments)?);
    }
    if arguments.wants("bulk") {
        results.insert("bulk".into(), bulk::compare(arguments.rounds, arguments.seconds)?);
    }
    if arguments.wants("many") {
        results.insert("many".into(), many::measure(&arguments)?);
    }
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_vec_pretty(&Value::Object(results))?)?;
    }
    Ok(())
}

/// What one generator made of one server, in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) per_second: f64,
    /// Milliseconds.
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    /// Seconds of processor time.
    pub(crate) generator: f64,
    pub(crate) server: f64,
    pub(crate) requests: f64,
    pub(crate) errors: f64,
}

/// Generators on servers: all of each on all of the other.
fn http(arguments: &Arguments) -> io::Result<Value> {
    let site = Site::new(arguments.bytes)?;
    let generators: Vec<Generator> =
        Generator::ALL.into_iter().filter(|it| it.is_there()).collect();
    let servers: Vec<Served> =
        Served::ALL.into_iter().filter(|it| it.start(&site).is_ok()).collect();
    let mut runs = vec![vec![Vec::new(); servers.len()]; generators.len()];
    for _ in 0..arguments.rounds {
        for (column, served) in servers.iter().enumerate() {
            for (row, generator) in generators.iter().enumerate() {
                let server = served.start(&site)?;
                let before = server.processor();
                let mut run = generator.run(server.address(), arguments, &site)?;
                run.server = server.processor() - before;
                runs[row][column].push(run);
            }
        }
    }
    let medians: Vec<Vec<Run>> =
        runs.iter().map(|row| row.iter().map(|runs| median(runs)).collect()).collect();
    say(&format!(
        "\nA file of {} bytes, {} connections that stay, {} s, median of {}",
        arguments.bytes, arguments.connections, arguments.seconds, arguments.rounds
    ));
    say(&format!(
        "{:<16} {:<14} {:>10} {:>8} {:>8} {:>8} {:>12} {:>12} {:>7}",
        "server",
        "generator",
        "requests/s",
        "50 % ms",
        "90 % ms",
        "99 % ms",
        "per gen. s",
        "per serv. s",
        "errors"
    ));
    let mut rows = Vec::new();
    for (column, served) in servers.iter().enumerate() {
        for (row, generator) in generators.iter().enumerate() {
            let run = medians[row][column];
            say(&format!(
                "{:<16} {:<14} {:>10.0} {:>8.3} {:>8.3} {:>8.3} {:>12.0} {:>12.0} {:>7.0}",
                served.name(),
                generator.name(),
                run.per_second,
                run.p50,
                run.p90,
                run.p99,
                run.requests / run.generator.max(0.01),
                run.requests / run.server.max(0.01),
                run.errors,
            ));
            rows.push(json!({
                "server": served.name(), "generator": generator.name(),
                "requests_per_second": run.per_second, "p50_ms": run.p50, "p90_ms": run.p90,
                "p99_ms": run.p99, "generator_cpu_s": run.generator, "server_cpu_s": run.server,
                "requests": run.requests, "errors": run.errors,
            }));
        }
    }
    say(
        "\nper gen. s, per serv. s: requests by a second of the generator's, the server's processor",
    );
    ratios(&generators, &servers, &medians);
    Ok(Value::from(rows))
}

/// How we stand beside the others.
fn ratios(generators: &[Generator], servers: &[Served], runs: &[Vec<Run>]) {
    let own = generators.iter().position(|it| *it == Generator::Tcplab);
    let nginx = servers.iter().position(|it| *it == Served::Nginx);
    for (row, other) in generators.iter().enumerate().filter(|(row, _)| Some(*row) != own) {
        let Some(own) = own else { continue };
        for (column, served) in servers.iter().enumerate() {
            let (ours, theirs) = (runs[own][column], runs[row][column]);
            let cost = |run: Run| run.requests / run.generator.max(0.01);
            say(&format!(
                "tcplab load over {}, on {}: requests/s × {:.2}, by its processor × {:.2}; 50 % × \
                 {:.2}, 90 % × {:.2}, 99 % × {:.2}",
                other.name(),
                served.name(),
                ours.per_second / theirs.per_second,
                cost(ours) / cost(theirs),
                ours.p50 / theirs.p50,
                ours.p90 / theirs.p90,
                ours.p99 / theirs.p99,
            ));
        }
    }
    let (Some(own), Some(nginx)) = (own, nginx) else { return };
    for (column, served) in servers.iter().enumerate().filter(|(column, _)| *column != nginx) {
        let (ours, theirs) = (runs[own][column], runs[own][nginx]);
        let cost = |run: Run| run.requests / run.server.max(0.01);
        say(&format!(
            "{} over nginx: requests/s × {:.2}, by its processor × {:.2}",
            served.name(),
            ours.per_second / theirs.per_second,
            cost(ours) / cost(theirs),
        ));
    }
}

fn median(runs: &[Run]) -> Run {
    let of = |field: fn(&Run) -> f64| middle(runs.iter().map(field).collect());
    Run {
        per_second: of(|run| run.per_second),
        p50: of(|run| run.p50),
        p90: of(|run| run.p90),
        p99: of(|run| run.p99),
        generator: of(|run| run.generator),
        server: of(|run| run.server),
        requests: of(|run| run.requests),
        errors: of(|run| run.errors),
    }
}

/// The value in the middle.
pub(crate) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One line of the table.
pub(crate) fn say(line: &str) {
    // A closed pipe does not stop the measurement: `--json` may be given.
    let _ = writeln!(io::stdout(), "{line}");
}
