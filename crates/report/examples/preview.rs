//! Writes a report of a made-up run, to look at the page while working on it:
//! `cargo run -p tcplab-report --example preview -- OUT.html`.
#![expect(clippy::print_stdout, reason = "an example is a small program")]

#[path = "../tests/pages/synthetic/mod.rs"]
mod synthetic;

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: preview OUT.html")?;
    let (run, recordings) = synthetic::run(5);
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path)?);
    tcplab_report::write(&run, synthetic::load(&recordings), &mut out)?;
    out.flush()?;
    print!("{}", tcplab_report::text_table(&run, false));
    Ok(())
}
