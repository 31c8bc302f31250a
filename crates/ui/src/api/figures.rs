//! Figures with several runs in each.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_lab::read_run;
use tcplab_plot::Table;
use tcplab_report::{
    AxisRange, AxisWish, CommonFigure, CommonFigures, FigureLooks, KeptRuns, MetricFigures,
    RUNS_MOST, Relative, RunFigure, check_labels, figure_file, labelled, run_called, run_figures,
};

use super::from_json::FromJson;
use crate::error::Refusal;
use crate::jobs::in_words;
use crate::places::run_directory;
use crate::state::{Ui, aside};

/// Which figure of which runs, and how it looks.
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
    /// The label or the number of the run by which all are divided.
    #[serde(default)]
    relative_to: Option<String>,
    /// By label or number.
    #[serde(default)]
    colors: BTreeMap<String, String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    x_range: Option<String>,
    #[serde(default)]
    y_range: Option<String>,
    #[serde(default)]
    x_scale: Option<AxisScale>,
    #[serde(default)]
    y_scale: Option<AxisScale>,
    #[serde(default)]
    x_label: Option<String>,
    #[serde(default)]
    y_label: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AxisScale {
    Linear,
    Log,
}

/// The figures that these runs have in common, or those of the only one, and one of them drawn, as
/// `tcplab plot` does.
pub(super) async fn figures(
    State(ui): State<Arc<Ui>>,
    FromJson(wish): FromJson<Wish>,
) -> Result<Json<Value>, Refusal> {
    aside(move || answer(&ui, &wish).map(Json)).await
}

fn answer(ui: &Ui, wish: &Wish) -> Result<Value, Refusal> {
    let Wish { runs: names, labels: own, figure, .. } = wish;
    if let [name] = &names[..] {
        return of_one_run(ui, wish, name);
    }
    if !(1..=RUNS_MOST).contains(&names.len()) {
        let what = format!("figures need 1 to {RUNS_MOST} runs, and these are {}", names.len());
        return Err(Refusal::bad(what));
    }
    if !own.is_empty() {
        check_labels(own, names.len()).map_err(|error| Refusal::bad(error.to_string()))?;
    }
    let mut arguments = vec!["plot".to_owned()];
    let mut kept = KeptRuns::default();
    for name in names {
        let directory = run_directory(&ui.runs, name)?;
        let run = read_run(&directory).map_err(|error| Refusal::bad(error.to_string()))?;
        kept.add(run).map_err(|error| Refusal::bad(error.to_string()))?;
        arguments.push(directory.display().to_string());
    }
    let mut runs = kept.into_runs();
    let labels: Vec<String> = labelled(&runs, names, own).into_iter().map(|it| it.label).collect();
    let relative = wish.relative_to.as_ref().map(|name| run_of(&labels, name)).transpose()?;
    let relative = relative.map(|index| Relative::divide(&mut runs, &labels, index));
    let all = CommonFigures::of(&labelled(&runs, names, &labels), relative);
    drop(runs);
    let of_list = |it: &CommonFigure| told(&it.name, &it.title, it.is_detail, &it.missing);
    arguments.extend(own.iter().flat_map(|label| ["--label".to_owned(), label.clone()]));
    arguments.extend(wish.relative_to.iter().map(|name| format!("--relative-to={name}")));
    let drawn = match figure {
        None => Value::Null,
        Some(name) => {
            let found = all.list().iter().find(|it| it.name == *name);
            let missing = || Refusal::missing(format!("these runs have no figure {name}"));
            let found = found.ok_or_else(missing)?;
            let called = |name: &String| Ok(labels[run_of(&labels, name)?].clone());
            let drawn = all.draw(found, &wish.looks(called)?);
            let (drawn, notes) = drawn.map_err(|error| Refusal::bad(error.to_string()))?;
            arguments.extend(wish.arguments(name));
            told_drawn(&drawn, &notes)
        }
    };
    let figures: Vec<Value> = all.list().iter().map(of_list).collect();
    let command = in_words(&arguments);
    Ok(json!({ "labels": labels, "figures": figures, "drawn": drawn, "command": command }))
}

/// The figures of a run, those of its report first, and one of them drawn.
fn of_one_run(ui: &Ui, wish: &Wish, name: &str) -> Result<Value, Refusal> {
    if !wish.labels.is_empty() || wish.relative_to.is_some() {
        return Err(Refusal::bad("labels and relative_to are for several runs, and this is one"));
    }
    let directory = run_directory(&ui.runs, name)?;
    let run = read_run(&directory).map_err(|error| Refusal::bad(error.to_string()))?;
    let (own, of_metrics) = (run_figures(&run), MetricFigures::of(&run));
    // Figures of different factors have equal titles.
    let title = |it: &RunFigure| format!("{} ({})", it.title, it.name).trim_start().to_owned();
    let figures = own.iter().map(|it| told(&it.name, &title(it), false, &[]));
    let of_list = of_metrics.list().iter();
    let figures: Vec<Value> =
        figures.chain(of_list.map(|it| told(&it.name, &it.title, it.is_detail, &[]))).collect();
    let mut arguments = vec!["plot".to_owned(), directory.display().to_string()];
    let drawn = match &wish.figure {
        None => Value::Null,
        Some(name) => {
            let of_metric = of_metrics.list().iter().find(|it| it.name == *name);
            let found = own.into_iter().find(|it| it.name == *name);
            let found = found.or_else(|| of_metric.map(|it| of_metrics.draw(it)));
            let missing = || Refusal::missing(format!("this run has no figure {name}"));
            let looks = wish.looks(|name| Ok(name.clone()))?;
            let (drawn, notes) = looks
                .applied(found.ok_or_else(missing)?)
                .map_err(|error| Refusal::bad(error.to_string()))?;
            arguments.extend(wish.arguments(name));
            told_drawn(&drawn, &notes)
        }
    };
    let command = in_words(&arguments);
    Ok(json!({ "labels": [run.title], "figures": figures, "drawn": drawn, "command": command }))
}

/// A figure of the list.
fn told(name: &str, title: &str, is_detail: bool, missing: &[String]) -> Value {
    json!({ "name": name, "title": title, "is_detail": is_detail, "missing": missing })
}

fn told_drawn(drawn: &RunFigure, notes: &[String]) -> Value {
    let file = figure_file(&drawn.svg);
    json!({ "svg": drawn.svg, "file": file, "csv": drawn.table.as_ref().map(Table::csv), "notes": notes })
}

/// The index of the run with this label or number.
fn run_of(labels: &[String], name: &str) -> Result<usize, Refusal> {
    run_called(labels, name).ok_or_else(|| Refusal::bad(format!("no run is called `{name}`")))
}

impl Wish {
    /// `called` is the name in the figure of what a colour is of.
    fn looks(
        &self,
        called: impl Fn(&String) -> Result<String, Refusal>,
    ) -> Result<FigureLooks, Refusal> {
        let mut colours = Vec::new();
        for (name, colour) in &self.colors {
            let colour = colour.parse().map_err(|error| Refusal::bad(format!("{error}")))?;
            colours.push((called(name)?, colour));
        }
        let x = axis(self.x_range.as_deref(), self.x_scale, self.x_label.as_ref())?;
        let y = axis(self.y_range.as_deref(), self.y_scale, self.y_label.as_ref())?;
        Ok(FigureLooks { title: self.title.clone(), x, y, colours })
    }

    /// The options of `tcplab plot` for this figure with these looks; `=` as a value may begin with
    /// `-`.
    fn arguments(&self, figure: &str) -> Vec<String> {
        let colours = self.colors.iter().map(|(name, colour)| format!("--color={name}={colour}"));
        let scale = |it: AxisScale| if it == AxisScale::Log { "log" } else { "linear" }.to_owned();
        let texts = [
            ("title", self.title.clone()),
            ("x-range", self.x_range.clone()),
            ("y-range", self.y_range.clone()),
            ("x-scale", self.x_scale.map(scale)),
            ("y-scale", self.y_scale.map(scale)),
            ("x-label", self.x_label.clone()),
            ("y-label", self.y_label.clone()),
        ];
        let texts = texts.into_iter().filter_map(|(name, it)| Some(format!("--{name}={}", it?)));
        let figure = ["--figure".to_owned(), figure.to_owned()].into_iter();
        figure.chain(colours).chain(texts).collect()
    }
}

fn axis(
    range: Option<&str>,
    scale: Option<AxisScale>,
    label: Option<&String>,
) -> Result<AxisWish, Refusal> {
    let range = range.map(str::parse::<AxisRange>).transpose();
    Ok(AxisWish {
        range: range.map_err(|error| Refusal::bad(error.to_string()))?,
        is_log: scale.map(|scale| scale == AxisScale::Log),
        label: label.cloned(),
    })
}
