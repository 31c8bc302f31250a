//! How fast captures are analysed, side by side with others.
//!
//! `make bench-trace`, or `cargo bench -p tcplab-trace --bench trace -- --help`. The captures are
//! made here, always the same, and kept. Rounds are interleaved, so other load meets all alike;
//! medians are compared, by processor time, and the processor time of others is reported. Every run
//! is a process of its own; what is slow runs once.

mod bulk;
mod captures;
mod contenders;
mod frames;
mod goals;
mod hostile;
mod own;
mod process;
mod short;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Parser;
use serde_json::{Value, json};

use captures::{Capture, Kind};
use contenders::Contender;
use goals::{Figures, Results};
use process::Took;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bench-trace");

/// How fast captures are analysed, side by side with others.
#[derive(clap::Parser)]
struct Arguments {
    /// File for the results.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// Only contenders with one of these (separated by `;`) in their names.
    #[arg(long, value_name = "NAME", value_delimiter = ';')]
    only: Vec<String>,
    /// Only captures with one of these (separated by `;`) in their names.
    #[arg(long, value_name = "NAME", value_delimiter = ';')]
    captures: Vec<String>,
    #[arg(long, value_name = "PATH", default_value = FOLDER)]
    folder: PathBuf,
    /// Programs may use all processors.
    #[arg(long)]
    free: bool,
    /// What to do as a contender, and with which capture.
    #[arg(long, hide = true, num_args = 2)]
    task: Vec<String>,
    /// Passed by cargo.
    #[arg(long = "bench", hide = true)]
    _bench: bool,
}

/// Whether `list` is empty or part of `name` is in it.
fn names(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|part| name.contains(part))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    match arguments.task.as_slice() {
        [task, capture] if task == "parse" => return own::parse(Path::new(capture)),
        [_, capture] => return own::summary(Path::new(capture)),
        _ => {}
    }
    let (mut contenders, missing) = contenders::all(&std::env::current_exe()?);
    for name in missing {
        say(&format!("SKIPPED: {name} is not installed"));
    }
    let pinned = !arguments.free && process::is_installed("taskset");
    match (arguments.free, pinned) {
        (true, _) => say("all processors may be used"),
        (false, true) => say("one processor is used, by `--jobs` all"),
        (false, false) => say("SKIPPED: taskset is not installed: all processors may be used"),
    }
    for contender in &mut contenders {
        contender.pinned = pinned && !contender.threaded;
    }
    contenders.retain(|contender| names(&arguments.only, contender.name));
    let mut results = serde_json::Map::new();
    let mut all = Vec::new();
    for kind in Kind::ALL {
        if names(&arguments.captures, kind.name()) {
            let capture = kind.capture(&arguments.folder)?;
            let (compared, json) = compare(&capture, &contenders, &arguments)?;
            results.insert(kind.name().into(), json);
            all.push(compared);
        }
    }
    say("");
    for line in goals::lines(&all) {
        say(&line);
    }
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_vec_pretty(&Value::Object(results))?)?;
    }
    Ok(())
}

fn compare(
    capture: &Capture,
    all: &[Contender],
    arguments: &Arguments,
) -> io::Result<(Results, Value)> {
    let all: Vec<&Contender> = all.iter().filter(|one| one.takes_part(capture.kind)).collect();
    let took = measure(capture, &all, arguments)?;
    say(&format!(
        "\n{}: {} packets, {} MB\n{:<24} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8}",
        capture.kind.name(),
        capture.packets,
        capture.bytes / 1_000_000,
        "",
        "cpu s",
        "wall s",
        "ns/pkt",
        "Mpkt/s",
        "× engine",
        "RSS MB",
        "foreign",
    ));
    let median = |took: &[Took], of: fn(&Took) -> f64| {
        let mut values: Vec<f64> = took.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let engine = all.iter().zip(&took).find(|(one, _)| one.name == "tcplab's engine");
    let engine = engine.map_or(f64::NAN, |(_, took)| median(took, |took| took.cpu));
    let (mut rows, mut figures) = (Vec::new(), Vec::new());
    for (contender, took) in all.iter().zip(&took) {
        let (cpu, wall) = (median(took, |took| took.cpu), median(took, |took| took.wall));
        let memory = median(took, |took| took.memory as f64) / 1024.0;
        let foreign = median(took, |took| took.foreign);
        let packets = capture.packets as f64;
        say(&format!(
            "{:<24} {cpu:>8.2} {wall:>8.2} {:>8.1} {:>8.2} {:>9.2} {memory:>8.1} {foreign:>8.2}",
            contender.name,
            cpu * 1e9 / packets,
            packets / cpu / 1e6,
            cpu / engine,
        ));
        figures.push(Figures { name: contender.name, cpu, wall, memory });
        rows.push(json!({
            "name": contender.name, "cpu_s": cpu, "wall_s": wall, "rss_mb": memory,
            "foreign_cpus": foreign, "runs": took.len(),
        }));
    }
    let json = json!({ "packets": capture.packets, "bytes": capture.bytes, "contenders": rows });
    let (kind, packets) = (capture.kind, capture.packets);
    Ok((Results { kind, connections: kind.connections(), packets, figures }, json))
}

/// What every run took, in the order of the contenders.
fn measure(
    capture: &Capture,
    all: &[&Contender],
    arguments: &Arguments,
) -> io::Result<Vec<Vec<Took>>> {
    let mut took: Vec<Vec<Took>> = vec![Vec::new(); all.len()];
    let work = arguments.folder.join("work");
    fs::create_dir_all(&work)?;
    let path = fs::canonicalize(&capture.path)?;
    for round in 0..arguments.rounds {
        for (contender, took) in all.iter().zip(&mut took) {
            if round == 0 || !contender.slow {
                took.push(process::run(&mut contender.command(&path), &work)?);
            }
        }
    }
    fs::remove_dir_all(&work)?;
    Ok(took)
}

/// One line of the table.
fn say(line: &str) {
    // A closed pipe does not stop the measurement: `--json` may be given.
    let _ = writeln!(io::stdout(), "{line}");
}
