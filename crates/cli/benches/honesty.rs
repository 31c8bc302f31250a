//! `make stats-honesty`: whether `tcplab compare` keeps its promises, on transfers of the
//! simulator.
//!
//! The same scenario with a thousand pairs of seeds must be called different in 6 % of all
//! comparisons at most, all metrics together; and a transfer time that was made 3 % longer must be
//! found in nine of ten of the comparisons that say that they could find it. Everything runs in
//! virtual time from fixed seeds, so the figures are the same on every machine.

#![expect(clippy::print_stdout, reason = "figures for whoever runs it")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use tcplab_lab::compare::{Asked, Comparison, Metrics, Threshold, compare_runs};
use tcplab_lab::{Bench, Plan, Run, World, analyse, begin, execute, plan};
use tcplab_scenario::Scenario;
use tcplab_testbed::Launcher;

/// Cheap, with random loss: a few of the packets of each transfer, and now and then a SYN.
const SCENARIO: &str = r#"
title = "A small transfer with random loss"

[path]
rate  = "2 Mbit/s"
delay = "5 ms"
loss  = "1 %"

[client]
stack = "model:linux-6.18"

[server]
stack = "model:linux-6.18"

[workload]
upload = "20 kB"
"#;

/// Comparisons of the same with itself, and trials on each side of one.
const SAME: (usize, usize) = (1_000, 8);
/// Comparisons with something that is planted, and trials on each side.
const PLANTED: (usize, usize) = (400, 20);
/// By what the planted transfer time is longer.
const LONGER: f64 = 0.03;
/// Bounds of the promises.
const MOST_FALSE_ALARMS: f64 = 0.06;
const LEAST_FOUND: f64 = 0.90;
/// So many trials are run at once, in one run directory.
const BATCH: usize = 800;

fn main() -> ExitCode {
    match measured() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("it could not be measured: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measured() -> Result<bool> {
    let same = false_alarms()?;
    let found = planted()?;
    println!("{}", if same && found { "both promises are kept" } else { "a promise is broken" });
    Ok(same && found)
}

/// A against A.
fn false_alarms() -> Result<bool> {
    let (comparisons, trials) = SAME;
    let asked = Asked { threshold: Threshold::Share(0.0), ..Asked::default() };
    let (mut alarms, mut alone, mut tests) = (0, 0, 0);
    each(comparisons, trials, 1, |a, b| {
        let found = compared(a, b, &asked)?;
        alarms += usize::from(found.rows.iter().any(tcplab_lab::compare::Row::is_different));
        alone += found.rows.iter().filter(|row| row.p <= 0.05).count();
        tests += found.tests;
        Ok(())
    })?;
    let share = alarms as f64 / comparisons as f64;
    println!(
        "A against A, {trials} trials each: {alarms} of {comparisons} comparisons call something \
         different ({:.1} %; at most {:.0} %)",
        share * 100.0,
        MOST_FALSE_ALARMS * 100.0
    );
    println!(
        "  of {tests} single tests, without correction, {alone} ({:.1} %)",
        alone as f64 / tests.max(1) as f64 * 100.0
    );
    Ok(share <= MOST_FALSE_ALARMS)
}

/// B is A, but takes longer.
fn planted() -> Result<bool> {
    let (comparisons, trials) = PLANTED;
    let metrics = Metrics::Named(vec!["transfer_time".into()]);
    let asked = Asked { metrics, threshold: Threshold::Share(0.0), ..Asked::default() };
    let (mut could, mut found_then, mut found_all) = (0, 0, 0);
    each(comparisons, trials, 1_000_000, |a, b| {
        let times = b.cases.iter_mut().flat_map(|case| &mut case.trials);
        let times = times.flat_map(|trial| &mut trial.metrics);
        for time in times.filter(|metric| metric.name == "transfer_time") {
            time.value *= 1.0 + LONGER;
        }
        let found = compared(a, b, &asked)?;
        for row in &found.rows {
            let is_found = row.is_different() && row.difference > 0.0;
            found_all += usize::from(is_found);
            let says_so = row.detectable.and_then(|amount| row.relative(amount));
            if says_so.is_some_and(|share| share <= LONGER) {
                could += 1;
                found_then += usize::from(is_found);
            }
        }
        Ok(())
    })?;
    let share = found_then as f64 / could.max(1) as f64;
    println!(
        "transfer time {:.0} % longer, {trials} trials each: {could} of {comparisons} comparisons \
         say they could find that, of these {found_then} do ({:.1} %; at least {:.0} %)",
        LONGER * 100.0,
        share * 100.0,
        LEAST_FOUND * 100.0
    );
    println!("  of all {comparisons}, {found_all} do");
    // Who never says that anything could be found keeps any promise.
    Ok(share >= LEAST_FOUND && could * 4 >= comparisons)
}

fn compared(a: &Run, b: &Run, asked: &Asked) -> Result<Comparison> {
    Ok(compare_runs((Path::new("A"), a), (Path::new("B"), b), asked)?)
}

/// Runs so many comparisons with fresh seeds, from `seed` on, and hands over both sides of each.
fn each(
    comparisons: usize,
    trials: usize,
    seed: u64,
    mut tell: impl FnMut(&Run, &mut Run) -> Result<()>,
) -> Result<()> {
    let at_once = (BATCH / (2 * trials)).max(1);
    let mut done = 0;
    while done < comparisons {
        let now = at_once.min(comparisons - done);
        let run = simulated(2 * trials * now, seed + done as u64)?;
        for chunk in 0..now {
            let side = |side: usize| {
                let mut part = run.clone();
                let first = (2 * chunk + side) * trials;
                for case in &mut part.cases {
                    case.trials = case.trials[first..first + trials].to_vec();
                }
                part
            };
            tell(&side(0), &mut side(1))?;
        }
        done += now;
    }
    Ok(())
}

/// A run of so many trials; its recordings are not kept.
fn simulated(trials: usize, seed: u64) -> Result<Run> {
    let scenario = Scenario::parse(SCENARIO, "honesty")?;
    // Each trial is waited for until the disk has it: `TMPDIR=/dev/shm` takes a tenth of the time.
    let place = tempfile::tempdir()?;
    let instead = tcplab_lab::Instead { trials: Some(trials as u32), seed: Some(seed) };
    let plan = plan(&scenario, World::Sim, || None, instead)?;
    let run = begin(place.path(), scenario, Plan { snaplen: Some(96), ..plan })?;
    let nobody = Launcher { program: PathBuf::new(), arguments: Vec::new() };
    execute(&run, &Bench::new(nobody), &AtomicBool::new(false), |_| {})?;
    Ok(analyse(&run, |_, _| ControlFlow::Continue(()))?)
}
