//! `tcplab rfc6349`.

mod shown;
mod target;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use serde_json::json;
use tcplab_lab::rfc6349::{Baseline, Row, Test, rows, sum_up};
use tcplab_path::Direction;
use tcplab_quantities::RFC6349_DOCUMENT;
use tcplab_results::RunWorld;
use tcplab_scenario::Scenario;
use tcplab_units::number::Number;

use crate::arguments::{PathChoice, Rfc6349Arguments};
use crate::output::{answer, answer_or_json};
use crate::path_choice;
use crate::run_scenario::{ScenarioRun, run_scenario};
use crate::signals::stop_on_signals;

pub(crate) fn rfc6349(arguments: &Rfc6349Arguments) -> Result<ExitCode> {
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    match arguments.target {
        Some(address) => of_target(address, arguments, &stop),
        None => of_path(arguments, &stop),
    }
}

fn of_target(
    address: SocketAddr,
    arguments: &Rfc6349Arguments,
    stop: &AtomicBool,
) -> Result<ExitCode> {
    let baseline = target::baseline(address, arguments, stop)?;
    let title = format!("path to {address}, on this machine's kernel");
    if !arguments.results.json.is_printed() {
        answer(&shown::baseline(&title, &baseline))?;
    }
    let rows = target::rows(address, arguments, &baseline, stop)?;
    show(arguments, &title, &baseline, &rows, &[])
}

/// Prints the result.
fn show(
    arguments: &Rfc6349Arguments,
    title: &str,
    baseline: &Baseline,
    rows: &[Row],
    reports: &[PathBuf],
) -> Result<ExitCode> {
    let summary = sum_up(baseline, rows);
    let all = json!({
        "of": title, "baseline": baseline, "bdp_bytes": baseline.bdp().plain(),
        "best_bits_per_second": baseline.best().plain(),
        "rows": rows, "summary": summary, "reports": reports,
    });
    answer_or_json(&RFC6349_DOCUMENT, &arguments.results.json, &all, || {
        shown::outcome(baseline, rows, &summary, reports)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn of_path(arguments: &Rfc6349Arguments, stop: &Arc<AtomicBool>) -> Result<ExitCode> {
    let choice = PathChoice {
        path: arguments.path.clone().unwrap_or_else(|| "-".into()),
        set: arguments.set.clone(),
    };
    let test = Test {
        path: path_choice::find(&choice)?.path,
        direction: if arguments.download { Direction::Reverse } else { Direction::Forward },
        lasting: arguments.duration,
        trials: arguments.trials,
        connections: arguments.connections,
        congestion: arguments.congestion.clone(),
    };
    let run = |name: &str, source: &str| -> Result<ScenarioRun> {
        let scenario = Scenario::parse(source, name)?;
        run_scenario(scenario, arguments.world, &arguments.results.runs, stop)
    };
    let ScenarioRun { directory, run: first, report } = run("rfc6349-baseline", &test.baseline())?;
    let baseline = Baseline::of(&test.path, test.direction, test.lasting, &directory, &first)?
        .with_context(|| {
            format!("the path delivered too little to measure: see {}", report.display())
        })?;
    let direction =
        if arguments.download { "from server to client" } else { "from client to server" };
    let world = if first.world == RunWorld::Simulated {
        "in virtual time"
    } else {
        "on this machine's kernel"
    };
    let title = format!("{}, {direction}, {world}", path_choice::description(&choice));
    if !arguments.results.json.is_printed() {
        answer(&shown::baseline(&title, &baseline))?;
    }
    let mut all: Vec<Row> = Vec::new();
    let mut reports: Vec<PathBuf> = vec![report];
    let several = test.several(&baseline).map(|source| ("rfc6349-connections", source));
    for (name, source) in [("rfc6349-windows", test.windows(&baseline))].into_iter().chain(several)
    {
        let ScenarioRun { directory, run, report } = run(name, &source)?;
        all.extend(rows(&test, &baseline, &directory, &run)?);
        reports.push(report);
    }
    show(arguments, &title, &baseline, &all, &reports)
}
