//! Lessons, experiments with socket options, and programs: what a person can learn from, as data.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::assets::carried;

/// A lesson: a question of one of the founding documents, to be answered by an experiment.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lesson {
    pub(crate) id: String,
    /// The document's number and title, in `docs/documents`.
    pub(crate) document: String,
    document_title: String,
    title: String,
    question: String,
    /// What the document found.
    finds: String,
    /// The case whose first trial is worth watching.
    watch: String,
    pub(crate) prediction: Prediction,
    /// Why it is so, for those who have seen it.
    explains: String,
    /// The built-in scenario.
    pub(crate) scenario: String,
    /// What the document says.
    pub(crate) rows: Vec<Row>,
}

/// What a person says before the run.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prediction {
    asks: String,
    /// The metric that answers it: its mean in this case …
    pub(crate) metric: String,
    pub(crate) case: String,
    /// … or how many times that of this other one.
    pub(crate) over: Option<String>,
    choices: Vec<Choice>,
}

/// An answer: right for values from the bound of the one before up to its own.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    says: String,
    /// None of the last.
    below: Option<f64>,
}

/// What the document says, with the claims of the scenario that repeat it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    part: String,
    says: String,
    figure: Option<String>,
    pub(crate) claims: Vec<String>,
    verdict: String,
    why: Option<String>,
}

/// A built-in experiment that shows what a socket option does.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionExperiment {
    pub(crate) option: String,
    scenario: String,
    shows: String,
}

/// A connection whose states are worth following.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Walk {
    scenario: String,
    case: String,
    title: String,
    says: String,
}

/// A program of the sockets course, in both languages.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// The number of the course's example; none: an experiment beside them.
    example: Option<u8>,
    pub(crate) name: String,
    /// What it is, where its name does not say it.
    title: Option<String>,
    shows: String,
    /// What Rust's library hides.
    hides: String,
    reference: String,
    /// The built-in experiment that measures it, if there is one.
    scenario: Option<String>,
    /// Where that runs: `sim` or `kernel`.
    world: Option<String>,
    /// What to type, line by line.
    commands: Vec<String>,
}

macro_rules! data {
    ($name:literal) => {
        LazyLock::new(|| {
            serde_json::from_slice(carried(concat!("page/", $name)).as_bytes())
                .expect(concat!($name, " is read in tests"))
        })
    };
}

pub(crate) static LESSONS: LazyLock<Vec<Lesson>> = data!("lessons.json");
pub(crate) static OPTION_EXPERIMENTS: LazyLock<Vec<OptionExperiment>> =
    data!("option-experiments.json");
pub(crate) static WALKS: LazyLock<Vec<Walk>> = data!("walks.json");
pub(crate) static PROGRAMS: LazyLock<Vec<Program>> = data!("programs.json");

impl Prediction {
    /// The place of the answer that is right for a value.
    pub(crate) fn right(&self, value: f64) -> usize {
        let is_right = |choice: &Choice| choice.below.is_none_or(|below| value < below);
        self.choices.iter().position(is_right).unwrap_or(self.choices.len() - 1)
    }
}

#[cfg(test)]
mod tests;
