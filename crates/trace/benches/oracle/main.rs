//! What tcplab, tshark and tcptrace find in a folder of captures, and where they differ.
//!
//! `make oracle DIR=FOLDER`, or `cargo bench -p tcplab-trace --bench oracle -- [--json FILE]
//! [--page FILE] [--frames N] FOLDER|FILE…`. Every capture below the folders is read by each
//! program that is installed. Connections, data bytes, retransmissions and resets are compared, and
//! what each of tcplab and tshark calls a packet. A difference with a known reason
//! ([`reasons`]; `docs/differences-from-tshark.md`) is counted, one without is listed with its
//! frames. The exit status is 1 if there is one.
#![expect(clippy::print_stderr, reason = "a benchmark reports its errors")]

mod compare;
mod found;
#[path = "../../tests/corpus/tshark/names.rs"]
mod names;
mod page;
mod print;
mod reasons;
mod tcplab;
mod tcptrace;
mod tshark;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use compare::Comparison;

/// What the command line asks for.
pub(crate) struct Arguments {
    json: Option<PathBuf>,
    /// For the sums and kinds of differences as a page of the docs.
    page: Option<PathBuf>,
    /// The most frames listed of a difference.
    frames: usize,
    places: Vec<PathBuf>,
}

impl Arguments {
    fn parse() -> Result<Arguments, String> {
        let mut arguments = Arguments { json: None, page: None, frames: 12, places: Vec::new() };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--json" => arguments.json = Some(value()?.into()),
                "--page" => arguments.page = Some(value()?.into()),
                "--frames" => arguments.frames = value()?.parse().map_err(|e| format!("{e}"))?,
                // Cargo adds it.
                "--bench" => {}
                option if option.starts_with('-') => {
                    return Err(format!("no such option: {option}"));
                }
                place => arguments.places.push(place.into()),
            }
        }
        if arguments.places.is_empty() {
            return Err("name a folder with captures: make oracle DIR=FOLDER".into());
        }
        Ok(arguments)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Whether every difference has a known reason.
fn run() -> Result<bool, Box<dyn std::error::Error>> {
    let arguments = Arguments::parse()?;
    let version = tshark::version().ok_or("tshark is not installed")?;
    let mut captures = Vec::new();
    for place in &arguments.places {
        list(place, &mut captures).map_err(|error| format!("{}: {error}", place.display()))?;
    }
    captures.sort();
    let mut all = in_parallel(&captures);
    all.retain(|comparison| comparison.is_capture);
    if let Some(file) = &arguments.json {
        std::fs::write(file, serde_json::to_vec_pretty(&print::json(&all))?)?;
    }
    if let Some(file) = &arguments.page {
        std::fs::write(file, page::page(&all, &arguments.places, &version))?;
    }
    Ok(print::text(&all, &version, arguments.frames))
}

fn list(place: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !place.is_dir() {
        into.push(place.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(place)? {
        let entry = entry?;
        // Links may lead round in a circle.
        if !entry.file_type()?.is_symlink() {
            list(&entry.path(), into)?;
        }
    }
    Ok(())
}

/// Compares all captures, as many at a time as there are processors.
fn in_parallel(captures: &[PathBuf]) -> Vec<Comparison> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(capture) = captures.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let comparison = compare::capture(capture);
                    done.lock().expect("no thread panics").push(comparison);
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by(|one, other| one.path.cmp(&other.path));
    done
}
