//! tshark on every capture of the corpus: header fields must be equal; differences of
//! classification are listed with reasons in `docs/differences-from-tshark.md`.
//!
//! Where tshark is not installed, the test says so and passes.

mod differences;
mod display_filters;
mod fields;
mod names;
mod oracle;
mod packet_bytes;
mod reasons;

use std::path::{Path, PathBuf};

use tcplab_trace::{Trace, analyze};

use differences::Differences;

use super::corpus;

fn captures() -> Vec<PathBuf> {
    let listed = std::fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path());
    let mut captures: Vec<PathBuf> =
        listed.filter(|path| path.to_str().unwrap().ends_with(".pcap.zst")).collect();
    captures.sort();
    assert!(captures.len() >= 16, "the corpus is not there");
    captures
}

fn name(capture: &Path) -> &str {
    capture.file_name().unwrap().to_str().unwrap().strip_suffix(".pcap.zst").unwrap()
}

fn trace(capture: &Path) -> Trace {
    analyze(tcplab_capture::open(capture).unwrap())
}

#[test]
fn tshark_fields_equal_and_differences_listed() {
    let Some(version) = oracle::version() else {
        eprintln!("skipped: tshark is not installed, nothing was compared");
        return;
    };
    let mut differences = Differences::default();
    for capture in captures() {
        let rows = oracle::rows(&capture);
        let trace = trace(&capture);
        fields::compare(&capture, &trace, &rows);
        differences.add(name(&capture), &trace, &rows);
    }
    differences.check(&version);
}
