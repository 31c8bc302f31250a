//! Runs without what figures do not show.

use tcplab_results::{Case, EndRow, FlowRow, FlowSeries, Run, Trial};
use tcplab_units::rounded::grouped;
use thiserror::Error;

use super::RUNS_MOST;

/// Numbers of all runs together, 8 bytes each: figures hold them once more, so that all take less
/// than half a gigabyte. 4,000 runs with 70 trials of 64 numbers each have fewer.
const VALUES_MOST: usize = 20_000_000;
/// A trial counts as at least so many, for what else there is of it.
const VALUES_OF_TRIAL: usize = 64;

/// Runs for figures: each is made small before the next one is read.
#[derive(Debug, Default)]
pub struct KeptRuns {
    runs: Vec<Run>,
    values: usize,
}

/// Why runs have no figures together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TooMany {
    /// Runs.
    #[error("{} runs are too many for one figure: {} at most", grouped(*.0 as u64), grouped(RUNS_MOST as u64))]
    Runs(usize),
    /// Numbers in all of them.
    #[error(
        "these runs have more than {} numbers together, too many for figures",
        grouped(VALUES_MOST as u64)
    )]
    Values,
}

impl KeptRuns {
    /// Keeps what figures show of a run: its cases with their summaries, the metrics and response
    /// times of its trials, whether some failed, and what flows measured where a plot asks for it.
    ///
    /// # Errors
    /// If there are more runs or numbers than figures hold.
    pub fn add(&mut self, run: Run) -> Result<(), TooMany> {
        if self.runs.len() == RUNS_MOST {
            return Err(TooMany::Runs(RUNS_MOST + 1));
        }
        let run = kept(run);
        let trials = run.cases.iter().flat_map(|case| &case.trials);
        self.values += trials.map(values).sum::<usize>();
        if self.values > VALUES_MOST {
            return Err(TooMany::Values);
        }
        self.runs.push(run);
        Ok(())
    }

    /// In the order in which they were added.
    pub fn into_runs(self) -> Vec<Run> {
        self.runs
    }
}

/// How many numbers there are of a trial.
fn values(trial: &Trial) -> usize {
    let times: usize = trial.ends.iter().map(|end| end.response_times_ms.len()).sum();
    let connections = trial.flows.iter().flat_map(|flow| &flow.connections);
    let of_flows =
        connections.map(|it| it.metrics.len() * VALUES_OF_TRIAL / 8 + it.response_times_ms.len());
    trial.metrics.iter().count().max(VALUES_OF_TRIAL) + times + of_flows.sum::<usize>()
}

fn kept(run: Run) -> Run {
    let Run { name, title, plots, cases, .. } = run;
    let has_flows = plots.iter().any(|plot| plot.flow.is_some() || plot.against_flow.is_some());
    let cases = cases.into_iter().map(|case| {
        let Case { name, levels, world, trials, mut failures, summaries, .. } = case;
        let trials = trials.into_iter().map(|trial| kept_trial(trial, has_flows)).collect();
        // Only whether any failed is shown.
        failures.truncate(1);
        Case { name, levels, world, trials, failures, summaries, ..Case::default() }
    });
    Run { name, title, cases: cases.collect(), plots, ..Run::default() }
}

fn kept_trial(trial: Trial, has_flows: bool) -> Trial {
    let Trial { number, metrics, ends, flows, .. } = trial;
    let kept_end = |end: EndRow| EndRow {
        end: end.end,
        calls: Vec::new(),
        response_times_ms: end.response_times_ms,
        request_tries: Vec::new(),
        states: Vec::new(),
        metrics: Vec::new(),
    };
    let ends = ends.into_iter().filter(|end| !end.response_times_ms.is_empty());
    let flows = flows.into_iter().filter(|_| has_flows);
    let kept_flow = |flow: FlowRow| FlowRow { series: FlowSeries::default(), ..flow };
    Trial {
        number,
        metrics,
        ends: ends.map(kept_end).collect(),
        flows: flows.map(kept_flow).collect(),
        ..Trial::default()
    }
}
