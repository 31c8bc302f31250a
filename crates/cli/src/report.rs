//! `tcplab report`, and the report at the end of `tcplab run`.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use tcplab_actions::write_report;
use tcplab_lab::{RunDirectory, RunOutcome, RunSize, finish, packets_again};
use tcplab_report::claims_junit;
use tcplab_report::compare::tally;
use tcplab_results::{ClaimCounts, Run, Trial};
use tcplab_units::{Bytes, rounded};

use crate::annotations::annotate_run;
use crate::arguments::{ReportArguments, Shown};
use crate::clean::PACKETS;
use crate::exit::{ERROR, FAILED};
use crate::output::{Output, answer, print_note, write_file};
use crate::progress::Display;

pub(crate) fn report(arguments: &ReportArguments) -> Result<ExitCode> {
    let path = match &arguments.run {
        Some(path) => RunDirectory::named(path, &arguments.runs),
        None => RunDirectory::newest_finished(&arguments.runs, None).with_context(|| {
            format!(
                "no finished run below {}; pass a run directory or --runs DIR",
                arguments.runs.display()
            )
        })?,
    };
    let run = RunDirectory::open(&path)?;
    run.sweep()?;
    let mut display = Display::new();
    let never = AtomicBool::new(false);
    let finished = finish(&run, &never, |event| display.show(event), write_report);
    display.clear();
    let finished = finished?;
    if let Some(note) = without_packets(&run, &finished.run) {
        print_note(&note);
    }
    print_outcome(&run, &finished, &arguments.shown, false)
}

/// Which trials the report has no graphs of, and how to get them.
fn without_packets(directory: &RunDirectory, run: &Run) -> Option<String> {
    let trials = || run.cases.iter().flat_map(|case| &case.trials);
    let lack = |trial: &&Trial| !trial.has_packets && trial.medium.is_none();
    let lacking: Vec<&Trial> = trials().filter(lack).collect();
    let first = lacking.first()?;
    let again = packets_again(&directory.path().join(&first.directory))?;
    let (some, all) = (lacking.len(), trials().count());
    Some(format!(
        "no graphs of {some} of {all} trials, whose packets were removed or not kept; to see those \
         of {}, {again}",
        first.directory.trim_start_matches("trials/")
    ))
}

/// Prints the summary of a finished run, its claims alone if `quiet`, or its tables. The exit
/// code says whether it passed.
pub(crate) fn print_outcome(
    directory: &RunDirectory,
    outcome: &RunOutcome<PathBuf>,
    shown: &Shown,
    quiet: bool,
) -> Result<ExitCode> {
    let RunOutcome { run, report } = outcome;
    if let Some(place) = &shown.json.place {
        // Episodes and findings of the trials are on disk only.
        let tables = directory.path().join("run.json");
        let mut tables = File::open(&tables).context("cannot read the tables just written")?;
        let mut output = Output::create(place)?;
        io::copy(&mut tables, &mut output).context("cannot write the tables")?;
        output.commit()?;
    }
    if let Some(place) = &shown.junit {
        write_file(place, &claims_junit(run, shown.require_decision))?;
    }
    let is_printed = shown.json.is_printed()
        || shown.junit.as_ref().is_some_and(|place| place.as_os_str() == "-");
    if quiet && !is_printed {
        answer(&tcplab_report::claims(run))?;
    } else if !is_printed {
        let text = tcplab_report::text_table(run, shown.verbose);
        let tallies: String = run.comparisons.iter().map(|found| tally(found) + "\n").collect();
        let asked = tcplab_report::asked(run);
        answer(&format!("{text}\n{tallies}{asked}report: {}\n", report.display()))?;
        if let Ok(size) = RunSize::at(directory.path()) {
            print_note(&room(&size));
        }
    }
    if shown.annotate.is_some() {
        annotate_run(run, shown.require_decision);
    }
    Ok(code_of(run, shown.require_decision))
}

/// What a run takes of the disk.
fn room(size: &RunSize) -> String {
    let of = |bytes| rounded::bytes(Bytes::new(bytes));
    let (all, path) = (of(size.bytes), tcplab_path::tc::quoted_path(&size.path));
    match size.packet_bytes {
        0 => format!("size: {all}"),
        packets => format!(
            "size: {all}, of which {PACKETS} {}; remove them with: tcplab clean --captures {path}",
            of(packets)
        ),
    }
}

/// The exit code for the results of a run; `requires_decision` if a claim that is not judged has
/// failed.
pub(crate) fn code_of(run: &Run, requires_decision: bool) -> ExitCode {
    let is_whole = run.cases.iter().all(|case| case.failures.is_empty());
    let counts = ClaimCounts::of(&run.claims);
    let passed = counts.failed == 0 && (counts.not_judged == 0 || !requires_decision);
    match (is_whole, passed) {
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(FAILED),
        // The tables name the trials that failed.
        (false, _) => ExitCode::from(ERROR),
    }
}
