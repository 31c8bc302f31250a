//! Why there is nothing to compare.

use std::path::PathBuf;

use tcplab_path::tc::quoted_path;
use tcplab_scenario::nearest;

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
    #[error("{path} has no results of a run: {what}")]
    OtherDocument { path: PathBuf, what: String },
    #[error(
        "the results of {path} have version {version} of their format; this tcplab reads up to \
         version {known}"
    )]
    Newer { path: PathBuf, version: u64, known: u64 },
    #[error("nothing to compare {run} with:{}", several(.written))]
    NotWritten { run: String, written: Vec<String>, factors: Vec<String> },
    #[error("`{asked}` is not varied in {run}")]
    NoFactor { run: String, asked: String, factors: Vec<String> },
    #[error("{what}")]
    Levels { what: String, asked: Option<String>, factor: String, levels: Vec<String> },
    #[error("A and B have no case in common")]
    NoCases { a: Vec<String>, b: Vec<String> },
    #[error("`{metric}` has a threshold, and is not one of the metrics to compare")]
    Threshold { metric: String },
    #[error("nothing could be compared: {why}")]
    NoValues { why: String },
    #[error("{what}")]
    NoMetric { what: String, asked: Option<String>, known: Vec<String> },
}

/// A level as `--levels` takes it: one that has a comma in double quotes.
pub fn level_word(level: &str) -> String {
    if level.contains(',') { format!("\"{level}\"") } else { level.to_owned() }
}

/// Why the scenario does not say it.
fn several(written: &[String]) -> &'static str {
    match written {
        [] => " its scenario has no `[[compare]]`",
        _ => " its scenario has several `[[compare]]`",
    }
}

/// The last part of a factor's name, which is enough on the command line.
pub fn factor_word(factor: &str) -> &str {
    factor.rsplit('.').next().unwrap_or(factor)
}

/// The most similar of the known names, as a question.
fn near(asked: &str, known: &[&[String]]) -> String {
    let known = known.iter().flat_map(|names| names.iter().map(String::as_str));
    let near = nearest(asked, known).filter(|near| *near != asked);
    near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default()
}

/// The first names, and how many more there are.
fn some_of(names: &[String]) -> String {
    let (first, more) = names.split_at(names.len().min(3));
    match more.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
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
                quoted_path(path)
            ),
            CompareError::Unreadable { path, what } if what.contains("Permission denied") => {
                tcplab_recording::of_owner(path)
            }
            CompareError::Unreadable { path, .. } => {
                format!("make them anew with `tcplab report {}`", quoted_path(path))
            }
            CompareError::OtherDocument { .. } => {
                "pass what `tcplab run --json=FILE` writes, or a run directory".into()
            }
            CompareError::Newer { .. } => {
                "use a newer tcplab, or make the run again with this one".into()
            }
            CompareError::NotWritten { written, factors, .. } if written.is_empty() => {
                let by: Vec<String> = factors
                    .iter()
                    .map(|factor| format!("`--by {}`", factor_word(factor)))
                    .collect();
                let by =
                    if by.is_empty() { String::new() } else { format!(", or {}", by.join(", ")) };
                format!("pass another run{by}")
            }
            CompareError::NotWritten { written, .. } => format!("one of: {}", written.join("; ")),
            CompareError::NoFactor { factors, .. } if factors.is_empty() => {
                "compare two runs: this one has one case only".into()
            }
            CompareError::NoFactor { asked, factors, .. } => {
                let short: Vec<String> =
                    factors.iter().map(|factor| factor_word(factor).to_owned()).collect();
                format!("{}one of: {}", near(asked, &[&factors[..], &short]), list(factors))
            }
            CompareError::Levels { asked, factor, levels, .. } => {
                let near = near(asked.as_deref().unwrap_or_default(), &[levels]);
                let levels: Vec<String> = levels.iter().map(|level| level_word(level)).collect();
                format!("{near}say which two, `--by {factor} --levels A,B`, of: {}", list(&levels))
            }
            CompareError::NoCases { a, b } => {
                format!(
                    "choose runs of one scenario, or of scenarios with some equal levels: A has \
                     {}; B has {}",
                    some_of(a),
                    some_of(b)
                )
            }
            CompareError::Threshold { metric } => {
                format!("add `{metric}` to the metrics, or leave its threshold out")
            }
            CompareError::NoValues { .. } => {
                "the report of a run tells of each failed trial, and how to repeat it".into()
            }
            CompareError::NoMetric { asked, known, .. } => {
                let near = near(asked.as_deref().unwrap_or_default(), &[known]);
                format!("{near}there are: {}", list(known))
            }
        })
    }
}
