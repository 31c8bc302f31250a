//! `tcplab clean`.

use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use tcplab_lab::RunSize;
use tcplab_units::{Bytes, rounded, visible_line};

use crate::arguments::CleanArguments;
use crate::exit::ERROR;
use crate::output::{answer, print_note};
use crate::print_error::print_error;

/// Lists runs, and removes what is asked for.
pub(crate) fn clean(arguments: &CleanArguments) -> Result<ExitCode> {
    let removes = (arguments.captures || arguments.runs) && !arguments.dry_run;
    if removes && !arguments.yes && !stdin().is_terminal() {
        bail!("pass --yes to remove without asking, or --dry-run to see what would be removed");
    }
    let place = &arguments.place;
    let all = if place.join("plan.json").exists() {
        vec![RunSize::at(place)?]
    } else {
        RunSize::all(place)?
    };
    if all.is_empty() {
        bail!("no run of tcplab in {}", place.display());
    }
    let chosen: Vec<&RunSize> = all.iter().filter(|run| is_chosen(arguments, run)).collect();
    answer(&table(&chosen))?;
    if !arguments.captures && !arguments.runs {
        return Ok(ExitCode::SUCCESS);
    }
    let freed: u64 = chosen.iter().map(|run| freed(arguments, run)).sum();
    let runs = rounded::counted(chosen.len(), "run", "runs");
    let what = if arguments.captures { format!("the captures of {runs}") } else { runs };
    let size = rounded::bytes(Bytes::new(freed));
    if arguments.dry_run {
        print_note(&format!("would remove {what}, {size}"));
        return Ok(ExitCode::SUCCESS);
    }
    if freed == 0 {
        print_note("nothing to remove");
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes && !is_agreed(&format!("remove {what}, {size}?"))? {
        print_note("nothing was removed");
        return Ok(ExitCode::SUCCESS);
    }
    remove(arguments, &chosen)
}

fn remove(arguments: &CleanArguments, chosen: &[&RunSize]) -> Result<ExitCode> {
    let (mut freed, mut failed) = (0, false);
    for run in chosen {
        let removed = if arguments.captures { run.remove_packets() } else { run.remove() };
        match removed {
            Ok(bytes) => freed += bytes,
            Err(error) => {
                print_error(&error.into());
                failed = true;
            }
        }
    }
    answer(&format!("removed {}\n", rounded::bytes(Bytes::new(freed))))?;
    Ok(if failed { ExitCode::from(ERROR) } else { ExitCode::SUCCESS })
}

/// What removing would free of a run.
fn freed(arguments: &CleanArguments, run: &RunSize) -> u64 {
    if arguments.captures { run.packet_bytes } else { run.bytes }
}

fn is_chosen(arguments: &CleanArguments, run: &RunSize) -> bool {
    let is_old = arguments.older_than.is_none_or(|age| run.age() >= age);
    let least = arguments.larger_than.map_or(0, Bytes::as_u64);
    is_old && (least == 0 || freed(arguments, run) > least)
}

/// Asks on the terminal.
fn is_agreed(question: &str) -> Result<bool> {
    print_note(&format!("{question} [y/N]"));
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// A line for each run, the oldest first, and the sum.
fn table(runs: &[&RunSize]) -> String {
    let size = |bytes: u64| rounded::bytes(Bytes::new(bytes));
    let mut text = format!("{:>9}  {:>9}  {:<16}  run\n", "size", "captures", "started");
    for run in runs {
        let started = visible_line(run.started.get(..16).unwrap_or(&run.started)).replace('T', " ");
        let state = if run.is_finished { "" } else { "  (unfinished)" };
        text += &format!(
            "{:>9}  {:>9}  {started:<16}  {}{state}\n",
            size(run.bytes),
            size(run.packet_bytes),
            shown(&run.path)
        );
    }
    let sum = |of: fn(&RunSize) -> u64| size(runs.iter().map(|run| of(run)).sum());
    let all = rounded::counted(runs.len(), "run", "runs");
    text + &format!(
        "{:>9}  {:>9}  {:<16}  {all}\n",
        sum(|run| run.bytes),
        sum(|run| run.packet_bytes),
        ""
    )
}

fn shown(path: &Path) -> String {
    visible_line(&path.strip_prefix(".").unwrap_or(path).to_string_lossy()).into_owned()
}
