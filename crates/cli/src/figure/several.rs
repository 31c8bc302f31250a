//! `tcplab plot` of several runs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tcplab_lab::{RunDirectory, read_run};
use tcplab_plot::Colour;
use tcplab_report::{
    CommonFigure, CommonFigures, KeptRuns, LabelError, RUNS_MOST, Relative, check_labels, labelled,
    run_called,
};
use tcplab_results::Run;
use tcplab_scenario::nearest;
use tcplab_units::rounded::grouped;
use tcplab_units::visible_line;

use super::listing::once_each;
use super::looks::{looks, refused, tell};
use super::writing::write;
use crate::arguments::FigureArguments;
use crate::output::{answer, print_note};
use crate::remedied::Remedied;

/// Lists the figures that the runs have in common, or writes one.
///
/// # Errors
/// If there are too many runs, one cannot be read, labels do not fit, or no figure has the name.
pub(super) fn plot(arguments: &FigureArguments) -> Result<()> {
    let places = places(arguments)?;
    // A wrong label is found before large runs are read.
    check(&arguments.label, places.len())?;
    let mut runs = read(&places)?;
    let names: Vec<String> = places.iter().map(|place| name_of(place)).collect();
    let all = labelled(&runs, &names, &arguments.label);
    let labels: Vec<String> = all.into_iter().map(|it| it.label).collect();
    let reference = arguments.relative_to.as_ref().map(|name| run_of(&labels, name));
    let relative = reference.transpose()?.map(|index| Relative::divide(&mut runs, &labels, index));
    let figures = CommonFigures::of(&labelled(&runs, &names, &labels), relative);
    drop(runs);
    let Some(name) = &arguments.figure else {
        if figures.list().is_empty() {
            return Err(Remedied::error(
                "these runs have no figure in common: no two of them measured the same",
                "`tcplab plot RUN` with one of them lists its own",
            ));
        }
        return answer(&list(figures.list()));
    };
    let Some(figure) = figures.list().iter().find(|it| it.name == *name) else {
        let near = nearest(name, figures.list().iter().map(|it| it.name.as_str()));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        return Err(Remedied::error(
            format!("no figure `{name}` of these runs"),
            format!("{near}`tcplab plot RUN RUN` lists them; those of one run are its own"),
        ));
    };
    let looks = looks(&arguments.looks, colours(&labels, &arguments.looks.color)?);
    let (drawn, notes) = figures.draw(figure, &looks).map_err(|error| refused(&error))?;
    write(&drawn, arguments)?;
    if let Some(note) = without(figure) {
        print_note(&note);
    }
    tell(&notes);
    Ok(())
}

fn read(places: &[PathBuf]) -> Result<Vec<Run>> {
    let mut kept = KeptRuns::default();
    for place in places {
        let few = |error| Remedied::error(format!("{error}"), "name fewer runs");
        kept.add(read_run(place)?).map_err(few)?;
    }
    Ok(kept.into_runs())
}

/// The index of the run with this label or number.
fn run_of(labels: &[String], name: &str) -> Result<usize> {
    run_called(labels, name).ok_or_else(|| {
        let near = nearest(name, labels.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Remedied::error(
            format!("no run is called `{name}`"),
            format!("{near}its label, or its number from 1 to {}", labels.len()),
        )
    })
}

/// Colours by the labels of the runs.
fn colours(labels: &[String], asked: &[(String, Colour)]) -> Result<Vec<(String, Colour)>> {
    let one =
        |(name, colour): &(String, Colour)| Ok((labels[run_of(labels, name)?].clone(), *colour));
    asked.iter().map(one).collect()
}

fn places(arguments: &FigureArguments) -> Result<Vec<PathBuf>> {
    if arguments.run.len() > RUNS_MOST {
        return Err(Remedied::error(
            format!("{} runs are too many for one figure", grouped(arguments.run.len() as u64)),
            format!("name at most {} runs", grouped(RUNS_MOST as u64)),
        ));
    }
    let named = |place: &PathBuf| RunDirectory::named(place, &arguments.runs);
    let places: Vec<PathBuf> = arguments.run.iter().map(named).collect();
    let whole: Vec<_> = places.iter().map(|place| place.canonicalize().ok()).collect();
    for (index, place) in whole.iter().enumerate() {
        if place.is_some() && whole[..index].contains(place) {
            return Err(Remedied::error(
                format!("{} is named twice", places[index].display()),
                "name each run once; a scenario's name stands for its newest run",
            ));
        }
    }
    Ok(places)
}

fn check(labels: &[String], runs: usize) -> Result<()> {
    if labels.is_empty() {
        return Ok(());
    }
    check_labels(labels, runs).map_err(|error| {
        let remedy = match error {
            LabelError::Count { runs, .. } => {
                format!("repeat --label NAME {runs} times, in the order of the runs, or not at all")
            }
            LabelError::Empty => "`--label NAME` with a name to show".into(),
            LabelError::Equal(_) => "give each run a label of its own".into(),
        };
        Remedied::error(error.to_string(), remedy)
    })
}

/// The directory's name, or that of the file without its ending.
fn name_of(place: &Path) -> String {
    let whole = place.canonicalize();
    let place = whole.as_deref().unwrap_or(place);
    let name = if place.is_file() { place.file_stem() } else { place.file_name() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// A line for each figure of the key metrics; what stands for cases and other quantities below.
fn list(figures: &[CommonFigure]) -> String {
    let (details, keys): (Vec<_>, Vec<_>) = figures.iter().partition(|it| it.is_detail);
    let mut lines: Vec<(String, String)> = Vec::new();
    for figure in keys {
        let name = match &figure.case {
            Some(case) => format!("{}CASE", figure.name.strip_suffix(case).unwrap_or_default()),
            None => figure.name.clone(),
        };
        let title = match (&figure.case, without(figure)) {
            (Some(case), _) => figure.title.replace(case.as_str(), "CASE"),
            (None, Some(note)) => format!("{} ({note})", figure.title),
            (None, None) => figure.title.clone(),
        };
        if lines.last().is_none_or(|(last, _)| *last != name) {
            lines.push((name, title));
        }
    }
    let widest = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, title) in &lines {
        text += &format!("{}\n", visible_line(&format!("{name:widest$}  {title}")));
    }
    let quantities = details.iter().filter_map(|it| Some(it.name.split_once('/')?.0));
    let cases = figures.iter().filter_map(|it| it.case.as_deref());
    for (what, all) in [("CASE", once_each(cases)), ("also, likewise", once_each(quantities))] {
        if !all.is_empty() {
            text += &format!("{what}: {}\n", visible_line(&all.join(", ")));
        }
    }
    text
}

/// The runs with nothing in the figure.
fn without(figure: &CommonFigure) -> Option<String> {
    let missing: Vec<String> = figure.missing.iter().map(|label| format!("`{label}`")).collect();
    let missing = missing.join(", ");
    (!missing.is_empty()).then(|| format!("no values in {}", visible_line(&missing)))
}
