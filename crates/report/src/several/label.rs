//! What runs are called in figures.

use tcplab_results::Run;
use tcplab_units::rounded::counted;
use thiserror::Error;

use crate::title::free_name;

/// A run, and what it is called in figures.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledRun<'r> {
    /// Differs from that of every other run.
    pub label: String,
    /// Its results.
    pub run: &'r Run,
}

/// Why labels cannot be those of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LabelError {
    /// Not one for each run.
    #[error("{} for {runs} runs", counted(*labels, "label", "labels"))]
    Count {
        /// How many.
        labels: usize,
        /// Of how many runs.
        runs: usize,
    },
    /// It is empty or blank.
    #[error("a label is empty")]
    Empty,
    /// Two runs would look the same.
    #[error("two runs are called `{0}`")]
    Equal(String),
}

/// Whether these labels can be those of so many runs, one for each.
///
/// # Errors
/// If there are more or less, one is blank, or two are equal.
pub fn check_labels(labels: &[String], runs: usize) -> Result<(), LabelError> {
    if labels.len() != runs {
        return Err(LabelError::Count { labels: labels.len(), runs });
    }
    for (index, label) in labels.iter().enumerate() {
        if label.trim().is_empty() {
            return Err(LabelError::Empty);
        }
        if labels[..index].contains(label) {
            return Err(LabelError::Equal(label.clone()));
        }
    }
    Ok(())
}

/// The runs with one's own labels, which [`check_labels`] has passed, or without any, with labels
/// made of their titles and `names`, those of their directories.
pub fn labelled<'r>(runs: &'r [Run], names: &[String], own: &[String]) -> Vec<LabelledRun<'r>> {
    let named: Vec<(&Run, &str)> = runs.iter().zip(names.iter().map(String::as_str)).collect();
    let labels = if own.is_empty() { labels(&named) } else { own.to_vec() };
    labels.into_iter().zip(runs).map(|(label, run)| LabelledRun { label, run }).collect()
}

/// The run that is called so: by its label, or by its number in the order of all, from 1.
pub fn run_called(labels: &[String], name: &str) -> Option<usize> {
    let by_number = || name.parse::<usize>().ok()?.checked_sub(1).filter(|it| *it < labels.len());
    labels.iter().position(|label| label == name).or_else(by_number)
}

/// The title of each run. Among runs of one title, a run with a name of its own has that (one run
/// again with other events is `…-changed`). The others have their identity added: what follows the
/// time in the name of the run's directory. Where that does not tell them apart either, they are
/// numbered.
pub(super) fn labels(runs: &[(&Run, &str)]) -> Vec<String> {
    let titles: Vec<&str> = runs.iter().map(|(run, _)| run.title.trim()).collect();
    let mut labels: Vec<String> = Vec::new();
    for ((run, directory), title) in runs.iter().zip(&titles) {
        let alike = || runs.iter().filter(|(other, _)| other.title.trim() == *title);
        let is_alone = alike().count() == 1;
        let is_named = !run.name.is_empty()
            && alike().filter(|(other, _)| other.name == run.name).count() == 1;
        let identity = directory.rsplit_once('-').map_or(*directory, |(_, identity)| identity);
        let label = match (title.is_empty(), is_alone, is_named) {
            (true, ..) => (*directory).to_owned(),
            (false, true, _) => (*title).to_owned(),
            (false, false, true) => run.name.clone(),
            (false, false, false) => format!("{title} ({identity})"),
        };
        labels.push(free_name(&label, ' ', |label| labels.iter().any(|it| it == label)));
    }
    labels
}
