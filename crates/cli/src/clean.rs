//! `tcplab clean`.

use std::fs;
use std::io::{ErrorKind, IsTerminal, stdin};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tcplab_lab::RunSize;
use tcplab_quantities::CLEAN_DOCUMENT;
use tcplab_units::{Bytes, rounded, visible_line};

use crate::arguments::CleanArguments;
use crate::exit::ERROR;
use crate::output::{answer, print_note, write_json};
use crate::print_error::print_error;
use crate::remedied::Remedied;

/// What `--captures` removes.
pub(crate) const PACKETS: &str = "captures, samples and the path's log";

/// Lists runs, and removes what is asked for.
pub(crate) fn clean(arguments: &CleanArguments) -> Result<ExitCode> {
    let removes = (arguments.captures || arguments.runs) && !arguments.dry_run;
    if removes && !arguments.yes && !stdin().is_terminal() {
        bail!("pass --yes to remove without asking, or --dry-run to see what would be removed");
    }
    let place = &arguments.place;
    if fs::symlink_metadata(place).is_err_and(|it| it.kind() == ErrorKind::NotFound) {
        return Err(Remedied::error(
            format!("no run of tcplab in {}: no such directory", place.display()),
            "pass the directory that has the runs: `tcplab clean DIR`",
        ));
    }
    let all = if place.join("plan.json").exists() {
        vec![RunSize::at(place)?]
    } else {
        RunSize::all(place)?
    };
    if all.is_empty() {
        bail!("no run of tcplab in {}", place.display());
    }
    let chosen: Vec<&RunSize> = all.iter().filter(|run| is_chosen(arguments, run)).collect();
    let is_text = !arguments.json.is_printed();
    if is_text {
        answer(&table(&chosen))?;
    }
    let untouched = |run: &&RunSize| Removed { bytes: 0, left: run.bytes, error: None };
    let mut removed: Vec<Removed> = chosen.iter().map(untouched).collect();
    if is_agreed(arguments, &chosen)? {
        removed = chosen.iter().map(|run| remove(arguments, run)).collect();
        if is_text {
            let sum = |of: fn(&Removed) -> u64| Bytes::new(removed.iter().map(of).sum());
            let [freed, left] = [sum(|it| it.bytes), sum(|it| it.left)].map(rounded::bytes);
            answer(&format!("removed {freed}; {left} left\n"))?;
        }
    }
    let runs: Vec<_> = chosen.iter().zip(&removed).collect();
    write_json(&CLEAN_DOCUMENT, &arguments.json, &document(arguments, &runs))?;
    let is_whole = removed.iter().all(|it| it.error.is_none());
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(ERROR) })
}

/// Whether something is to be removed. Says what, and asks where that is wanted.
fn is_agreed(arguments: &CleanArguments, chosen: &[&RunSize]) -> Result<bool> {
    if !arguments.captures && !arguments.runs {
        return Ok(false);
    }
    let freed: u64 = chosen.iter().map(|run| freed(arguments, run)).sum();
    let runs = rounded::counted(chosen.len(), "run", "runs");
    let what = if arguments.captures { format!("{PACKETS} of {runs}") } else { runs };
    let size = rounded::bytes(Bytes::new(freed));
    if arguments.dry_run {
        print_note(&format!("would remove {what}, {size}"));
        return Ok(false);
    }
    if freed == 0 {
        print_note("nothing to remove");
        return Ok(false);
    }
    let is_agreed = arguments.yes || ask(&format!("remove {what}, {size}?"))?;
    if !is_agreed {
        print_note("nothing was removed");
    }
    Ok(is_agreed)
}

/// What was removed of a run.
#[derive(Debug, Clone)]
struct Removed {
    bytes: u64,
    /// What the run takes since.
    left: u64,
    /// Why not all of it.
    error: Option<String>,
}

fn remove(arguments: &CleanArguments, run: &RunSize) -> Removed {
    let removed = if arguments.captures { run.remove_packets() } else { run.remove() };
    let after = RunSize::at(&run.path).ok();
    let left = after.as_ref().map_or(0, |after| after.bytes);
    match removed {
        Ok(bytes) => Removed { bytes, left, error: None },
        Err(error) => {
            let said = error.to_string();
            print_error(&error.into());
            // A part may be gone.
            let before = freed(arguments, run);
            let still = after.map_or(before, |after| freed(arguments, &after));
            Removed { bytes: before.saturating_sub(still), left, error: Some(said) }
        }
    }
}

/// What `--json` writes.
fn document(arguments: &CleanArguments, runs: &[(&&RunSize, &Removed)]) -> Value {
    let asked = match (arguments.captures, arguments.runs) {
        (true, _) => Some("captures"),
        (_, true) => Some("runs"),
        _ => None,
    };
    let removable = |run: &RunSize| asked.map(|_| freed(arguments, run));
    let all_removable = || runs.iter().map(|(run, _)| freed(arguments, run)).sum::<u64>();
    let of_run = |(run, removed): &(&&RunSize, &Removed)| {
        let RunSize { path, started, is_finished, bytes, packet_bytes } = run;
        json!({
            "path": path.to_string_lossy(),
            "started": started,
            "is_finished": is_finished,
            "size_bytes": bytes,
            "captures_bytes": packet_bytes,
            "removable_bytes": removable(run),
            "removed_bytes": removed.bytes,
            "left_bytes": removed.left,
            "error": removed.error,
        })
    };
    let sum = |of: fn(&RunSize) -> u64| -> u64 { runs.iter().map(|(run, _)| of(run)).sum() };
    json!({
        "asked_to_remove": asked,
        "is_dry_run": arguments.dry_run,
        "size_bytes": sum(|run| run.bytes),
        "captures_bytes": sum(|run| run.packet_bytes),
        "removable_bytes": asked.map(|_| all_removable()),
        "removed_bytes": runs.iter().map(|(_, removed)| removed.bytes).sum::<u64>(),
        "left_bytes": runs.iter().map(|(_, removed)| removed.left).sum::<u64>(),
        "runs": runs.iter().map(of_run).collect::<Vec<_>>(),
    })
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
fn ask(question: &str) -> Result<bool> {
    print_note(&format!("{question} [y/N]"));
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// A line for each run, the oldest first, and the sum.
fn table(runs: &[&RunSize]) -> String {
    let size = |bytes: u64| rounded::bytes(Bytes::new(bytes));
    let mut text = format!("{:>9}  {:>13}  {:<16}  run\n", "size", "captures etc.", "started");
    for run in runs {
        let started = visible_line(run.started.get(..16).unwrap_or(&run.started)).replace('T', " ");
        let state = if run.is_finished { "" } else { "  (unfinished)" };
        text += &format!(
            "{:>9}  {:>13}  {started:<16}  {}{state}\n",
            size(run.bytes),
            size(run.packet_bytes),
            shown(&run.path)
        );
    }
    let sum = |of: fn(&RunSize) -> u64| size(runs.iter().map(|run| of(run)).sum());
    let all = rounded::counted(runs.len(), "run", "runs");
    text + &format!(
        "{:>9}  {:>13}  {:<16}  {all}\n",
        sum(|run| run.bytes),
        sum(|run| run.packet_bytes),
        ""
    )
}

fn shown(path: &Path) -> String {
    visible_line(&path.strip_prefix(".").unwrap_or(path).to_string_lossy()).into_owned()
}
