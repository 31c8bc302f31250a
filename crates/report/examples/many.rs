//! Writes large pages, to measure them: `cargo run --release -p tcplab-report
//! --example many -- segments 5000000 OUT.html` the page of a trace with so many segments, and
//! `-- trials 200 OUT` the report of so many made-up trials, one file or a folder.
#![expect(clippy::print_stdout, reason = "an example is a small program")]

#[path = "../tests/pages/synthetic/mod.rs"]
mod synthetic;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant as Clock;

use tcplab_report::{CaptureSums, GraphChoice, ONE_FILE, ShownConnection, TracePage};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, count, out] = arguments.as_slice() else {
        return Err("usage: many segments|trials N OUT".into());
    };
    let count: usize = count.parse()?;
    let began = Clock::now();
    match what.as_str() {
        "segments" => segments(count, out)?,
        _ => trials(count, Path::new(out))?,
    }
    println!("written in {:.2} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn segments(count: usize, out: &str) -> Result<(), Box<dyn std::error::Error>> {
    let trace = synthetic::large(count);
    let shown = ShownConnection {
        index: 0,
        connection: &trace.connections[0],
        findings: &[],
        packets: &[],
    };
    let began = Clock::now();
    let page = TracePage {
        name: "many segments",
        trace: &trace,
        sums: &CaptureSums::of(&trace.connections),
        shown: &[shown],
        choice: &GraphChoice::default(),
    };
    let mut file = BufWriter::new(File::create(out)?);
    tcplab_report::write_trace(&page, &mut file)?;
    file.flush()?;
    println!("the page alone in {:.2} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn trials(count: usize, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let (run, recordings) = synthetic::many(count);
    let load = |trial: &tcplab_results::Trial| -> Result<_, String> {
        Ok(recordings[trial.number as usize % recordings.len()].1.clone())
    };
    if count <= ONE_FILE {
        tcplab_report::write(&run, load, &mut BufWriter::new(File::create(out)?))?;
    } else {
        tcplab_report::write_folder(&run, load, out)?;
    }
    Ok(())
}
