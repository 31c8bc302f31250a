//! `tcplab report`, and what `tcplab run` ends with.

use std::ops::ControlFlow;
use std::process::ExitCode;

use anyhow::{Context, Result};
use tcplab_lab::{Run, RunDirectory};

use crate::BROKEN;
use crate::arguments::{ReportArguments, Shown};
use crate::output::answer;
use crate::progress::Display;

pub(crate) fn report(arguments: &ReportArguments) -> Result<ExitCode> {
    let path = match &arguments.run {
        Some(path) => path.clone(),
        None => RunDirectory::newest_finished(&arguments.runs, None).with_context(|| {
            format!("{} holds no finished run: name one", arguments.runs.display())
        })?,
    };
    let run = RunDirectory::open(&path)?;
    let display = Display::new(tcplab_units::Bytes::ZERO);
    let result = tcplab_lab::analyse(&run, |done, total| {
        display.analysing(done, total);
        ControlFlow::Continue(())
    });
    display.clear();
    write_and_print(&run, &result?, arguments.shown)
}

/// Writes tables and report of a finished run and prints its summary.
pub(crate) fn write_and_print(run: &RunDirectory, result: &Run, shown: Shown) -> Result<ExitCode> {
    let html = tcplab_report::render(result, |trial| tcplab_lab::load_trial(run, trial))
        .context("cannot make the report")?;
    let place = run.replace("report.html", html.as_bytes())?;
    tcplab_lab::write_tables(run, result)?;
    let mut text = if shown.json {
        serde_json::to_string_pretty(result)?
    } else {
        tcplab_report::text_table(result, shown.details)
    };
    text.push('\n');
    if !shown.json {
        text += &format!("report: {}\n", place.display());
    }
    answer(&text)?;
    let held = result.claims.iter().all(|claim| claim.held);
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
}
