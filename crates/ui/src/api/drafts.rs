//! Experiments before they are run: what there is to start from, mistakes, time and room, the path.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_actions::{TEXT_MAX, embedded, files_beside};
use tcplab_lab::{Bench, KernelChoice, Overrides};
use tcplab_path::PathEvent;
use tcplab_results::World;
use tcplab_scenario::{Case, PathFile, Scenario, ScenarioError, catalogue, with_events};

use super::from_address::FromQuery;
use super::from_json::FromJson;
use super::paths::picture;
use crate::error::Refusal;
use crate::state::{Ui, aside};

/// How long the time of a trial is found out before a run.
const PATIENCE: Duration = Duration::from_millis(500);

/// The built-in experiments.
pub(super) async fn scenarios() -> Json<Value> {
    let all: Vec<Value> = catalogue().iter().map(|(name, source)| in_list(name, source)).collect();
    Json(json!({ "scenarios": all }))
}

fn in_list(name: &str, source: &str) -> Value {
    // The comment that a file begins with says what it asks.
    let lines = source.lines().take_while(|line| line.starts_with('#'));
    let about: Vec<&str> = lines.map(|line| line.trim_start_matches(['#', ' '])).collect();
    json!({ "name": name, "title": value_of("title", source), "about": about.join(" ") })
}

fn value_of(key: &str, source: &str) -> Option<String> {
    let line = source.lines().find(|line| {
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
    })?;
    let value = line.split_once('=')?.1.trim();
    Some(value.trim_matches('"').to_owned())
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    name: String,
}

/// The text of a built-in experiment.
pub(super) async fn scenario(
    FromQuery(Named { name }): FromQuery<Named>,
) -> Result<Json<Value>, Refusal> {
    let toml = embedded(&name);
    let toml = toml.ok_or_else(|| Refusal::missing(tcplab_actions::unknown(&name)))?;
    Ok(Json(json!({ "name": name.replace('/', "-"), "toml": toml })))
}

/// The JSON Schema of scenario files.
pub(super) async fn schema() -> Json<&'static Value> {
    Json(tcplab_scenario::schema())
}

/// A scenario that is being written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Draft {
    toml: String,
    #[serde(default = "name")]
    name: String,
    #[serde(default)]
    world: Option<String>,
    #[serde(default)]
    quick: bool,
    trials: Option<u32>,
    #[serde(default)]
    kernel: Option<String>,
}

fn name() -> String {
    "experiment".into()
}

impl Draft {
    fn read(&self) -> Result<Scenario, ScenarioError> {
        // It refers to files beside nothing: those of the directory that the server runs in.
        let mut files = files_beside(Path::new("experiment.toml"));
        Scenario::parse_with_files(&self.toml, &self.name, &mut files)
    }
    /// As the command has them without other flags.
    fn overrides(&self) -> Result<Overrides, Refusal> {
        let kernel = self.kernel.as_deref().map_or(Ok(KernelChoice::Newest), str::parse);
        let kernel = kernel.map_err(|error| Refusal::bad(error.to_string()))?;
        let (quick, trials) = (self.quick, self.trials);
        Ok(Overrides { quick, trials, kernel, ..Overrides::default() })
    }
    fn checked_length(&self) -> Result<(), Refusal> {
        if self.toml.len() as u64 <= TEXT_MAX.as_u64() {
            return Ok(());
        }
        Err(Refusal::bad(format!("a scenario has at most {TEXT_MAX}")))
    }
}

/// All mistakes of a scenario, each with its place, or what it would run.
pub(super) async fn check(FromJson(draft): FromJson<Draft>) -> Result<Json<Value>, Refusal> {
    draft.checked_length()?;
    aside(move || {
        Ok(Json(match draft.read() {
            Ok(scenario) => json!({ "mistakes": [], "experiment": experiment(&scenario) }),
            Err(error) => {
                let all = std::iter::once(&error).chain(error.others());
                let mistakes: Vec<Value> = all.map(|it| mistake(it, &draft.toml)).collect();
                let more = error.unshown();
                let are_all = error.are_all_counted();
                json!({ "mistakes": mistakes, "more": more, "are_all": are_all })
            }
        }))
    })
    .await
}

/// A mistake; its place in characters of UTF-16, as a page counts them.
fn mistake(error: &ScenarioError, source: &str) -> Value {
    let span = error.span();
    let units = |end: usize| source.get(..end).unwrap_or(source).encode_utf16().count();
    json!({
        "what": error.to_string(),
        "remedy": error.remedy(),
        "line": error.line(),
        "from": units(span.start),
        "until": units(span.end),
    })
}

fn experiment(scenario: &Scenario) -> Value {
    let case = |case: &Case| {
        let base_rtt_ns = case.round_trip().as_nanos();
        json!({ "name": case.name, "levels": case.levels, "base_rtt_ns": base_rtt_ns })
    };
    json!({
        "title": scenario.title,
        "trials": scenario.trials,
        // As text, as that of a run is.
        "seed": scenario.seed.to_string(),
        "cases": scenario.cases.iter().map(case).collect::<Vec<_>>(),
        "claims": scenario.expects.iter().map(|it| &it.claim).collect::<Vec<_>>(),
    })
}

/// The time and the room that a run would take.
pub(super) async fn estimate(
    State(ui): State<Arc<Ui>>,
    FromJson(draft): FromJson<Draft>,
) -> Result<Json<Value>, Refusal> {
    draft.checked_length()?;
    aside(move || {
        let scenario = draft.read().map_err(|error| Refusal::bad(error.to_string()))?;
        let world = match draft.world.as_deref() {
            None | Some("auto") => None,
            Some("kernel") => Some(World::Kernel),
            Some("sim") => Some(World::Simulated),
            Some(_) => return Err(Refusal::bad("a world is auto, kernel or sim")),
        };
        let launcher = tcplab_actions::launcher(ui.program.clone());
        let refused = || tcplab_lab::kernel_refused(&launcher);
        let overrides = draft.overrides()?;
        let plan = tcplab_lab::plan(&scenario, world, refused, overrides).map_err(|error| {
            Refusal { remedy: error.remedy(), ..Refusal::bad(error.to_string()) }
        })?;
        let bench = Bench::new(launcher.clone());
        let estimate = tcplab_lab::estimate_plan(&scenario, &plan, &ui.runs, &bench, PATIENCE);
        Ok(Json(json!({ "in_words": estimate.with_room(), "estimate": estimate })))
    })
    .await
}

/// A scenario and what is to happen to its path.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WithEvents {
    toml: String,
    events: Vec<PathEvent>,
}

/// The text of a scenario with these events of its path.
pub(super) async fn events(
    FromJson(WithEvents { toml, events }): FromJson<WithEvents>,
) -> Result<Json<Value>, Refusal> {
    let toml = with_events(&toml, &events).map_err(|error| Refusal::bad(error.to_string()))?;
    Ok(Json(json!({ "toml": toml })))
}

/// What the path of a scenario's first case will do, or of a path file.
pub(super) async fn outlook(FromJson(draft): FromJson<Draft>) -> Result<Json<Value>, Refusal> {
    draft.checked_length()?;
    aside(move || {
        let mistaken = |error: String| Refusal::bad(error);
        let path = if let Ok(scenario) = draft.read() {
            scenario.cases.first().map(|case| case.path.clone())
        } else {
            let mut files = files_beside(Path::new("path.toml"));
            let file = PathFile::parse_with(&draft.toml, &draft.name, &[], &mut files);
            Some(file.map_err(|error| mistaken(error.to_string()))?.path)
        };
        let path = path.ok_or_else(|| mistaken("the scenario has no case".into()))?;
        Ok(Json(json!({ "picture": picture(&path, "What the path will do").map_err(mistaken)? })))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_is_of_the_kernel_that_the_command_takes() {
        let of = |kernel: Value| {
            let draft = json!({ "toml": "", "trials": 3, "kernel": kernel });
            serde_json::from_value::<Draft>(draft).unwrap().overrides()
        };
        for (given, chosen) in [
            (Value::Null, KernelChoice::Newest),
            (json!("model"), KernelChoice::Model),
            (json!("6.12"), KernelChoice::Named("6.12".parse().unwrap())),
        ] {
            let Overrides { kernel, trials, quick, .. } = of(given).unwrap();
            assert_eq!((kernel, trials, quick), (chosen, Some(3), false));
        }
        assert!(of(json!("../x")).is_err());
    }
}
