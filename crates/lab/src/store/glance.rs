//! A look at run directories that takes no lock and reads no results: for lists, and for those who
//! watch a trial.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tcplab_results::{RunWorld, Trial};
use tcplab_scenario::trial_seed;

use super::files::{PARTIAL, PLAN, RUN, TRIALS, read_plan, read_scenario, trial_directory};
use super::trial_files::{CAPTURE, StoredTrial, TRIAL, is_failed, is_whole, read};
use crate::error::LabError;

/// What the directory of a run shows by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunGlance {
    /// Where it is.
    pub path: PathBuf,
    /// The scenario's name.
    pub name: String,
    /// When it was started, UTC, RFC 3339.
    pub started: String,
    /// Where its cases run.
    pub world: RunWorld,
    /// Whether its tables and report are there.
    pub is_finished: bool,
    /// The number of cases, as planned.
    pub cases: usize,
    /// Trials of each case; at most, where the run itself decides.
    pub trials_of_case: u32,
}

impl RunGlance {
    /// Looks at the run in `path`.
    ///
    /// # Errors
    /// When it is none, or its plan is damaged.
    pub fn at(path: &Path) -> Result<RunGlance, LabError> {
        let plan = read_plan(path)?;
        Ok(RunGlance {
            path: path.into(),
            name: plan.name,
            started: plan.started,
            world: plan.world,
            is_finished: path.join(RUN).exists(),
            cases: plan.cases.len(),
            trials_of_case: plan.trials - (plan.first - 1).min(plan.trials),
        })
    }

    /// All runs below `runs`, the newest first; what is none is left out.
    pub fn all(runs: &Path) -> Vec<RunGlance> {
        let folders = directories(runs);
        let places = folders.iter().flat_map(|folder| directories(folder));
        let runs = places.filter(|place| place.join(PLAN).exists());
        let mut all: Vec<RunGlance> = runs.filter_map(|run| RunGlance::at(&run).ok()).collect();
        all.sort_by(|a, b| (&b.started, &b.path).cmp(&(&a.started, &a.path)));
        all
    }
}

/// A trial as its directory shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrialGlance {
    /// Its case.
    pub case: String,
    /// Its number.
    pub number: u32,
    /// How far it is.
    pub state: TrialState,
    /// Whether its packets are kept.
    pub keeps_packets: bool,
    /// Its level of the first factor, if something varies.
    pub level: Option<String>,
}

/// How far a trial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    /// It was not begun.
    Missing,
    /// It was begun and is not in its place: it runs, or was stopped.
    Begun,
    /// It is there.
    Whole,
    /// It failed on every attempt.
    Failed,
}

impl TrialGlance {
    /// The trials of the run in `path`, block by block.
    ///
    /// # Errors
    /// When it is no run, or its scenario means something else to this version.
    pub fn all(path: &Path) -> Result<Vec<TrialGlance>, LabError> {
        let plan = read_plan(path)?;
        let scenario = plan.of(read_scenario(path, &plan.name)?);
        let mut all = Vec::new();
        for number in plan.numbers() {
            for case in &scenario.cases {
                let place = path.join(trial_directory(&case.name, number));
                let state = if is_failed(&place) {
                    TrialState::Failed
                } else if is_whole(&place) {
                    TrialState::Whole
                } else if partial(path, &case.name, number).exists() {
                    TrialState::Begun
                } else {
                    TrialState::Missing
                };
                let is_gone = || place.is_dir() && !place.join(CAPTURE).exists();
                let keeps_packets = plan.keep.has(number) && !is_gone();
                let level = case.levels.first().map(|(_, level)| level.clone());
                all.push(TrialGlance {
                    case: case.name.clone(),
                    number,
                    state,
                    keeps_packets,
                    level,
                });
            }
        }
        Ok(all)
    }

    /// The highest number of a trial that is there, below which extending a run would shrink it.
    ///
    /// # Errors
    /// As of [`TrialGlance::all`].
    pub fn highest(path: &Path) -> Result<u32, LabError> {
        let all = TrialGlance::all(path)?;
        let whole = all.iter().filter(|it| it.state == TrialState::Whole);
        Ok(whole.map(|it| it.number).max().unwrap_or(0))
    }
}

/// The ports of client and server of the connection whose sockets a trial samples: the first of
/// the flow that it is about. None of a directory that is no run, and of a case that it has not.
pub fn sampled_ports(run: &Path, case: &str, number: u32) -> Option<[u16; 2]> {
    let plan = read_plan(run).ok()?;
    let scenario = plan.of(read_scenario(run, &plan.name).ok()?);
    let case = scenario.cases.iter().find(|it| it.name == case)?;
    let subject = case.all_flows().iter().position(|flow| !flow.spec.background)?;
    let connections = case.connections(trial_seed(plan.seed, number));
    connections.iter().find(|it| it.flow == subject).map(|it| it.ports)
}

/// Where a trial is: in its place, or where it is being made. None if it was not begun.
pub fn place_of_trial(run: &Path, case: &str, number: u32) -> Option<PathBuf> {
    let places = [run.join(trial_directory(case, number)), partial(run, case, number)];
    places.into_iter().find(|place| place.is_dir())
}

/// The result of a finished trial. None if it is not there.
pub fn trial_result(run: &Path, case: &str, number: u32) -> Option<Trial> {
    let stored: StoredTrial = read(&run.join(trial_directory(case, number)).join(TRIAL))?;
    Some(stored.trial)
}

fn partial(run: &Path, case: &str, number: u32) -> PathBuf {
    run.join(TRIALS).join(format!("{PARTIAL}{case}-{number}"))
}

fn directories(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let is_own = |path: &PathBuf| {
        path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
    };
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).filter(is_own).collect()
}
