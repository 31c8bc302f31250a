//! Starting jobs, and what they tell.

use std::convert::Infallible;
use std::fs;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_lab::TrialGlance;
use tcplab_path::PathChange;
use tcplab_recording::make_private_directories;
use tcplab_scenario::{TRIALS_MAX, catalogue};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

use super::from_address::{FromPath, FromQuery};
use super::from_json::FromJson;
use super::latency::LatencyWish;
use super::wishes::{AdviceWish, LoadWish, Rfc6349Wish, within};
use crate::error::Refusal;
use crate::jobs::{Job, JobState};
use crate::places::{TrialName, run_directory};
use crate::state::{Ui, aside};

/// Where scenarios of the page are kept, below the directory of all runs.
const DRAFTS: &str = ".drafts";
/// Events on the way to a page; more wait where they are kept.
const ON_THE_WAY: usize = 64;

/// What to do.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Wish {
    /// Run a scenario.
    Run {
        /// Its text.
        toml: String,
        /// Its name.
        #[serde(default = "experiment")]
        name: String,
        /// `auto`, `kernel` or `sim`.
        #[serde(default = "auto")]
        world: String,
        #[serde(default)]
        quick: bool,
        trials: Option<u32>,
        /// A number, also as text: one of a page has 53 bits.
        seed: Option<Value>,
        /// What stands for `linux` in virtual time: the name of a kernel, `model` or `newest`.
        kernel: Option<String>,
        /// One case and one trial of it alone, with all packets.
        case: Option<String>,
        trial: Option<u32>,
    },
    /// Run all built-in experiments of a folder.
    Series {
        folder: String,
        /// `auto`, `kernel` or `sim`.
        #[serde(default = "auto")]
        world: String,
        #[serde(default)]
        quick: bool,
        trials: Option<u32>,
    },
    /// Go on with a run that was stopped.
    Resume { run: String },
    /// Add trials to a run, or levels: those of the scenario that is given.
    Extend {
        run: String,
        trials: u32,
        /// The text of the scenario, if it is another one, and its name.
        toml: Option<String>,
        #[serde(default = "experiment")]
        name: String,
    },
    /// Recommend settings, and measure their gain.
    Advise(Box<AdviceWish>),
    /// Test a path by RFC 6349.
    Rfc6349(Box<Rfc6349Wish>),
    /// Load servers.
    Load(LoadWish),
    /// Measure latency to a host.
    Latency(LatencyWish),
}

fn experiment() -> String {
    "experiment".into()
}

fn auto() -> String {
    "auto".into()
}

pub(super) async fn start(
    State(ui): State<Arc<Ui>>,
    FromJson(wish): FromJson<Wish>,
) -> Result<Json<JobState>, Refusal> {
    aside(move || {
        let arguments = arguments(&ui, wish)?;
        Ok(Json(ui.jobs.start(arguments)?.state()))
    })
    .await
}

/// The command for a wish.
fn arguments(ui: &Ui, wish: Wish) -> Result<Vec<String>, Refusal> {
    let runs = ui.runs.display().to_string();
    let mut arguments = vec!["run".to_owned()];
    let count = |flag, number| within(flag, number, 1..=TRIALS_MAX);
    match wish {
        Wish::Run { toml, name, world, quick, trials, seed, kernel, case, trial } => {
            let numbers = [("trials", trials), ("trial", trial)];
            let numbers = numbers.into_iter().filter_map(|(flag, it)| Some(count(flag, it?)));
            let numbers: Vec<String> = numbers.collect::<Result<_, _>>()?;
            arguments.push(draft(ui, &name, &toml)?);
            arguments.extend(["--runs".into(), runs, "--world".into(), world]);
            if quick {
                arguments.push("--quick".into());
            }
            arguments.extend(numbers);
            arguments.extend(seed.as_ref().map(of_seed).transpose()?);
            arguments.extend(kernel.map(|kernel| format!("--kernel={kernel}")));
            arguments.extend(case.map(|case| format!("--case={case}")));
        }
        Wish::Series { folder, world, quick, trials } => {
            // Only of the catalogue: a page names no files.
            let prefix = format!("{folder}/");
            if folder.is_empty() || !catalogue().iter().any(|(name, _)| name.starts_with(&prefix)) {
                return Err(Refusal::missing(format!("no built-in experiments in `{folder}`")));
            }
            arguments.push(folder);
            arguments.extend(["--runs".into(), runs, "--world".into(), world]);
            arguments.extend(quick.then(|| "--quick".into()));
            arguments.extend(trials.map(|it| count("trials", it)).transpose()?);
        }
        Wish::Resume { run } => {
            let path = run_directory(&ui.runs, &run)?;
            arguments.push(format!("--resume={}", path.display()));
        }
        Wish::Extend { run, trials, toml, name } => {
            let flag = count("trials", trials)?;
            let path = run_directory(&ui.runs, &run)?;
            let there = TrialGlance::highest(&path).map_err(|it| Refusal::bad(it.to_string()))?;
            if trials < there {
                let what =
                    format!("the run has {there} trials of a case: extend it to {there} or more");
                return Err(Refusal::bad(what));
            }
            arguments.extend(toml.map(|toml| draft(ui, &name, &toml)).transpose()?);
            arguments.extend([format!("--extend={}", path.display()), flag]);
        }
        Wish::Advise(wish) => return wish.arguments(ui),
        Wish::Rfc6349(wish) => return wish.arguments(ui),
        Wish::Load(wish) => return wish.arguments(&ui.runs.join(DRAFTS)),
        Wish::Latency(wish) => return wish.arguments(&ui.runs),
    }
    Ok(arguments)
}

fn of_seed(seed: &Value) -> Result<String, Refusal> {
    let number = seed.as_u64().or_else(|| seed.as_str()?.parse().ok());
    let wrong = || Refusal::bad(format!("a seed is a whole number from 0 to {}", u64::MAX));
    number.map(|it: u64| format!("--seed={it}")).ok_or_else(wrong)
}

/// Keeps a scenario as a file, so that the command that runs it can be typed.
fn draft(ui: &Ui, name: &str, toml: &str) -> Result<String, Refusal> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let is_name = !name.is_empty() && name.len() <= 80 && name.chars().all(is_plain);
    if !is_name {
        return Err(Refusal::bad("a name has letters, digits, - and _, at most 80"));
    }
    let place = ui.runs.join(DRAFTS);
    let file = place.join(format!("{name}.toml"));
    let written = make_private_directories(&place).and_then(|()| fs::write(&file, toml));
    written
        .map_err(|error| Refusal::failed(format!("cannot write {}: {error}", file.display())))?;
    Ok(file.display().to_string())
}

pub(super) async fn list(State(ui): State<Arc<Ui>>) -> Json<Value> {
    let jobs: Vec<JobState> = ui.jobs.all().iter().map(|job| job.state()).collect();
    Json(json!({ "jobs": jobs }))
}

pub(super) async fn one(
    State(ui): State<Arc<Ui>>,
    FromPath(id): FromPath<u64>,
) -> Result<Json<JobState>, Refusal> {
    Ok(Json(ui.jobs.job(id)?.state()))
}

pub(super) async fn stop(
    State(ui): State<Arc<Ui>>,
    FromPath(id): FromPath<u64>,
) -> Result<Json<JobState>, Refusal> {
    let job = ui.jobs.job(id)?;
    job.stop();
    Ok(Json(job.state()))
}

/// For which trial a change is meant; nothing: for whichever runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meant {
    run: Option<String>,
    case: Option<String>,
    trial: Option<u32>,
}

impl Meant {
    fn trial(self) -> Result<Option<TrialName>, Refusal> {
        match self {
            Meant { run: Some(run), case: Some(case), trial: Some(trial) } => {
                Ok(Some(TrialName { run, case, trial }))
            }
            Meant { run: None, case: None, trial: None } => Ok(None),
            _ => Err(Refusal::bad("a trial is named by `run`, `case` and `trial`")),
        }
    }
}

/// Changes the path of the trial that runs; an event of the job says what became of it.
pub(super) async fn change(
    State(ui): State<Arc<Ui>>,
    FromPath(id): FromPath<u64>,
    FromQuery(meant): FromQuery<Meant>,
    FromJson(change): FromJson<PathChange>,
) -> Result<Json<Value>, Refusal> {
    let job = ui.jobs.job(id)?;
    aside(move || {
        job.tell(&json!(change), meant.trial()?.as_ref())?;
        Ok(Json(json!({ "sent": change })))
    })
    .await
}

/// The events of a job as they come; a page that comes back goes on where it was
/// (`Last-Event-ID`).
pub(super) async fn events(
    State(ui): State<Arc<Ui>>,
    FromPath(id): FromPath<u64>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let job = ui.jobs.job(id)?;
    let last = headers.get("last-event-id").and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    let (sender, receiver) = mpsc::channel(ON_THE_WAY);
    tokio::spawn(pass_on(job, last.map_or(0, |last| last + 1), sender));
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()))
}

async fn pass_on(job: Arc<Job>, from: usize, sender: mpsc::Sender<Result<Event, Infallible>>) {
    let mut changes = job.changes();
    let mut next = from;
    let mut last = Value::Null;
    loop {
        changes.mark_unchanged();
        let is_running = job.is_running();
        for event in job.events(next) {
            // Progress takes the place of progress, and may do so once more.
            let is_told = last == event;
            let id = next.to_string();
            next += 1;
            last = event;
            let event = Event::default().id(id).event("told").data(last.to_string());
            if !is_told && sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if last["event"] == "progress" {
            next -= 1;
        }
        if !is_running {
            let end = serde_json::to_string(&job.state()).unwrap_or_default();
            let _ = sender.send(Ok(Event::default().event("ended").data(end))).await;
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}
