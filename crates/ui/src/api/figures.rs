//! Figures with several runs in each.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_lab::read_run;
use tcplab_report::{CommonFigure, CommonFigures, RUNS_MOST, check_labels, figure_file, labelled};
use tcplab_results::Run;

use super::from_json::FromJson;
use crate::error::Refusal;
use crate::jobs::in_words;
use crate::places::run_directory;
use crate::state::{Ui, aside};

/// Which figure of which runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wish {
    runs: Vec<String>,
    /// One for each run; without any, their titles.
    #[serde(default)]
    labels: Vec<String>,
    /// A name of the list; none for the list alone.
    #[serde(default)]
    figure: Option<String>,
}

/// The figures that these runs have in common, and one of them drawn, as `tcplab plot` does.
pub(super) async fn figures(
    State(ui): State<Arc<Ui>>,
    FromJson(wish): FromJson<Wish>,
) -> Result<Json<Value>, Refusal> {
    aside(move || answer(&ui, &wish).map(Json)).await
}

fn answer(ui: &Ui, wish: &Wish) -> Result<Value, Refusal> {
    let Wish { runs: names, labels: own, figure } = wish;
    if !(2..=RUNS_MOST).contains(&names.len()) {
        let what = format!("figures need 2 to {RUNS_MOST} runs, and these are {}", names.len());
        return Err(Refusal::bad(what));
    }
    if !own.is_empty() {
        check_labels(own, names.len()).map_err(|error| Refusal::bad(error.to_string()))?;
    }
    let mut arguments = vec!["plot".to_owned()];
    let mut runs: Vec<Run> = Vec::new();
    for name in names {
        let directory = run_directory(&ui.runs, name)?;
        runs.push(read_run(&directory).map_err(|error| Refusal::bad(error.to_string()))?);
        arguments.push(directory.display().to_string());
    }
    arguments.extend(own.iter().flat_map(|label| ["--label".to_owned(), label.clone()]));
    let labelled = labelled(&runs, names, own);
    let labels: Vec<&str> = labelled.iter().map(|it| &*it.label).collect();
    let all = CommonFigures::of(&labelled);
    let told = |it: &CommonFigure| json!({ "name": it.name, "title": it.title, "is_detail": it.is_detail, "missing": it.missing });
    let drawn = match figure {
        None => Value::Null,
        Some(name) => {
            let found = all.list().iter().find(|it| it.name == *name);
            let missing = || Refusal::missing(format!("these runs have no figure {name}"));
            let drawn = all.draw(found.ok_or_else(missing)?);
            arguments.extend(["--figure".to_owned(), name.clone()]);
            json!({ "svg": drawn.svg, "file": figure_file(&drawn), "csv": drawn.csv })
        }
    };
    let figures: Vec<Value> = all.list().iter().map(told).collect();
    let command = in_words(&arguments);
    Ok(json!({ "labels": labels, "figures": figures, "drawn": drawn, "command": command }))
}
