//! `make path-accuracy`: the elements of a path beside the queueing disciplines of a Linux kernel
//! in virtual time, quantity by quantity.
//!
//! With names, runs only cases whose element contains one of them; `TCP` is part of those under
//! transfers of TCP. `--kernel NAME` takes that image in place of the newest, `--seed N` another
//! seed for the kernel's random numbers, `--packets N` so many thousands of packets for each random
//! element.

#![expect(clippy::print_stdout, reason = "a table for whoever runs it")]

mod closed;
#[path = "../../tests/guests/qdiscs/mod.rs"]
mod qdiscs;

use std::process::{Command, ExitCode, Stdio};

use qdiscs::cases::{Case, cases, under_tcp};
use qdiscs::crossing::Crossing;
use qdiscs::kernel;
use qdiscs::off::{self, Off};
use qdiscs::quantity::{Row, compare};

fn main() -> ExitCode {
    let options = Options::parse(std::env::args().skip(1));
    let cases: Vec<Case> =
        cases(options.packets).into_iter().filter(|case| options.wants(case.element)).collect();
    match options.crossings(&cases) {
        Ok(crossings) => {
            let pairs = cases.iter().zip(&crossings);
            let mut rows: Vec<Row> =
                pairs.flat_map(|(case, kernel)| compare(case, kernel)).collect();
            rows.extend(options.under_tcp());
            let is_right = show(&rows);
            let is_seen = show_off(&off::compared(&cases, &crossings));
            if is_right && is_seen { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            println!("cannot run here: {why}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    names: Vec<String>,
    kernel: String,
    seed: u64,
    packets: usize,
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Options {
        let mut options =
            Options { names: Vec::new(), kernel: "newest".into(), seed: 1, packets: 20 };
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_default();
            match word.as_str() {
                // Cargo says it.
                "--bench" => {}
                "--kernel" => options.kernel = value(),
                "--seed" => options.seed = value().parse().expect("a whole number"),
                "--packets" => options.packets = value().parse().expect("thousands of packets"),
                _ => options.names.push(word),
            }
        }
        options
    }

    fn wants(&self, element: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| element.contains(name.as_str()))
    }

    fn kernel(&self) -> String {
        format!("linux-{}", self.kernel)
    }

    /// Queues under transfers of TCP.
    fn under_tcp(&self) -> Vec<Row> {
        let cases =
            under_tcp().into_iter().filter(|case| self.wants(&format!("TCP {}", case.element)));
        let rows = cases.flat_map(|case| {
            closed::rows(&case, &self.kernel())
                .unwrap_or_else(|why| panic!("{}: {why}", case.element))
        });
        rows.collect()
    }

    /// What the kernel does to the packets of each case.
    fn crossings(&self, cases: &[Case]) -> Result<Vec<Crossing>, String> {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        kernel::prepare(place.path(), cases);
        let kernel = self.kernel();
        let output = Command::new(env!("CARGO_BIN_EXE_tcplab"))
            .args(["shell", "-q", "--near", &kernel, "--far", &kernel, "-s", "delay=1 ms"])
            .args(["--seed", &self.seed.to_string(), "--capture", kernel::CAPTURE])
            .args(["--", "sh", "guest.sh"])
            .current_dir(&place)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(kernel::crossings(place.path(), cases))
    }
}

/// Prints the table; whether there is no difference but those that are known.
fn show(rows: &[Row]) -> bool {
    println!("| element | quantity | tcplab | kernel | distance | bound | verdict |");
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        let Row { element, quantity, values: [ours, theirs], distance, known } = row;
        let verdict = match (distance.passes(), known) {
            (true, _) => "same".to_owned(),
            (false, Some(why)) => format!("differs: {why}"),
            (false, None) => "**differs**".to_owned(),
        };
        println!(
            "| {element} | {quantity} | {ours} | {theirs} | {} | {} | {verdict} |",
            significant(distance.is),
            significant(distance.at_most)
        );
    }
    !rows.iter().any(Row::is_unexpected)
}

/// Prints what shows that keys are off; whether something does for each.
fn show_off(off: &[Off]) -> bool {
    println!("\n| element | keys that are off | shown by | distance / bound |");
    println!("|---|---|---|---|");
    let mut is_seen = true;
    for Off { element, keys, rows } in off {
        let excess = |row: &Row| row.distance.is / row.distance.at_most.max(f64::MIN_POSITIVE);
        let seen = rows.iter().filter(|row| row.is_unexpected());
        let keys = keys.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(row) = seen.max_by(|one, other| excess(one).total_cmp(&excess(other))) {
            let [is, most] = [row.distance.is, row.distance.at_most].map(significant);
            println!("| {element} | `{keys}` | {} | {is} / {most} |", row.quantity);
        } else {
            println!("| {element} | `{keys}` | **nothing** | |");
            is_seen = false;
        }
    }
    is_seen
}

/// Three digits of it.
fn significant(number: f64) -> String {
    match number {
        0.0 => "0".into(),
        100.0.. => format!("{number:.0}"),
        1.0.. => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}
