//! `tcplab rfc6349`.

mod shown;
#[cfg(target_os = "linux")]
mod target;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tcplab_lab::advise::Situation;
use tcplab_lab::rfc6349::{Baseline, Row, Test, counts, rows, sum_up};
use tcplab_path::Direction;
use tcplab_quantities::RFC6349_DOCUMENT;
use tcplab_results::RunWorld;
use tcplab_scenario::Scenario;
use tcplab_units::number::Number;

use crate::arguments::{PathChoice, Rfc6349Arguments, World};
use crate::control::{self, Control};
use crate::output::{answer, answer_or_json, check_outputs};
use crate::path_choice;
use crate::remedied::Remedied;
use crate::run::launcher;
use crate::run_scenario::{ScenarioRun, run_scenario};
use crate::signals::stop_on_signals;

pub(crate) fn rfc6349(arguments: &Rfc6349Arguments) -> Result<ExitCode> {
    check_outputs([&arguments.results.json.place], Some(&arguments.results.runs))?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let control = control::started(arguments.control, &stop)?;
    let mut steps = Steps { arguments, stop: &stop, control };
    match arguments.target {
        #[cfg(target_os = "linux")]
        Some(address) => steps.of_target(address),
        #[cfg(not(target_os = "linux"))]
        Some(_) => Err(crate::elsewhere::needs_linux("a test of the path to another host")),
        None => steps.of_path(),
    }
}

/// The steps of a test, told as they are done.
struct Steps<'a> {
    arguments: &'a Rfc6349Arguments,
    stop: &'a Arc<AtomicBool>,
    control: Option<Control>,
}

impl Steps<'_> {
    #[cfg(target_os = "linux")]
    fn of_target(&mut self, address: SocketAddr) -> Result<ExitCode> {
        let Steps { arguments, stop, control } = self;
        let baseline = target::baseline(address, arguments, stop, control.as_mut())?;
        let title = format!("path to {address}, on this machine's kernel");
        self.tell_baseline(&title, &baseline)?;
        let Steps { arguments, stop, control } = self;
        let rows = target::rows(address, arguments, &baseline, stop, control.as_mut())?;
        self.end(&title, &baseline, &rows, &[])
    }

    fn of_path(&mut self) -> Result<ExitCode> {
        let arguments = self.arguments;
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
        if !has_rate(&test, arguments.world)? {
            let said = "the path has no rate, which alone limits a transfer in virtual time";
            return Err(Remedied::error(said, "add `-s rate=…`, such as `-s rate='10 Mbit/s'`"));
        }
        let total = if counts(test.connections).is_empty() { 2 } else { 3 };
        let ScenarioRun { directory, run: first, report } =
            self.run([1, total], "rfc6349-baseline", &test.baseline())?;
        let baseline = Baseline::of(&test.path, test.direction, test.lasting, &directory, &first)?;
        let baseline = baseline.with_context(|| {
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
        self.tell_baseline(&title, &baseline)?;
        let mut all: Vec<Row> = Vec::new();
        let mut reports: Vec<PathBuf> = vec![report];
        let several = test.several(&baseline).map(|source| ("rfc6349-connections", source));
        let windows = ("rfc6349-windows", test.windows(&baseline));
        for (index, (name, source)) in [windows].into_iter().chain(several).enumerate() {
            let ScenarioRun { directory, run, report } =
                self.run([index + 2, total], name, &source)?;
            let rows = rows(&test, &baseline, &directory, &run)?;
            if let Some(control) = &mut self.control {
                control.tell(&json!({ "event": "measured", "rows": rows }));
            }
            all.extend(rows);
            reports.push(report);
        }
        self.end(&title, &baseline, &all, &reports)
    }

    /// Runs a scenario, which is a part of so many.
    fn run(&mut self, [index, total]: [usize; 2], name: &str, source: &str) -> Result<ScenarioRun> {
        let Steps { arguments, stop, control } = self;
        if let Some(control) = control {
            control.part(index, Some(total), name);
        }
        let scenario = Scenario::parse(source, name)?;
        run_scenario(scenario, arguments.world, &arguments.results.runs, stop, control.as_mut())
    }

    fn tell_baseline(&mut self, title: &str, baseline: &Baseline) -> Result<()> {
        if let Some(control) = &mut self.control {
            let mut known = known(title, baseline);
            known["event"] = json!("baseline");
            control.tell(&known);
        } else if !self.arguments.results.json.is_printed() {
            answer(&shown::baseline(title, baseline))?;
        }
        Ok(())
    }

    /// Prints the result.
    fn end(
        &mut self,
        title: &str,
        baseline: &Baseline,
        rows: &[Row],
        reports: &[PathBuf],
    ) -> Result<ExitCode> {
        let summary = sum_up(baseline, rows);
        let mut all = known(title, baseline);
        all["rows"] = json!(rows);
        all["summary"] = json!(summary);
        all["reports"] = json!(reports);
        if let Some(control) = &mut self.control {
            control.result(&RFC6349_DOCUMENT, &all);
            return Ok(ExitCode::SUCCESS);
        }
        answer_or_json(&RFC6349_DOCUMENT, &self.arguments.results.json, &all, || {
            shown::outcome(baseline, rows, &summary, reports)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether something bounds what passes the path: its rate, or in real time this machine.
fn has_rate(test: &Test, world: World) -> Result<bool> {
    let is_virtual = match world {
        World::Sim => true,
        World::Kernel => false,
        World::Auto => tcplab_lab::kernel_refused(&launcher()?).is_some(),
    };
    // A path that cannot be is refused with its reason later.
    let situation = Situation::of_path(&test.path, test.direction.sender());
    Ok(!is_virtual || situation.is_none_or(|situation| situation.rate.is_some()))
}

/// What is known before the throughput is tested.
fn known(title: &str, baseline: &Baseline) -> Value {
    json!({
        "of": title, "baseline": baseline, "bdp_bytes": baseline.bdp().plain(),
        "best_bits_per_second": baseline.best().plain(),
    })
}
