//! The data plane side by side with plain veth pairs, and against the clock.
//!
//! `make bench-path`, or `cargo bench -p tcplab-testbed --bench path -- --help`. Rounds are
//! interleaved, so other load meets all contenders alike; medians are compared, and the processor
//! time of others is reported. Everything runs in network namespaces of its own. With
//! `MAHIMAHI=/path/to/mm-delay`, that takes part, too.

mod clock;
mod delay;
mod goodput;
mod mahimahi;
mod rate;
mod setting;
mod streams;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Parser;
use serde_json::{Map, Value};
use tcplab_testbed::workbench;

/// The data plane side by side with plain veth pairs, and against the clock.
#[derive(clap::Parser)]
pub(crate) struct Arguments {
    /// File for the results.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    seconds: f64,
    /// Only sections and contenders with one of these (separated by `;`) in their names.
    #[arg(long, value_name = "NAME", value_delimiter = ';')]
    only: Vec<String>,
    /// Passed by cargo.
    #[arg(long = "bench", hide = true)]
    _bench: bool,
}

impl Arguments {
    /// Whether a section or contender of this name was asked for.
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(task) = mahimahi::Task::from_arguments() {
        return Ok(task.run()?);
    }
    let arguments = Arguments::parse();
    workbench::isolate()?;
    let mut results = Map::new();
    results.insert("goodput".into(), goodput::compare(&arguments)?);
    if arguments.wants("delay") {
        results.insert("delay".into(), delay::measure(&arguments)?);
    }
    if arguments.wants("rate") {
        results.insert("rate".into(), rate::measure()?);
    }
    results.insert("memory".into(), memory()?);
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_vec_pretty(&Value::Object(results))?)?;
    }
    Ok(())
}

/// One line of the table.
pub(crate) fn say(line: &str) {
    // Nobody listening is no reason to stop measuring: `--json` may still be.
    let _ = writeln!(io::stdout(), "{line}");
}

fn memory() -> io::Result<Value> {
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
    say(&format!("\nLargest resident memory, of all of the above in one process: {peak}"));
    Ok(Value::from(peak))
}
