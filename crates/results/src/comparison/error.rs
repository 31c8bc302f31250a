//! Why there is nothing to compare.

use std::path::PathBuf;

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum CompareError {
    #[error("{path} is not a run directory: {what}")]
    NotARun { path: PathBuf, what: String },
    #[error("{path} is unfinished: it has no run.json")]
    NoResults { path: PathBuf },
    #[error("the results of {path} cannot be read: {what}")]
    Unreadable { path: PathBuf, what: String },
    #[error("nothing to compare {run} with:{}", several(.written))]
    NotWritten { run: String, written: Vec<String> },
    #[error("`{asked}` is not varied in {run}")]
    NoFactor { run: String, asked: String, factors: Vec<String> },
    #[error("{what}")]
    Levels { what: String, factor: String, levels: Vec<String> },
    #[error("A and B have no case in common")]
    NoCases { a: Vec<String>, b: Vec<String> },
    #[error("{what}")]
    NoMetric { what: String, known: Vec<String> },
}

/// Why the scenario does not say it.
fn several(written: &[String]) -> &'static str {
    match written {
        [] => " its scenario has no `[[compare]]`",
        _ => " its scenario has several `[[compare]]`",
    }
}

impl CompareError {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<String> {
        let list = |names: &[String]| names.join(", ");
        Some(match self {
            CompareError::NotARun { .. } => {
                "pass a run directory (RUNS/<name>/<time>-<hash>)".into()
            }
            CompareError::NoResults { path } => format!(
                "resume it with `tcplab run --resume {0}`, or, if all trials are done, make them \
                 with `tcplab report {0}`",
                path.display()
            ),
            CompareError::Unreadable { path, .. } => {
                format!("make them anew with `tcplab report {}`", path.display())
            }
            CompareError::NotWritten { written, .. } if written.is_empty() => {
                "pass another run, or `--by FACTOR`".into()
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
