//! `tcplab rfc6349`.

mod shown;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use serde_json::json;
use tcplab_lab::rfc6349::{Baseline, Row, Test, rows, sum_up};
use tcplab_lab::{Run, RunDirectory};
use tcplab_path::Direction;
use tcplab_scenario::Scenario;

use crate::arguments::{PathChoice, Rfc6349Arguments};
use crate::conduct::conduct;
use crate::output::answer;
use crate::paths;
use crate::run::stop_on_signals;

pub(crate) fn rfc6349(arguments: &Rfc6349Arguments) -> Result<ExitCode> {
    let choice = PathChoice {
        path: arguments.path.clone().unwrap_or_else(|| "-".into()),
        set: arguments.set.clone(),
    };
    let test = Test {
        path: paths::find(&choice)?.path,
        direction: if arguments.download { Direction::Reverse } else { Direction::Forward },
        lasting: arguments.lasting,
        trials: arguments.trials,
        connections: arguments.connections,
        congestion: arguments.congestion.clone(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let run = |name: &str, source: &str| -> Result<(RunDirectory, Run)> {
        let scenario = Scenario::parse(source, name)?;
        conduct(scenario, arguments.world, &arguments.runs, &stop)
    };
    let (directory, first) = run("rfc6349-baseline", &test.baseline())?;
    let baseline = Baseline::of(&test, &directory, &first)?.with_context(|| {
        format!(
            "too little came through this path to measure it: see {}",
            directory.path().join("report.html").display()
        )
    })?;
    if !arguments.json {
        let title = paths::description(&choice);
        answer(&shown::baseline(&title, &test, &baseline, &first.world))?;
    }
    let mut all: Vec<Row> = Vec::new();
    let mut reports: Vec<PathBuf> = vec![directory.path().join("report.html")];
    for (name, source) in [
        ("rfc6349-windows", test.windows(&baseline)),
        ("rfc6349-connections", test.several(&baseline)),
    ] {
        let (directory, run) = run(name, &source)?;
        all.extend(rows(&test, &baseline, &directory, &run)?);
        reports.push(directory.path().join("report.html"));
    }
    let said = sum_up(&baseline, &all);
    let text = if arguments.json {
        let all = json!({
            "path": paths::description(&choice), "world": first.world, "baseline": baseline,
            "bdp": baseline.bdp(), "best": baseline.best(), "rows": all, "summary": said,
            "reports": reports,
        });
        serde_json::to_string_pretty(&all)? + "\n"
    } else {
        shown::outcome(&baseline, &all, &said, &reports)
    };
    answer(&text)?;
    Ok(ExitCode::SUCCESS)
}
