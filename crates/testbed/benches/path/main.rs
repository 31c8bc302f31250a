//! The data plane side by side with plain veth pairs, and against the clock.
//!
//! `make bench-path`, or `cargo bench -p tcplab-testbed --bench path -- [--json FILE] [--rounds N]
//! [--seconds S] [--only 'NAME;NAME…']`. Rounds are interleaved, so whatever else the machine does
//! meets all contenders alike; medians are compared, and the processor time that others took is
//! told. Everything happens in network namespaces of its own. With `MAHIMAHI=/path/to/mm-delay`,
//! that takes part, too.

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

use serde_json::{Map, Value};
use tcplab_testbed::workbench;

/// What was asked for on the command line.
pub(crate) struct Arguments {
    json: Option<PathBuf>,
    rounds: usize,
    seconds: f64,
    only: Option<String>,
}

impl Arguments {
    fn parse() -> Result<Arguments, String> {
        let mut arguments = Arguments { json: None, rounds: 5, seconds: 1.0, only: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--json" => arguments.json = Some(value()?.into()),
                "--rounds" => arguments.rounds = value()?.parse().map_err(|e| format!("{e}"))?,
                "--seconds" => arguments.seconds = value()?.parse().map_err(|e| format!("{e}"))?,
                "--only" => arguments.only = Some(value()?),
                // What cargo adds.
                "--bench" => {}
                other => return Err(format!("what is {other}?")),
            }
        }
        Ok(arguments)
    }

    /// Whether a section or contender of this name was asked for.
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.split(';').any(|part| name.contains(part)))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(task) = mahimahi::Task::from_arguments() {
        return Ok(task.run()?);
    }
    let arguments = Arguments::parse()?;
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
