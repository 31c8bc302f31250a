//! `tcplab run FOLDER`: all experiments of a folder, one after the other.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use tcplab_path::tc::quoted_path;
use tcplab_scenario::{Keep, RecordingSpec, catalogue};
use tcplab_testbed::Steering;

use crate::arguments::RunArguments;
use crate::control::{Control, listen};
use crate::exit::{ERROR, FAILED};
use crate::live;
use crate::output::{answer, print_note, print_note_unless};
use crate::print_error::print_error;
use crate::run_summary::{RunEnd, RunSummary};

/// The experiments of a folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Series(Vec<String>);

impl Series {
    /// The experiments of a folder of the catalogue, or of a directory with scenario files; `None`
    /// if `given` is neither. The catalogue takes precedence; `./NAME` is always a directory.
    ///
    /// # Errors
    /// If a directory cannot be read.
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

    /// Runs all of them, each into its own run directory, even if one fails. Prints a line for each
    /// at the end; returns the worst exit code.
    ///
    /// # Errors
    /// If a scenario cannot be read; then nothing runs.
    pub(crate) fn run(
        &self,
        arguments: &RunArguments,
        run_one: impl Fn(&RunArguments, &AtomicBool, Option<Steering>) -> Result<RunSummary>,
    ) -> Result<ExitCode> {
        if arguments.resume.is_some() || arguments.extend.is_some() {
            bail!(
                "{} has {} experiments: name the run to continue with `--resume DIR` or \
                 `--extend DIR`",
                arguments.scenario.as_deref().unwrap_or_default(),
                self.0.len()
            );
        }
        if arguments.trial.is_some() || !arguments.case.is_empty() {
            bail!(
                "{} has {} experiments: `--case` and `--trial` need a single one",
                arguments.scenario.as_deref().unwrap_or_default(),
                self.0.len()
            );
        }
        for experiment in &self.0 {
            tcplab_actions::find(experiment)?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        live::stop_on_signals(&stop, arguments.live.live)?;
        let steering = arguments.control.then(|| listen(&stop)).transpose()?;
        let mut control = arguments.control.then(Control::default);
        let mut outcomes = Vec::new();
        for (index, experiment) in self.0.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                outcomes.push(Outcome::not_started(experiment));
                continue;
            }
            if let Some(control) = &mut control {
                control.part(index + 1, Some(self.0.len()), experiment);
            }
            print_note_unless(
                arguments.quiet || arguments.control,
                &format!("experiment {} of {}: {experiment}", index + 1, self.0.len()),
            );
            let arguments = RunArguments {
                scenario: Some(experiment.clone()),
                recording: kept(),
                ..arguments.clone()
            };
            let summary = run_one(&arguments, &stop, steering.clone()).unwrap_or_else(|error| {
                RunSummary { code: print_error(&error), state: RunEnd::Unfinished(None) }
            });
            let RunSummary { code, state } = summary;
            outcomes.push(Outcome { experiment: experiment.clone(), code, state: Some(state) });
        }
        if let Some(control) = &mut control {
            if !stop.load(Ordering::Relaxed) {
                control.done();
            }
            return Ok(worst(&outcomes));
        }
        // With JSON on standard output, the summary goes to standard error.
        let text = table(&outcomes);
        if arguments.shown.json.is_printed() {
            print_note(text.trim_end());
        } else {
            answer(&text)?;
        }
        Ok(worst(&outcomes))
    }
}

/// What the reports of a series need where a scenario does not say: the packets of one trial of
/// each case. All packets of all experiments of a folder take gigabytes.
fn kept() -> RecordingSpec {
    RecordingSpec { keep: Some(Keep::First), snaplen: None }
}

/// The outcome of an experiment.
struct Outcome {
    experiment: String,
    code: ExitCode,
    /// `None` if the series was stopped before.
    state: Option<RunEnd>,
}

impl Outcome {
    fn not_started(experiment: &str) -> Outcome {
        Outcome { experiment: experiment.into(), code: ExitCode::from(ERROR), state: None }
    }
}

/// A line for each.
fn table(outcomes: &[Outcome]) -> String {
    let width = outcomes.iter().map(|it| it.experiment.chars().count()).max().unwrap_or_default();
    let mut text = String::from("\n");
    for Outcome { experiment, state, .. } in outcomes {
        let line = match state {
            Some(RunEnd::Finished { claims, report }) => {
                let mark = if claims.failed == 0 { '✓' } else { '✗' };
                let open = match claims.not_judged {
                    0 => String::new(),
                    open => format!(", {open} not judged"),
                };
                let (passed, all) = (claims.passed, claims.all());
                format!("{mark} {passed} of {all} claims passed{open}  {}", report.display())
            }
            Some(RunEnd::NotRun) => "– nothing to run".into(),
            Some(RunEnd::Unfinished(Some(place))) => {
                format!("✗ unfinished, resume with: tcplab run --resume {}", quoted_path(place))
            }
            Some(RunEnd::Unfinished(None)) => "✗ unfinished".into(),
            None => "– not started: the series was stopped".into(),
        };
        text += &format!("{experiment:width$}  {line}\n");
    }
    text
}

/// The worst exit code: an experiment that could not run is worst.
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
    use tcplab_results::ClaimCounts;

    use super::*;

    #[test]
    fn folder_is_found_and_experiment_is_not() {
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
    fn worst_exit_code_counts() {
        let outcome =
            |code: u8| Outcome { code: ExitCode::from(code), ..Outcome::not_started("x") };
        for (codes, expected) in
            [(&[][..], 0), (&[0, 0], 0), (&[0, FAILED, 0], FAILED), (&[FAILED, ERROR, 0], ERROR)]
        {
            let outcomes: Vec<Outcome> = codes.iter().map(|code| outcome(*code)).collect();
            assert_eq!(worst(&outcomes), ExitCode::from(expected), "{codes:?}");
        }
    }

    #[test]
    fn each_experiment_has_a_line() {
        let outcome = |experiment: &str, code: u8, state: RunEnd| Outcome {
            experiment: experiment.into(),
            code: ExitCode::from(code),
            state: Some(state),
        };
        let finished = |[passed, failed, not_judged]: [usize; 3], report: &str| RunEnd::Finished {
            claims: ClaimCounts { passed, failed, not_judged },
            report: report.into(),
        };
        let outcomes = [
            outcome("a/b", 0, finished([3, 0, 0], "runs/a-b/1/report.html")),
            outcome("a/long", FAILED, finished([2, 1, 0], "runs/a-long/1/report.html")),
            outcome("a/open", 0, finished([2, 0, 1], "runs/a-open/1/report.html")),
            outcome("a/y", ERROR, RunEnd::Unfinished(None)),
            outcome("a/z", ERROR, RunEnd::Unfinished(Some("my runs/a-z/1".into()))),
            Outcome::not_started("a/za"),
            outcome("a/zz", 0, RunEnd::NotRun),
        ];
        assert_eq!(
            table(&outcomes),
            "\n\
             a/b     ✓ 3 of 3 claims passed  runs/a-b/1/report.html\n\
             a/long  ✗ 2 of 3 claims passed  runs/a-long/1/report.html\n\
             a/open  ✓ 2 of 3 claims passed, 1 not judged  runs/a-open/1/report.html\n\
             a/y     ✗ unfinished\n\
             a/z     ✗ unfinished, resume with: tcplab run --resume 'my runs/a-z/1'\n\
             a/za    – not started: the series was stopped\n\
             a/zz    – nothing to run\n"
        );
    }
}
