//! `make stats-honesty`: checks the error rates of `tcplab compare` on simulated transfers.
//!
//! Over a thousand pairs of seeds of one scenario, at most 6 % of all comparisons may find a
//! difference (all metrics together). A transfer time that is 3 % longer must be found in nine of
//! ten comparisons whose minimum detectable difference allows it. Virtual time and fixed seeds give
//! equal figures on every machine.

#![expect(clippy::print_stdout, reason = "figures for whoever runs it")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use tcplab_lab::compare::{Asked, Metrics, Threshold, compare_runs};
use tcplab_lab::{Bench, Overrides, Plan, begin, complete, no_report, plan};
use tcplab_results::comparison::Comparison;
use tcplab_results::{Run, Trial};
use tcplab_scenario::{Scenario, metrics};
use tcplab_testbed::Launcher;

/// Short transfers with random loss of a few packets, sometimes of a SYN. Jitter makes transfer
/// times differ; without it most would be equal, and no difference could be tested.
const SCENARIO: &str = r#"
title    = "A small transfer with random loss"
path     = { rate = "2 Mbit/s", delay = "5 ms", loss = "1 %", jitter = { uniform = "2 ms" } }
client   = { stack = "model:linux-6.18" }
server   = { stack = "model:linux-6.18" }
workload = { upload = "20 kB" }
"#;

/// Comparisons of equal distributions, and trials on each side of each.
const SAME: (usize, usize) = (1_000, 8);
/// Comparisons with a planted difference, and trials on each side; from the same trials.
const PLANTED: (usize, usize) = (200, 40);
/// The planted relative difference of the transfer time.
const LONGER: f64 = 0.03;
const MOST_FALSE_ALARMS: f64 = 0.06;
const LEAST_FOUND: f64 = 0.90;
/// Trials of one run directory.
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
    let most = [SAME, PLANTED].map(|(comparisons, trials)| 2 * comparisons * trials);
    let all = simulated(most[0].max(most[1]))?;
    let same = false_alarms(&all)?;
    let found = planted(&all)?;
    println!("{}", if same && found { "both promises are kept" } else { "a promise is broken" });
    Ok(same && found)
}

/// Compares equal distributions.
fn false_alarms(all: &Trials) -> Result<bool> {
    let (comparisons, trials) = SAME;
    let asked = Asked { threshold: Threshold::Share(0.0), ..Asked::default() };
    let (mut alarms, mut alone, mut tests) = (0, 0, 0);
    for round in 0..comparisons {
        let found = compared(all, round, trials, 1.0, &asked)?;
        alarms += usize::from(found.rows.iter().any(tcplab_results::comparison::Row::is_different));
        alone += found.rows.iter().filter(|row| row.p <= 0.05).count();
        tests += found.tests;
    }
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

/// B takes longer than A.
fn planted(all: &Trials) -> Result<bool> {
    let (comparisons, trials) = PLANTED;
    let metrics = Metrics::Named(vec!["transfer_time".into()]);
    let asked = Asked { metrics, threshold: Threshold::Share(0.0), ..Asked::default() };
    let (mut could, mut found_then, mut found_all) = (0, 0, 0);
    for round in 0..comparisons {
        let found = compared(all, round, trials, 1.0 + LONGER, &asked)?;
        for row in &found.rows {
            let is_found = row.is_different() && row.difference > 0.0;
            found_all += usize::from(is_found);
            let says_so = row.detectable.and_then(|amount| row.relative(amount));
            if says_so.is_some_and(|share| share <= LONGER) {
                could += 1;
                found_then += usize::from(is_found);
            }
        }
    }
    let share = found_then as f64 / could.max(1) as f64;
    println!(
        "transfer time {:.0} % longer, {trials} trials each: {could} of {comparisons} comparisons \
         say they could find that, of these {found_then} do ({:.1} %; at least {:.0} %)",
        LONGER * 100.0,
        share * 100.0,
        LEAST_FOUND * 100.0
    );
    println!("  of all {comparisons}, {found_all} do");
    // A test that never claims to find anything would keep every promise.
    Ok(share >= LEAST_FOUND && could * 4 >= comparisons)
}

/// Some trials compared with the next ones, whose transfer times are made longer.
fn compared(
    all: &Trials,
    round: usize,
    trials: usize,
    longer: f64,
    asked: &Asked,
) -> Result<Comparison> {
    let side = |side: usize| {
        let first = (2 * round + side) * trials;
        let mut run = all.bare.clone();
        for case in &mut run.cases {
            case.trials = all.trials[first..first + trials].to_vec();
        }
        run
    };
    let (a, mut b) = (side(0), side(1));
    for trial in b.cases.iter_mut().flat_map(|case| &mut case.trials) {
        if let Some(time) = trial.metrics.value(metrics::TRANSFER_TIME) {
            trial.metrics.set(metrics::TRANSFER_TIME, time * longer);
        }
    }
    Ok(compare_runs((Path::new("A"), &a), (Path::new("B"), &b), asked)?)
}

/// Trials of one case, and their run without trials.
struct Trials {
    bare: Run,
    trials: Vec<Trial>,
}

/// `count` trials of several runs, each with its own seed; only their metrics are kept.
fn simulated(count: usize) -> Result<Trials> {
    let (mut bare, mut trials) = (None, Vec::with_capacity(count));
    while trials.len() < count {
        // Seeds of runs are the numbers of their first comparisons.
        let seed = 1 + trials.len() / (2 * SAME.1);
        let mut run = batch(BATCH.min(count - trials.len()), seed as u64)?;
        for mut trial in run.cases.iter_mut().flat_map(|case| case.trials.drain(..)) {
            trial.ends.clear();
            trial.episodes.clear();
            trial.findings.clear();
            trials.push(trial);
        }
        bare = Some(run);
    }
    Ok(Trials { bare: bare.context("nothing was asked for")?, trials })
}

fn batch(trials: usize, seed: u64) -> Result<Run> {
    let scenario = Scenario::parse(SCENARIO, "honesty")?;
    // Each trial is synced to disk: `TMPDIR=/dev/shm` takes a tenth of the time.
    let place = tempfile::tempdir()?;
    let overrides =
        Overrides { trials: Some(trials as u32), seed: Some(seed), ..Overrides::default() };
    let plan = plan(&scenario, Some(tcplab_results::World::Simulated), || None, overrides)?;
    let run = begin(place.path(), scenario, Plan { snaplen: Some(96), ..plan })?;
    let nobody = Launcher { program: PathBuf::new(), arguments: Vec::new() };
    let stop = AtomicBool::new(false);
    Ok(complete(&run, &Bench::new(nobody), &stop, |_| {}, no_report)?.run)
}
