//! From the trials of a run to its tables.

use std::ops::ControlFlow;

use tcplab_results::{Case, KeptTrials, MetricNames, Run, Summary, Trial};
use tcplab_scenario::METRICS;

use super::claims::ClaimValues;
use super::paths;
use super::store_trial::trial;
use crate::error::LabError;
use crate::plan::{is_exact, stacks, world_of};
use crate::store::RunDirectory;

/// Reads the results of every trial of a finished run, and sums them up. `on_trial` is called after
/// each trial and may stop the analysis.
pub(crate) fn analyse(
    run: &RunDirectory,
    mut on_trial: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Run, LabError> {
    let (plan, scenario, numbers) = (run.plan(), run.scenario(), run.numbers());
    let total = scenario.cases.len() * numbers.clone().count();
    let is_there = |case: &tcplab_scenario::Case| {
        numbers.clone().filter(|&number| run.has_trial(&case.name, number)).count()
    };
    let done = scenario.cases.iter().map(is_there).sum();
    if done < total || (plan.until.is_some() && run.stopping().is_none()) {
        return Err(LabError::Unfinished { path: run.path().into(), done, total });
    }
    let environment = run.environment()?;
    let kernel = kernel_of(&environment);
    let (mut analysed, mut gathered) = (0, ClaimValues::new(&scenario.expects));
    let (mut cases, mut names) = (Vec::new(), MetricNames::default());
    for (index, case) in scenario.cases.iter().enumerate() {
        let (mut kept, mut failures) = (KeptTrials::of(numbers.clone().count()), Vec::new());
        for number in numbers.clone() {
            if let Some(failure) = run.failure(&case.name, number) {
                failures.push(failure);
            } else {
                let trial = trial(run, case, number)?;
                gathered.see(index, &trial);
                kept.add(trial, &mut names);
            }
            analysed += 1;
            if on_trial(analysed, total).is_break() {
                return Err(LabError::Stopped);
            }
        }
        let stacks = stacks((plan.world, &plan.kernels), case, kernel.trim_end());
        cases.push(Case {
            name: case.name.clone(),
            levels: case.levels.clone(),
            world: world_of(plan.world, case),
            kernel: plan.for_linux(case).map(str::to_owned),
            is_exact: is_exact(&stacks, case),
            stacks,
            summaries: summarise(&kept.trials),
            trials: kept.trials,
            failures,
            forgotten: kept.forgotten,
        });
    }
    Ok(Run {
        name: plan.name.clone(),
        title: scenario.title.clone(),
        reference: scenario.reference.clone(),
        question: scenario.question.clone(),
        question_factor: scenario.question_factor.clone(),
        question_metric: scenario.question_metric.clone(),
        scenario: scenario.source.clone(),
        world: plan.world,
        fallback: plan.fallback.clone(),
        started: plan.started.clone(),
        seed: plan.seed,
        only: plan.only.clone(),
        warm_up: plan.warm_up,
        stopping: run.stopping(),
        path: paths::describe(&scenario.cases),
        environment,
        calibration: run.calibration(),
        claims: gathered.judge(&cases),
        cases,
        comparisons: Vec::new(),
        plots: scenario.plots.clone(),
    })
}

/// The kernel of the machine, as far as it is known.
fn kernel_of(environment: &[(String, String)]) -> String {
    let release = environment.iter().find(|(name, _)| name == "kernel").map(|(_, value)| value);
    format!("Linux {}", release.map_or("", String::as_str))
}

fn summarise(trials: &[Trial]) -> Vec<Summary> {
    METRICS
        .iter()
        .filter_map(|info| {
            let values: Vec<f64> = trials
                .iter()
                .flat_map(|trial| trial.metrics.iter())
                .filter(|metric| metric.name == info.name)
                .map(|metric| metric.value)
                .collect();
            Summary::of(info, &values)
        })
        .collect()
}
