//! `tcplab run FOLDER`: all experiments of a folder, one after the other.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use tcplab_scenario::catalogue;

use crate::arguments::RunArguments;
use crate::exit::{ERROR, FAILED};
use crate::output::{answer, tell};
use crate::print_error::print_error;
use crate::run_summary::{RunEnd, RunSummary};
use crate::scenarios;
use crate::signals::stop_on_signals;

/// The experiments of a folder, as `tcplab run` takes them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Series(Vec<String>);

impl Series {
    /// Those of a folder of the catalogue, or of a directory with scenario files; none if `given`
    /// is neither. What the catalogue has goes first: `./NAME` is a directory all the same.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub(crate) fn find(given: &str) -> Result<Option<Series>> {
        let folder = format!("{given}/");
        let known = catalogue().iter().map(|(name, _)| *name);
        let of_folder: Vec<String> =
            known.filter(|name| name.starts_with(&folder)).map(Into::into).collect();
        if !of_folder.is_empty() {
            return Ok(Some(Series(of_folder)));
        }
        let directory = Path::new(given);
        if !directory.is_dir() {
            return Ok(None);
        }
        let mut files = Vec::new();
        let entries = fs::read_dir(directory).with_context(|| format!("cannot read {given}"))?;
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read {given}"))?.path();
            if path.is_file() && path.extension().is_some_and(|ending| ending == "toml") {
                files.push(path.to_string_lossy().into_owned());
            }
        }
        files.sort();
        Ok((!files.is_empty()).then_some(Series(files)))
    }

    /// Runs all of them, each into a run directory of its own; what one cannot do does not keep the
    /// others from it. The last lines say what came of each; the exit code is the worst.
    ///
    /// # Errors
    /// When a scenario of it cannot be read: then nothing is run.
    pub(crate) fn run(
        &self,
        arguments: &RunArguments,
        run_one: impl Fn(&RunArguments, &AtomicBool) -> Result<RunSummary>,
    ) -> Result<ExitCode> {
        if arguments.resume.is_some() || arguments.extend.is_some() {
            bail!(
                "{} has {} experiments: resume one of their runs: `--resume DIR` or \
                 `--extend DIR`",
                arguments.scenario.as_deref().unwrap_or_default(),
                self.0.len()
            );
        }
        if arguments.trial.is_some() || !arguments.case.is_empty() {
            bail!(
                "{} has {} experiments: `--case` and `--trial` are of one of them",
                arguments.scenario.as_deref().unwrap_or_default(),
                self.0.len()
            );
        }
        for experiment in &self.0 {
            scenarios::find(experiment)?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        stop_on_signals(&stop)?;
        let mut outcomes = Vec::new();
        for (index, experiment) in self.0.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                outcomes.push(Outcome::not_begun(experiment));
                continue;
            }
            tell(&format!("experiment {} of {}: {experiment}", index + 1, self.0.len()));
            let arguments =
                RunArguments { scenario: Some(experiment.clone()), ..arguments.clone() };
            let summary = run_one(&arguments, &stop).unwrap_or_else(|error| RunSummary {
                code: print_error(&error),
                state: RunEnd::Unfinished(None),
            });
            let RunSummary { code, state } = summary;
            outcomes.push(Outcome { experiment: experiment.clone(), code, state: Some(state) });
        }
        // Where tables go to another program, this is for people all the same.
        let text = table(&outcomes);
        if arguments.shown.json.is_printed() {
            tell(text.trim_end());
        } else {
            answer(&text)?;
        }
        Ok(worst(&outcomes))
    }
}

/// What came of an experiment.
struct Outcome {
    experiment: String,
    code: ExitCode,
    /// None where the series was stopped before it began.
    state: Option<RunEnd>,
}

impl Outcome {
    fn not_begun(experiment: &str) -> Outcome {
        Outcome { experiment: experiment.into(), code: ExitCode::from(ERROR), state: None }
    }
}

/// A line for each.
fn table(outcomes: &[Outcome]) -> String {
    let width = outcomes.iter().map(|it| it.experiment.chars().count()).max().unwrap_or_default();
    let mut text = String::from("\n");
    for Outcome { experiment, state, .. } in outcomes {
        let line = match state {
            Some(RunEnd::Finished { passed, claims, report }) => {
                let mark = if passed == claims { '✓' } else { '✗' };
                format!("{mark} {passed} of {claims} claims passed  {}", report.display())
            }
            Some(RunEnd::NotRun) => "– nothing was run".into(),
            Some(RunEnd::Unfinished(Some(place))) => {
                format!("✗ unfinished, resume with: tcplab run --resume {}", place.display())
            }
            Some(RunEnd::Unfinished(None)) => "✗ unfinished".into(),
            None => "– not started: the series was stopped".into(),
        };
        text += &format!("{experiment:width$}  {line}\n");
    }
    text
}

/// Nothing is worse than what could not be run.
fn worst(outcomes: &[Outcome]) -> ExitCode {
    let is_any = |code: u8| outcomes.iter().any(|it| it.code == ExitCode::from(code));
    match () {
        () if is_any(ERROR) => ExitCode::from(ERROR),
        () if is_any(FAILED) => ExitCode::from(FAILED),
        () => ExitCode::SUCCESS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_gives_its_scenarios() {
        let names = |given: &str| Series::find(given).unwrap().map(|series| series.0);
        let haiku = names("haiku-tcp").expect("there is such a folder");
        assert!(haiku.len() >= 2 && haiku.iter().all(|name| name.starts_with("haiku-tcp/")));
        for given in ["interruption", "haiku-tcp/sends", "haiku", "haiku-tcp/", "missing.toml"] {
            assert_eq!(names(given), None, "{given}");
        }
        let place = tempfile::tempdir().unwrap();
        let given = place.path().to_str().unwrap();
        assert_eq!(names(given), None, "nothing is in it");
        for file in ["b.toml", "a.toml", "notes.txt"] {
            fs::write(place.path().join(file), "").unwrap();
        }
        let files = [format!("{given}/a.toml"), format!("{given}/b.toml")];
        assert_eq!(names(given), Some(files.to_vec()));
    }

    #[test]
    fn series_exit_code_is_worst() {
        let outcome = |code: u8| Outcome { code: ExitCode::from(code), ..Outcome::not_begun("x") };
        for (codes, expected) in
            [(&[][..], 0), (&[0, 0], 0), (&[0, FAILED, 0], FAILED), (&[FAILED, ERROR, 0], ERROR)]
        {
            let outcomes: Vec<Outcome> = codes.iter().map(|code| outcome(*code)).collect();
            assert_eq!(worst(&outcomes), ExitCode::from(expected), "{codes:?}");
        }
    }

    #[test]
    fn series_table_has_line_per_scenario() {
        let outcome = |experiment: &str, code: u8, state: RunEnd| Outcome {
            experiment: experiment.into(),
            code: ExitCode::from(code),
            state: Some(state),
        };
        let finished =
            |passed, report: &str| RunEnd::Finished { passed, claims: 3, report: report.into() };
        let outcomes = [
            outcome("a/b", 0, finished(3, "runs/a-b/1/report.html")),
            outcome("a/long", FAILED, finished(2, "runs/a-long/1/report.html")),
            outcome("a/y", ERROR, RunEnd::Unfinished(None)),
            outcome("a/z", ERROR, RunEnd::Unfinished(Some("runs/a-z/1".into()))),
            Outcome::not_begun("a/za"),
            outcome("a/zz", 0, RunEnd::NotRun),
        ];
        assert_eq!(
            table(&outcomes),
            "\n\
             a/b     ✓ 3 of 3 claims passed  runs/a-b/1/report.html\n\
             a/long  ✗ 2 of 3 claims passed  runs/a-long/1/report.html\n\
             a/y     ✗ unfinished\n\
             a/z     ✗ unfinished, resume with: tcplab run --resume runs/a-z/1\n\
             a/za    – not started: the series was stopped\n\
             a/zz    – nothing was run\n"
        );
    }
}
