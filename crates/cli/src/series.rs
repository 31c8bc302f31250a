//! `tcplab run FOLDER`: all experiments of a folder, one after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tcplab_lab::RunDirectory;
use tcplab_results::Claim;
use tcplab_scenario::catalogue;

use crate::arguments::RunArguments;
use crate::exit::{ERROR, FAILED};
use crate::output::{answer, tell};
use crate::print_error::print_error;
use crate::run::{run_one, stop_on_signals};
use crate::scenarios;

/// What a run leaves last.
const RUN: &str = "run.json";

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
    pub(crate) fn run(&self, arguments: &RunArguments) -> Result<ExitCode> {
        if arguments.resume.is_some() || arguments.extend.is_some() {
            bail!(
                "{} has {} experiments: go on with one run of them, `--resume DIR` or \
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
        let names = self.0.iter().map(|name| Ok(scenarios::find(name)?.name));
        let names = names.collect::<Result<Vec<String>>>()?;
        let stop = Arc::new(AtomicBool::new(false));
        stop_on_signals(&stop)?;
        let mut outcomes = Vec::new();
        for (index, (experiment, name)) in self.0.iter().zip(&names).enumerate() {
            if stop.load(Ordering::Relaxed) {
                outcomes.push(Outcome::not_begun(experiment));
                continue;
            }
            tell(&format!("experiment {} of {}: {experiment}", index + 1, names.len()));
            let newest = || Newest::of(&arguments.runs, name);
            let before = newest();
            let arguments =
                RunArguments { scenario: Some(experiment.clone()), ..arguments.clone() };
            let code = run_one(&arguments, &stop).unwrap_or_else(|error| print_error(&error));
            outcomes.push(Outcome::of(experiment, code, newest().since(&before)));
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

/// The newest runs of a scenario.
#[derive(PartialEq, Eq)]
struct Newest {
    finished: Option<PathBuf>,
    unfinished: Option<PathBuf>,
}

impl Newest {
    fn of(runs: &Path, name: &str) -> Newest {
        Newest {
            finished: RunDirectory::newest_finished(runs, Some(name)),
            unfinished: RunDirectory::newest_unfinished(runs, Some(name)).ok(),
        }
    }

    /// Those that were not there before.
    fn since(self, before: &Newest) -> Newest {
        Newest {
            finished: self.finished.filter(|place| before.finished.as_ref() != Some(place)),
            unfinished: self.unfinished.filter(|place| before.unfinished.as_ref() != Some(place)),
        }
    }
}

/// Of all that a run leaves, what is told of it here: of many trials the rest is large.
#[derive(Deserialize)]
struct Finished {
    claims: Vec<Claim>,
}

/// What came of an experiment.
struct Outcome {
    experiment: String,
    code: ExitCode,
    came: Came,
}

#[derive(Debug, PartialEq, Eq)]
enum Came {
    /// Claims that held and all of them, and where the report is.
    Finished(usize, usize, PathBuf),
    /// What is there of it can be gone on with, or nothing is.
    Unfinished(Option<PathBuf>),
    /// It was to be run, and the series was stopped before.
    NotBegun,
}

impl Outcome {
    fn of(experiment: &str, code: ExitCode, newest: Newest) -> Outcome {
        let finished = newest.finished.and_then(|place| {
            let run: Finished = serde_json::from_slice(&fs::read(place.join(RUN)).ok()?).ok()?;
            let held = run.claims.iter().filter(|claim| claim.held).count();
            let pages = ["report.html", "report/index.html"].map(|page| place.join(page));
            let report = pages.into_iter().find(|page| page.is_file())?;
            Some(Came::Finished(held, run.claims.len(), report))
        });
        let came = finished.unwrap_or(Came::Unfinished(newest.unfinished));
        Outcome { experiment: experiment.into(), code, came }
    }

    fn not_begun(experiment: &str) -> Outcome {
        let code = ExitCode::from(ERROR);
        Outcome { experiment: experiment.into(), code, came: Came::NotBegun }
    }
}

/// A line for each.
fn table(outcomes: &[Outcome]) -> String {
    let width = outcomes.iter().map(|it| it.experiment.chars().count()).max().unwrap_or_default();
    let mut text = String::from("\n");
    for Outcome { experiment, code, came } in outcomes {
        let told = match came {
            Came::Finished(held, all, report) => {
                let mark = if held == all { '✓' } else { '✗' };
                format!("{mark} {held} of {all} claims held  {}", report.display())
            }
            Came::NotBegun => "– not begun: the series was stopped before".into(),
            Came::Unfinished(_) if *code == ExitCode::SUCCESS => "– nothing was run".into(),
            Came::Unfinished(Some(place)) => {
                format!("✗ not finished, go on with: tcplab run --resume {}", place.display())
            }
            Came::Unfinished(None) => "✗ not finished".into(),
        };
        text += &format!("{experiment:width$}  {told}\n");
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
    fn a_folder_is_its_experiments_and_an_experiment_is_none() {
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
    fn the_worst_outcome_counts() {
        let outcome = |code: u8| Outcome { code: ExitCode::from(code), ..Outcome::not_begun("x") };
        for (codes, expected) in
            [(&[][..], 0), (&[0, 0], 0), (&[0, FAILED, 0], FAILED), (&[FAILED, ERROR, 0], ERROR)]
        {
            let outcomes: Vec<Outcome> = codes.iter().map(|code| outcome(*code)).collect();
            assert_eq!(worst(&outcomes), ExitCode::from(expected), "{codes:?}");
        }
    }

    #[test]
    fn each_has_a_line() {
        let outcome = |experiment: &str, code: u8, came: Came| Outcome {
            experiment: experiment.into(),
            code: ExitCode::from(code),
            came,
        };
        let outcomes = [
            outcome("a/b", 0, Came::Finished(3, 3, PathBuf::from("runs/a-b/1/report.html"))),
            outcome("a/long", FAILED, Came::Finished(2, 3, "runs/a-long/1/report.html".into())),
            outcome("a/y", ERROR, Came::Unfinished(None)),
            outcome("a/z", ERROR, Came::Unfinished(Some("runs/a-z/1".into()))),
            Outcome::not_begun("a/za"),
            outcome("a/zz", 0, Came::Unfinished(None)),
        ];
        assert_eq!(
            table(&outcomes),
            "\n\
             a/b     ✓ 3 of 3 claims held  runs/a-b/1/report.html\n\
             a/long  ✗ 2 of 3 claims held  runs/a-long/1/report.html\n\
             a/y     ✗ not finished\n\
             a/z     ✗ not finished, go on with: tcplab run --resume runs/a-z/1\n\
             a/za    – not begun: the series was stopped before\n\
             a/zz    – nothing was run\n"
        );
    }
}
