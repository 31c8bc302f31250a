//! What one can learn from: lessons and their answers, socket options, programs.

use std::process::{Command, Stdio};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_lab::read_run;
use tcplab_results::{Claim, Run};
use tcplab_scenario::metric;

use super::from_address::FromQuery;
use crate::assets::program_source;
use crate::error::Refusal;
use crate::lessons::{LESSONS, Lesson, OPTION_EXPERIMENTS, PROGRAMS, WALKS};
use crate::places::run_directory;
use crate::state::{Ui, aside};

/// All lessons, and connections whose states are worth following.
pub(super) async fn lessons() -> Json<Value> {
    Json(json!({ "lessons": &*LESSONS, "walks": &*WALKS }))
}

/// A lesson and the run that answers it.
#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    lesson: String,
    run: String,
}

/// What a run measured of what a lesson asks, and what became of the document's claims.
pub(super) async fn answer(
    State(ui): State<Arc<Ui>>,
    FromQuery(Answered { lesson, run }): FromQuery<Answered>,
) -> Result<Json<Value>, Refusal> {
    let lesson = LESSONS.iter().find(|it| it.id == lesson);
    let lesson = lesson.ok_or_else(|| Refusal::missing("there is no such lesson"))?;
    aside(move || {
        let place = run_directory(&ui.runs, &run)?;
        let found = read_run(&place).map_err(|error| Refusal::missing(error.to_string()))?;
        if tcplab_actions::embedded(&lesson.scenario) != Some(&*found.scenario) {
            let what = format!("{run} is not a run of {}", lesson.scenario);
            return Err(Refusal::bad(what));
        }
        measured(lesson, &found).map(Json)
    })
    .await
}

fn measured(lesson: &Lesson, run: &Run) -> Result<Value, Refusal> {
    let asked = &lesson.prediction;
    let mean = |case: &str| {
        let case = run.cases.iter().find(|it| it.name == case)?;
        let summary = case.summaries.iter().find(|it| it.name == asked.metric)?;
        Some((summary.mean, summary.unit.clone()))
    };
    let missing = || Refusal::missing(format!("the run has no {} of each case", asked.metric));
    let (own, unit) = mean(&asked.case).ok_or_else(missing)?;
    let (value, unit) = match &asked.over {
        None => (own, unit),
        Some(other) => {
            let (other, _) = mean(other).filter(|(it, _)| *it > 0.0).ok_or_else(missing)?;
            (own / other, "times".to_owned())
        }
    };
    let cited = |claim: &&Claim| lesson.rows.iter().any(|row| row.claims.contains(&claim.claim));
    let claim = |claim: &Claim| {
        json!({
            "claim": claim.claim,
            "outcome": claim.outcome().name(),
            "found": claim.found,
        })
    };
    let label = metric(&asked.metric).map_or(&*asked.metric, |it| it.label);
    Ok(json!({
        "metric": label,
        "value": value,
        "unit": unit,
        "right": asked.right(value),
        "claims": run.claims.iter().filter(cited).map(claim).collect::<Vec<_>>(),
    }))
}

/// The socket options as `tcplab sockopts --json` has them, each with the experiment that shows it.
pub(super) async fn options(State(ui): State<Arc<Ui>>) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let failed = |what: String| Refusal::failed(format!("tcplab sockopts --json: {what}"));
        let mut command = Command::new(&ui.program);
        command.args(["sockopts", "--json"]).stdin(Stdio::null());
        let output = command.output().map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let mut all: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
        let known = json!(&*OPTION_EXPERIMENTS);
        for option in all["options"].as_array_mut().into_iter().flatten() {
            let mut experiments = known.as_array().into_iter().flatten();
            let own = experiments.find(|it| it["option"] == option["name"]);
            option["experiment"] = own.cloned().unwrap_or_default();
        }
        Ok(Json(json!({ "options": all["options"] })))
    })
    .await
}

/// The programs of the sockets course.
pub(super) async fn programs() -> Json<Value> {
    Json(json!({ "programs": &*PROGRAMS }))
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    name: String,
}

/// The source of one, in both languages.
pub(super) async fn program(
    FromQuery(Named { name }): FromQuery<Named>,
) -> Result<Json<Value>, Refusal> {
    match (program_source(&name, "rust"), program_source(&name, "c")) {
        (Some(rust), Some(c)) => Ok(Json(json!({ "name": name, "rust": rust, "c": c }))),
        _ => Err(Refusal::missing("there is no such program")),
    }
}
