//! A scenario, its trials, their seeds and their order.

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_units::{Bytes, Rng};
use toml::Spanned;
use toml::de::DeTable;

use crate::design::DesignSpec;
use crate::fault::Fault;
use crate::file::ScenarioFile;
use crate::matrix::Matrix;
use crate::mistakes::{Faults, read_all};
use crate::path_file::{Files, ReadFile, no_files};
use crate::problem::Problem;
use crate::question::asked_metric;
use crate::schema::ReadAs;

use crate::{CLAIMS, Case, Compare, Expectation, Plot, RecordingSpec, ScenarioError, Until, plots};

/// An experiment: cases, number of trials, claims.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// The file's name without its extension.
    pub name: String,
    /// What it tests, in a line.
    pub title: String,
    /// The document it comes from.
    pub reference: Option<String>,
    /// The question that it answers, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The factor that the question is about, by its full name, where the file names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_factor: Option<String>,
    /// The metric that the question is about, or [`CLAIMS`](crate::CLAIMS), where the file says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_metric: Option<String>,
    /// The text of the file.
    pub source: String,
    /// The content of the files it refers to, by the names in the scenario.
    #[serde(skip)]
    pub files: BTreeMap<String, Vec<u8>>,
    /// The seed of all other seeds.
    pub seed: u64,
    /// Trials of each case, at least one; with `until`, the maximum.
    pub trials: u32,
    /// The number of the first trial of each case: 1, unless a single trial is repeated. The last
    /// is `trials`.
    #[serde(skip)]
    pub first: u32,
    /// When to stop, if the number of trials is not fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Uncounted blocks before the trials on the kernel.
    pub warm_up: u32,
    /// How often a trial that failed or was flawed is repeated.
    pub retries: u32,
    /// Which packets the run keeps.
    pub recording: RecordingSpec,
    /// Which combinations of levels are cases, in words.
    pub design: String,
    /// Plots in the report.
    pub plots: Vec<Plot>,
    /// Comparisons of levels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compares: Vec<Compare>,
    /// Claims.
    pub expects: Vec<Expectation>,
    /// The cells of the matrix, the first factor varying slowest; one case without a matrix.
    pub cases: Vec<Case>,
}

/// One trial of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TrialId {
    /// Index into [`Scenario::cases`].
    pub case: usize,
    /// From 1.
    pub number: u32,
}

impl Scenario {
    /// Reads a scenario file that refers to no other files. `name` is the file's name without its
    /// extension; errors show it (see [`ScenarioError::in_file`]).
    ///
    /// # Errors
    /// The mistakes in the file, with their lines and remedies.
    pub fn parse(source: &str, name: &str) -> Result<Scenario, ScenarioError> {
        Scenario::parse_with_files(source, name, &mut no_files)
    }

    /// Reads a scenario file; `read` returns the content of a file that it refers to (rate traces,
    /// distribution tables), or why it cannot be read.
    ///
    /// # Errors
    /// As for [`Scenario::parse`].
    pub fn parse_with_files(
        source: &str,
        name: &str,
        read: &mut ReadFile<'_>,
    ) -> Result<Scenario, ScenarioError> {
        let mut files = Files::new(read);
        let scenario = read_scenario(source, name, &mut files);
        scenario
            .map(|scenario| Scenario { files: files.seen(), ..scenario })
            .map_err(|faults| ScenarioError::of(ReadAs::Scenario, faults, source, name))
    }

    /// Keeps only the cases with these names. Removes comparisons and claims that need other cases;
    /// other claims apply to the cases that remain.
    #[must_use]
    pub fn only(self, names: &[String]) -> Scenario {
        let stays = |case: &Case| names.contains(&case.name);
        let place = |index: &usize| {
            let before = &self.cases[..*index];
            stays(&self.cases[*index]).then(|| before.iter().filter(|case| stays(case)).count())
        };
        let claim = |expect: &Expectation| {
            let held = |nth: usize| expect.baselines.get(nth).map(&place);
            let all = expect.cases.iter().enumerate();
            let both = all.filter_map(|(nth, case)| match held(nth) {
                None => Some((place(case)?, None)),
                Some(other) => Some((place(case)?, Some(other?))),
            });
            let (cases, baselines): (Vec<usize>, Vec<Option<usize>>) = both.unzip();
            let baselines = baselines.into_iter().flatten().collect();
            (!cases.is_empty()).then(|| Expectation { cases, baselines, ..expect.clone() })
        };
        let expects = self.expects.iter().filter_map(claim).collect();
        let cases: Vec<Case> = self.cases.iter().filter(|case| stays(case)).cloned().collect();
        let mut compares = self.compares;
        compares.retain(|it| it.combinations(&cases) > 0);
        let design = format!("{}; {} of these {}", self.design, cases.len(), self.cases.len());
        Scenario { design, compares, expects, cases, ..self }
    }

    /// All trials in running order: blocks that run every case once, each in its own random order.
    /// A drift of the machine then affects all cases alike, and a stopped run has balanced cases.
    pub fn trial_order(&self, seed: u64) -> Vec<TrialId> {
        let mut rng = Rng::new(seed, "trial order");
        let mut order = Vec::with_capacity(self.cases.len() * self.trials as usize);
        for number in 1..=self.trials {
            let mut block: Vec<TrialId> =
                (0..self.cases.len()).map(|case| TrialId { case, number }).collect();
            rng.shuffle(&mut block);
            // The order of a block does not depend on the first trial.
            if number >= self.first {
                order.extend(block);
            }
        }
        order
    }
}

/// The seed of the trial with this number (from 1) in every case, so that cases meet the same
/// impairments and payload, trial by trial. Below 2⁵³, which every JSON reader can represent.
pub fn trial_seed(run_seed: u64, number: u32) -> u64 {
    Rng::new(run_seed, &format!("trial {number}")).next_u64() >> 11
}

/// The most that the text of a scenario makes, once for each case: reading it takes some seconds.
const TEXTS_MAX: Bytes = Bytes::new(64_000_000);
/// The most that the files it names make, once for each case, which has them in memory.
const FILES_MAX: Bytes = Bytes::new(256_000_000);

fn check_size(source: &str, referred: &Files<'_>, matrix: &Matrix<'_>) -> Result<(), Fault> {
    let cases = matrix.cells().len();
    let of_text = ("the text", source.len(), TEXTS_MAX);
    for (what, each, most) in [of_text, ("the files that it names", referred.len(), FILES_MAX)] {
        let found = Bytes::new(each as u64 * cases as u64);
        if found > most {
            let problem = Problem::TooLarge { what, cases, found, most };
            return Err(Fault::new(problem, matrix.span()));
        }
    }
    Ok(())
}

fn read_scenario(source: &str, name: &str, referred: &mut Files<'_>) -> Result<Scenario, Faults> {
    let document = DeTable::parse(source).map_err(|error| Fault::syntax(&error))?;
    read_all(document, source, |document| read_document(document, source, name, referred))
}

fn read_document(
    mut document: Spanned<DeTable<'_>>,
    source: &str,
    name: &str,
    referred: &mut Files<'_>,
) -> Result<Scenario, Fault> {
    let mut matrix = Matrix::take(document.get_mut(), source)?;
    let design = DesignSpec::take(&mut document)?.apply(&mut matrix, source)?;
    let mut files = Vec::new();
    for cell in matrix.cells() {
        check_size(source, referred, &matrix)?;
        files.push(ScenarioFile::read(document.clone(), &cell, referred)?);
    }
    let cases: Vec<Case> =
        files.iter().zip(matrix.cells()).map(|(f, cell)| f.case(&cell)).collect();
    matrix.check_levels_differ(&cases)?;
    let cases = matrix.named(cases);

    // The other sections are equal in all cells; there is at least one.
    let file = files.swap_remove(0);
    let expects = file
        .expect
        .iter()
        .map(|expect| expect.resolve(&matrix, &cases, source, file.repeat.fewest()))
        .collect::<Result<_, _>>()?;
    let compares: Vec<Compare> = file
        .compare
        .iter()
        .map(|compare| compare.resolve(&matrix, &cases, source))
        .collect::<Result<_, _>>()?;
    let asked = file.question_factor.as_ref();
    let question_factor =
        asked.map(|it| matrix.find(it).map(|factor| factor.key.to_string())).transpose()?;
    let question_metric = file.question_metric.as_ref().map(asked_metric).transpose()?;
    let plots = if let Some(plots) = &file.plot {
        plots.iter().map(|it| it.resolve(&matrix, &cases)).collect::<Result<_, _>>()?
    } else {
        let compared = || compares.first()?.metrics.first().map(String::as_str);
        let main = question_metric.as_deref().filter(|it| *it != CLAIMS).or_else(compared);
        plots::usual(&matrix, &cases, main)
    };
    Ok(Scenario {
        name: name.into(),
        title: file.title,
        reference: file.reference,
        question: file.question,
        question_factor,
        question_metric,
        source: source.into(),
        files: BTreeMap::new(),
        seed: file.repeat.seed,
        trials: file.repeat.trials(),
        first: 1,
        until: file.repeat.until(&cases),
        warm_up: file.repeat.warm_up(),
        retries: file.repeat.retries,
        recording: file.recording,
        design,
        plots,
        compares,
        expects,
        cases,
    })
}

#[cfg(test)]
mod tests;
