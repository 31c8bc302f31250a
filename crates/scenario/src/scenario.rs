//! A scenario, read and checked; its trials, their seeds and their order.

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_units::Rng;

use crate::compares::have_counterparts;
use crate::design::DesignSpec;
use crate::fault::Fault;
use crate::file::ScenarioFile;
use crate::matrix::Matrix;
use crate::path_file::{Files, ReadFile, no_files};

use crate::{Case, Compare, Expectation, Plot, RecordingSpec, ScenarioError, Until, plots};

/// An experiment: its cases, how often each is tried, and what is claimed of the outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// The file's name without its ending.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The document it comes from.
    pub reference: Option<String>,
    /// The file as it was read.
    pub source: String,
    /// The files it refers to, by the names it has for them, as they were read.
    #[serde(skip)]
    pub files: BTreeMap<String, Vec<u8>>,
    /// The seed that all others come from.
    pub seed: u64,
    /// How often each case is tried, at least once; at most so often, where `until` decides.
    pub trials: u32,
    /// The number of the first trial of each case: 1, unless one is run again by itself. The last
    /// has the number `trials`.
    #[serde(skip)]
    pub first: u32,
    /// When to stop, where the number of trials is not fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Blocks of trials on the kernel that come first and do not count.
    pub warm_up: u32,
    /// How often a trial is run again that failed, or whose path misbehaved.
    pub retries: u32,
    /// What stays of the trials' packets.
    pub recording: RecordingSpec,
    /// Which combinations of levels the cases are, in words.
    pub design: String,
    /// What the report draws over what is varied.
    pub plots: Vec<Plot>,
    /// What is held against one another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compares: Vec<Compare>,
    /// What is claimed.
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
    /// ending; it also names the file in errors (see [`ScenarioError::in_file`]).
    ///
    /// # Errors
    /// The first thing in the file that cannot be, with its place and what would be right.
    pub fn parse(source: &str, name: &str) -> Result<Scenario, ScenarioError> {
        Scenario::parse_with_files(source, name, &mut no_files)
    }

    /// Reads a scenario file; `read` gives the content of the files it refers to (rate traces,
    /// distribution tables), by the names it has for them, or says why there is none.
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
            .map_err(|fault| ScenarioError::new::<ScenarioFile>(fault, source, name))
    }

    /// The same with those of its cases alone that have these names. What needs any other of them,
    /// claims that hold a case against another and comparisons, is gone; other claims are about
    /// those that stay.
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
        compares.retain(|it| have_counterparts(&cases, &it.factor, &it.levels));
        let design = format!("{}; {} of these {}", self.design, cases.len(), self.cases.len());
        Scenario { design, compares, expects, cases, ..self }
    }

    /// All trials in the order to run them: complete blocks, each of which runs every case once,
    /// each block in a random order of its own. So whatever drifts on the machine hits all cases
    /// alike, and a run cut short has compared like with like.
    pub fn trial_order(&self, seed: u64) -> Vec<TrialId> {
        let mut rng = Rng::new(seed, "trial order");
        let mut order = Vec::with_capacity(self.cases.len() * self.trials as usize);
        for number in 1..=self.trials {
            let mut block: Vec<TrialId> =
                (0..self.cases.len()).map(|case| TrialId { case, number }).collect();
            rng.shuffle(&mut block);
            // The order of a block is the same whatever came before it.
            if number >= self.first {
                order.extend(block);
            }
        }
        order
    }
}

/// The seed of the trial with this number (from 1) in every case: cases are compared under the
/// same impairments and payload, trial by trial. Below 2⁵³, so that every reader of JSON can hold
/// it.
pub fn trial_seed(run_seed: u64, number: u32) -> u64 {
    Rng::new(run_seed, &format!("trial {number}")).next_u64() >> 11
}

fn read_scenario(source: &str, name: &str, referred: &mut Files<'_>) -> Result<Scenario, Fault> {
    let mut document = toml::de::DeTable::parse(source).map_err(|error| Fault::syntax(&error))?;
    let mut matrix = Matrix::take(document.get_mut(), source)?;
    let design = DesignSpec::take(&mut document)?.apply(&mut matrix, source)?;
    let mut files = Vec::new();
    for cell in matrix.cells() {
        files.push(ScenarioFile::read(document.clone(), &cell, referred)?);
    }
    let cases: Vec<Case> =
        files.iter().zip(matrix.cells()).map(|(f, cell)| f.case(&cell)).collect();
    let cases = matrix.named(cases);

    // What is not varied is the same in all; there is at least one.
    let file = files.swap_remove(0);
    let expects = file
        .expect
        .iter()
        .map(|expect| expect.resolve(&matrix, &cases, source))
        .collect::<Result<_, _>>()?;
    let compares = file
        .compare
        .iter()
        .map(|compare| compare.resolve(&matrix, &cases, source))
        .collect::<Result<_, _>>()?;
    let plots = match &file.plot {
        Some(plots) => {
            plots.iter().map(|it| it.resolve(&matrix, &cases)).collect::<Result<_, _>>()?
        }
        None => plots::usual(&matrix, &cases),
    };
    Ok(Scenario {
        name: name.into(),
        title: file.title,
        reference: file.reference,
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
