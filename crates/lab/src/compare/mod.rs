//! Two runs, or two levels of a factor in one, held against one another: what differs, by how much,
//! and how surely.
//!
//! Everything is read from the analysed results of runs (`run.json`). A is what there was, B what
//! is asked about: `better` and `worse` are said of B. What is computed and why:
//! docs/statistics.md.

pub mod captures;
mod choice;
mod diverge;
mod judge;
mod of_scenario;
mod read;
mod sides;
mod surroundings;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tcplab_scenario::Better;

use crate::Run;

pub use choice::{Asked, Metrics, Threshold};
pub use diverge::{Course, Divergence, Step, divergence};
pub(crate) use judge::median_interval;
pub use of_scenario::compare_as_written;
pub(crate) use of_scenario::of_scenario;
pub use read::read_run;

/// How surely something is said: of the whole family of what is tested, in one run in twenty at
/// most something is called different that is not.
pub const CONFIDENCE: f64 = 0.95;
const ALPHA: f64 = 1.0 - CONFIDENCE;

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// tcplab's version.
    pub tcplab: String,
    /// A and B.
    pub sides: [Side; 2],
    /// The factor whose levels are compared, within one run.
    pub by: Option<String>,
    /// The metrics, in the order asked for. Comparisons of older versions do not say.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// What else differs between A and B, and what is less than perfect about either.
    pub warnings: Vec<String>,
    /// What was tested together, in a sentence.
    pub family: String,
    /// How many tests that are: the probabilities are corrected for so many.
    pub tests: usize,
    /// What was compared, in the order of A.
    pub cases: Vec<ComparedCase>,
    /// Each metric of each case, the worst first.
    pub rows: Vec<Row>,
}

impl Comparison {
    /// How many rows have a verdict of this kind.
    pub fn count(&self, is_it: impl Fn(&Verdict) -> bool) -> usize {
        self.rows.iter().filter(|row| is_it(&row.verdict)).count()
    }
}

/// One of what is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What to call it: the run's directory, or the level.
    pub label: String,
    /// The scenario's name.
    pub scenario: String,
    /// The run's directory.
    pub directory: PathBuf,
    /// When it was started, UTC.
    pub started: String,
    /// The seed of the run.
    pub seed: u64,
    /// `kernel`, `sim`, or `kernel and sim`.
    pub world: String,
}

/// A case on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedCase {
    /// What both have in common.
    pub name: String,
    /// The case's name in A and in B.
    pub names: [String; 2],
    /// Whether both sides are in virtual time: then nothing but the seed decides.
    pub is_virtual: bool,
    /// The numbers of trials that ran with the same seed, in A and in B; nothing where the sides
    /// are independent of one another.
    pub pairs: Vec<[u32; 2]>,
}

/// A metric of a case on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case, as in [`ComparedCase::name`].
    pub case: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for counts.
    pub unit: String,
    /// Which of its values are good.
    pub better: Direction,
    /// Whether trials were compared pair by pair, same seed with same seed.
    pub is_paired: bool,
    /// The values of A and of B; of pairs in the same order.
    pub values: [Vec<f64>; 2],
    /// The numbers of the trials that show it best, in A and in B: of pairs, whose difference is
    /// not nothing and closest to that of all; else those closest to the medians.
    pub telling: [u32; 2],
    /// Their medians.
    pub medians: [f64; 2],
    /// 95 % intervals of these (bootstrap, BCa).
    pub median_intervals: [Option<(f64, f64)>; 2],
    /// By how much B exceeds A (Hodges and Lehmann), in the metric's unit.
    pub difference: f64,
    /// Where that lies with a confidence of 95 %; none where there are too few trials to say.
    pub interval: Option<(f64, f64)>,
    /// The probability of such a difference where there is none, by itself.
    pub p: f64,
    /// The same corrected for all that was tested (Holm).
    pub p_corrected: f64,
    /// From −1, B is always smaller, to 1, always larger.
    pub effect: f64,
    /// The smallest difference that these trials could show with a probability of 90 %; none where
    /// they could show none however large, or where nothing varies.
    pub detectable: Option<f64>,
    /// What is not worth calling a difference, in the metric's unit.
    pub margin: f64,
    /// The same as it was asked for.
    pub threshold: Threshold,
    /// What to think of it.
    pub verdict: Verdict,
}

impl Row {
    /// An amount as a share of A's median; none where that is zero.
    pub fn relative(&self, amount: f64) -> Option<f64> {
        let base = self.medians[0].abs();
        (base > 0.0).then(|| amount / base)
    }

    /// Whether a difference was shown, however small.
    pub fn is_different(&self) -> bool {
        self.p_corrected <= ALPHA
    }

    /// How many trials of each side there are; of pairs, how many pairs.
    pub fn trials(&self) -> [usize; 2] {
        self.values.each_ref().map(Vec::len)
    }
}

/// [`Better`] for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Small values are good.
    Lower,
    /// Large ones.
    Higher,
    /// It is a description, not a merit.
    Neither,
}

impl Direction {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Lower => "lower",
            Direction::Higher => "higher",
            Direction::Neither => "neither",
        }
    }
}

impl From<Better> for Direction {
    fn from(better: Better) -> Direction {
        match better {
            Better::Lower => Direction::Lower,
            Better::Higher => Direction::Higher,
            Better::Neither => Direction::Neither,
        }
    }
}

/// What to think of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// B is worse, surely and by more than the threshold may be.
    Worse,
    /// They surely differ, in what is no merit.
    Different,
    /// Nothing is sure.
    Undecided {
        /// So many more trials of each side would decide it, or so many more seeds.
        more: usize,
        /// Whether with so few trials nothing can be shown, however large.
        too_few: bool,
    },
    /// B is surely better.
    Better,
    /// Surely no further apart than the threshold.
    Same {
        /// Whether each trial has the same value on both sides.
        identical: bool,
    },
}

impl Verdict {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Worse => "worse",
            Verdict::Different => "different",
            Verdict::Undecided { .. } => "undecided",
            Verdict::Better => "better",
            Verdict::Same { .. } => "same",
        }
    }

    /// The worst first.
    fn rank(self) -> usize {
        match self {
            Verdict::Worse => 0,
            Verdict::Different => 1,
            Verdict::Undecided { .. } => 2,
            Verdict::Better => 3,
            Verdict::Same { .. } => 4,
        }
    }
}

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each field is told in the message above it")]
pub enum CompareError {
    /// It is not a run.
    #[error("{path} is not the directory of a run: {what}")]
    NotARun { path: PathBuf, what: String },
    /// It is not finished.
    #[error("{path} has no results yet: it has no run.json")]
    NoResults { path: PathBuf },
    /// Its results are those of another version, or damaged.
    #[error("the results of {path} cannot be read: {what}")]
    Unreadable { path: PathBuf, what: String },
    /// Nothing says what to compare it with.
    #[error("with what is {run} to be compared?{}", several(.written))]
    NotWritten { run: String, written: Vec<String> },
    /// No such factor.
    #[error("`{asked}` is not varied in {run}")]
    NoFactor { run: String, asked: String, factors: Vec<String> },
    /// The levels are not clear.
    #[error("{what}")]
    Levels { what: String, factor: String, levels: Vec<String> },
    /// Nothing is in both.
    #[error("A and B have no case in common")]
    NoCases { a: Vec<String>, b: Vec<String> },
    /// A metric that nobody knows, or that the trials do not have.
    #[error("{what}")]
    NoMetric { what: String, known: Vec<String> },
}

/// Why the scenario does not say it.
fn several(written: &[String]) -> &'static str {
    match written {
        [] => " Its scenario has no `[[compare]]`",
        _ => " Its scenario has several `[[compare]]`",
    }
}

impl CompareError {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<String> {
        let list = |names: &[String]| names.join(", ");
        Some(match self {
            CompareError::NotARun { .. } => {
                "name the directory that `tcplab run` made (RUNS/<name>/<time>-<hash>)".into()
            }
            CompareError::NoResults { path } => format!(
                "finish it with `tcplab run --resume {0}`, or, if all trials are there, make them \
                 with `tcplab report {0}`",
                path.display()
            ),
            CompareError::Unreadable { path, .. } => {
                format!("make them anew with `tcplab report {}`", path.display())
            }
            CompareError::NotWritten { written, .. } if written.is_empty() => {
                "name another run, or a factor of this one with `--by FACTOR`".into()
            }
            CompareError::NotWritten { written, .. } => format!("one of: {}", written.join("; ")),
            CompareError::NoFactor { factors, .. } if factors.is_empty() => {
                "compare two runs: this one has one case only".into()
            }
            CompareError::NoFactor { factors, .. } => format!("one of: {}", list(factors)),
            CompareError::Levels { factor, levels, .. } => {
                format!("say which two, `--by {factor} --levels A,B`, of: {}", list(levels))
            }
            CompareError::NoCases { a, b } => {
                format!("A has {}; B has {}", list(a), list(b))
            }
            CompareError::NoMetric { known, .. } => format!("there are: {}", list(known)),
        })
    }
}

/// Holds run B against run A, each read from its directory.
///
/// # Errors
/// When they have no case in common, or a metric is asked for that neither has.
pub fn compare_runs(
    a: (&Path, &Run),
    b: (&Path, &Run),
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let sides = [a, b].map(|(path, run)| side(path, path.display().to_string(), run));
    let matched = sides::of_runs(a.1, b.1)?;
    let warnings = surroundings::of_runs(a.1, b.1);
    judge::comparison(sides, None, matched, warnings, asked)
}

/// Holds one level of a factor against another within a run; `levels` may be left out where there
/// are but two. The factor may be named by its last words.
///
/// # Errors
/// When there is no such factor or level, or a metric is asked for that no trial has.
pub fn compare_levels(
    (path, run): (&Path, &Run),
    factor: &str,
    levels: Option<[&str; 2]>,
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let sides::Levels { factor, chosen, matched } = sides::of_levels(run, factor, levels)?;
    let sides = chosen.map(|level| side(path, level, run));
    judge::comparison(sides, Some(factor), matched, Vec::new(), asked)
}

fn side(path: &Path, label: String, run: &Run) -> Side {
    Side {
        label,
        scenario: run.name.clone(),
        directory: path.into(),
        started: run.started.clone(),
        seed: run.seed,
        world: run.world.clone(),
    }
}
