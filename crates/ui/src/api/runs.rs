//! The runs that there are.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tcplab_lab::{RunDirectory, RunGlance, TrialGlance, run_again};
use tcplab_recording::Recording;
use tcplab_results::RunWorld;

use super::from_address::FromQuery;
use super::live::places;
use crate::error::Refusal;
use crate::jobs::in_words;
use crate::places::{RunName, TrialName, name_of, run_directory};
use crate::state::{Ui, aside};
use crate::told::{Told, ToldRuns};

/// Runs in an answer.
const LISTED: usize = 1_000;
/// Runs of an answer whose results are read: a page shows no more at once.
const ANSWERED: usize = 60;

/// How long results are read for one answer.
const PATIENCE: Duration = Duration::from_millis(700);

/// Which runs of all.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Part {
    /// Those that have this in their name, title, question or answer; empty for all.
    word: String,
    /// The first, from 0.
    from: usize,
    /// So many at most.
    most: Option<usize>,
}

/// A run in the list.
#[derive(Debug, Serialize)]
struct Listed {
    run: String,
    world_in_words: &'static str,
    #[serde(flatten)]
    glance: RunGlance,
    /// Its title, and what its claims came to; of finished ones.
    #[serde(flatten)]
    told: Option<Told>,
}

/// All runs or some, the newest first.
pub(super) async fn list(
    State(ui): State<Arc<Ui>>,
    FromQuery(part): FromQuery<Part>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let mut all = RunGlance::all(&ui.runs);
        let count = all.len();
        let mut reading = Reading { told: &ui.told, began: Instant::now(), unread: 0 };
        let word = part.word.trim().to_lowercase();
        if !word.is_empty() {
            let has_name =
                |run: &RunGlance| name_of(&ui.runs, &run.path).to_lowercase().contains(&word);
            all.retain(|run| has_name(run) || reading.of(run).is_some_and(|told| told.has(&word)));
        }
        let found = all.len();
        let listed = |(place, glance): (usize, RunGlance)| {
            let told = if place < ANSWERED { reading.of(&glance) } else { None };
            let world_in_words = match glance.world {
                RunWorld::Kernel => "on this machine's kernel",
                RunWorld::Simulated => "in virtual time",
                RunWorld::Both => "on this machine's kernel and in virtual time",
            };
            let run = name_of(&ui.runs, &glance.path);
            Listed { run, world_in_words, glance, told }
        };
        let most = part.most.unwrap_or(LISTED).min(LISTED);
        let shown = all.into_iter().skip(part.from).take(most);
        let runs: Vec<Listed> = shown.enumerate().map(listed).collect();
        let unread = reading.unread;
        Ok(Json(json!({ "count": count, "found": found, "unread": unread, "runs": runs })))
    })
    .await
}

/// Reads results of runs for an answer, for some time only, as they are large. What is left is
/// read for whoever asks again.
struct Reading<'u> {
    told: &'u ToldRuns,
    began: Instant,
    /// How many were left.
    unread: usize,
}

impl Reading<'_> {
    /// What a run answered; none of one that is not finished, or was left.
    fn of(&mut self, run: &RunGlance) -> Option<Told> {
        if !run.is_finished {
            return None;
        }
        if self.began.elapsed() > PATIENCE && !self.told.knows(&run.path) {
            self.unread += 1;
            return None;
        }
        self.told.of(&run.path)
    }
}

/// A run, and perhaps a trial of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    run: String,
    case: Option<String>,
    trial: Option<u32>,
}

/// One run: its trials, its scenario, its results in words; of a trial that is named, how its path
/// was changed while it ran.
pub(super) async fn one(
    State(ui): State<Arc<Ui>>,
    FromQuery(Asked { run, case, trial }): FromQuery<Asked>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let path = run_directory(&ui.runs, &run)?;
        let trial =
            case.zip(trial).map(|(case, trial)| TrialName { run: run.clone(), case, trial });
        let place = trial.map(|it| places(&ui, &it)).transpose()?.and_then(|it| it.now());
        // One that runs has no record yet.
        let record = place.and_then(|it| Recording::open(&it).ok()?.record().ok());
        let path_events = record.map(|it| it.path_events).unwrap_or_default();
        let glance = RunGlance::at(&path).map_err(|error| Refusal::bad(error.to_string()))?;
        let trials = TrialGlance::all(&path).map_err(|error| Refusal::bad(error.to_string()))?;
        let scenario = fs::read_to_string(path.join("scenario.toml")).unwrap_or_default();
        let told = glance.is_finished.then(|| ui.told.of(&path)).flatten();
        let report = glance.is_finished.then(|| ui.reports.address(&path)).flatten();
        let (files, bytes) = size(&path);
        let again = run_again(&path).unwrap_or_default();
        let value = |flag: &str| again.iter().find_map(|it| it.strip_prefix(flag));
        let seed = value("--seed=");
        // One trial, if it was run alone.
        let asked = value("--trials=").and_then(|it| it.parse::<u32>().ok());
        let asked = asked.or_else(|| value("--trial=").map(|_| 1));
        let typed = [
            vec!["report".into(), path.display().to_string()],
            [&again[..], &[format!("--runs={}", ui.runs.display())]].concat(),
        ];
        Ok(Json(json!({
            "run": run,
            "glance": glance,
            "told": told,
            "trials": trials,
            "scenario": scenario,
            // As text: it may have 64 bits, and a number of a page has 53.
            "seed": seed,
            "kernel": value("--kernel="),
            "trials_asked": asked,
            "path_events": path_events,
            "commands": typed.map(|it| in_words(&it)),
            "report": report,
            "files": files,
            "bytes": bytes,
        })))
    })
    .await
}

/// Removes a run for good.
pub(super) async fn remove(
    State(ui): State<Arc<Ui>>,
    FromQuery(RunName { run }): FromQuery<RunName>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let path = run_directory(&ui.runs, &run)?;
        // Nobody else works on it.
        let opened = RunDirectory::open(&path)
            .map_err(|error| Refusal::new(StatusCode::CONFLICT, error.to_string()))?;
        opened.discard().map_err(|error| Refusal::failed(error.to_string()))?;
        Ok(Json(json!({ "removed": run })))
    })
    .await
}

/// Files and bytes below a directory; links are not followed.
fn size(place: &Path) -> (u64, u64) {
    let (mut files, mut bytes) = (0, 0);
    let mut waiting = vec![place.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(about) if about.is_dir() => waiting.push(entry.path()),
                Ok(about) => {
                    files += 1;
                    bytes += about.len();
                }
                Err(_) => {}
            }
        }
    }
    (files, bytes)
}
