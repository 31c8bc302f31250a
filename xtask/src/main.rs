//! Tasks of the repository itself, for its developers: `cargo xtask <task>`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool at the terminal speaks by printing"
)]

mod book;
mod dependencies;
mod dist;
mod documents;
mod licences;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

const HELP: &str = "\
Tasks of the repository itself.

Usage: cargo xtask <task>

Tasks:
  tidy      check the rules no compiler knows: lengths, dead files, banned calls, layering, layout
  licences  check what we are built from: licences, sources, versions
  dist [SYSTEM …] [--check]
            build what is handed out, in target/packages; --check builds twice and compares
  documents [SCENARIO …]
            measure the pages of docs/documents again: what is missing, old, or named here
  book      as mdBook's preprocessor: links to files that are not in the book become their names
  help      print this
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::from(2)
    })
}

fn run(arguments: &[&str]) -> anyhow::Result<ExitCode> {
    match arguments {
        [] | ["help" | "-h" | "--help"] => print!("{HELP}"),
        ["tidy"] => return run_tidy(),
        ["dist", arguments @ ..] => dist::make(&repository()?, arguments)?,
        ["documents", named @ ..] => documents::make(&repository()?, named)?,
        ["book"] => book::rewrite()?,
        // mdBook asks whether it serves an output: it serves all.
        ["book", "supports", _] => {}
        ["licences"] => return run_licences(),
        other => anyhow::bail!("no task is called `{}`\n\n{HELP}", other.join(" ")),
    }
    Ok(ExitCode::SUCCESS)
}

fn run_tidy() -> anyhow::Result<ExitCode> {
    let repository = repository()?;
    let report = tidy::check(&repository)?;
    let pages = documents::check(&repository)?;
    for (file, what) in &pages {
        println!("{}: {what}", file.display());
    }
    for violation in &report.violations {
        println!("{violation}");
    }
    let violations = report.violations.len() + pages.len();
    match violations {
        0 => println!("tidy: {} files, nothing to remark", report.files),
        1 => println!("tidy: 1 violation in {} files", report.files),
        count => println!("tidy: {count} violations in {} files", report.files),
    }
    Ok(if violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run_licences() -> anyhow::Result<ExitCode> {
    let (complaints, crates) = licences::check(&repository()?)?;
    for complaint in &complaints {
        println!("{complaint}");
    }
    println!("licences: {crates} crates, {} not acceptable", complaints.len());
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The folder above xtask's own, so that a task does the same wherever it is called from.
fn repository() -> anyhow::Result<PathBuf> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("CARGO_MANIFEST_DIR is not set: call this as `cargo xtask`")?;
    let repository = PathBuf::from(manifest).join("..");
    repository.canonicalize().with_context(|| format!("cannot find {}", repository.display()))
}
