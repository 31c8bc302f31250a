//! Why a run could not be made or finished.

use std::io;
use std::path::{Path, PathBuf};

use tcplab_recording::RecordingError;
use tcplab_results::verification::AboveCeiling;
use tcplab_scenario::ScenarioError;
use tcplab_sim::SimError;
use tcplab_testbed::TrialError;

/// Why a run could not be made, finished or read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each field is told in the message above it")]
pub enum LabError {
    /// Such as a full disk or a missing permission.
    #[error("cannot {verb} {path}: {source}")]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    /// No case is called that.
    #[error("no case `{asked}`")]
    NoCase { asked: String, known: Vec<String> },
    /// There is nothing to resume.
    #[error("no unfinished run below {path}")]
    NothingToResume { path: PathBuf },
    /// Not a run directory, or of another version.
    #[error("{path} is not a run directory: {what}")]
    NotARun { path: PathBuf, what: String },
    /// Another process works on it.
    #[error("{path} is locked by another tcplab process")]
    Busy { path: PathBuf },
    /// A run that is not finished yet.
    #[error("{path} is unfinished: it has {done} of {total} trials")]
    Unfinished { path: PathBuf, done: usize, total: usize },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// A trial did not come to its end.
    #[error("trial {number} of case {case}: {source}")]
    Trial { case: String, number: u32, source: TrialError },
    /// A trial in virtual time did not come to its end.
    #[error("trial {number} of case {case}: {source}")]
    Simulated { case: String, number: u32, source: SimError },
    /// An internal error.
    #[error("trial {number} of case {case}: internal error: {what}")]
    Panicked { case: String, number: u32, what: String },
    /// A trial that failed, where each of them is needed.
    #[error("trial {number} of case {case} failed: {reason}")]
    Failed { case: String, number: u32, reason: String },
    /// A model of a stack is asked for where there are none.
    #[error("case {case} uses a stack model, which runs in virtual time only")]
    NotOnKernel { case: String },
    /// What is compared is TCP's, and there is none.
    #[error("case {case} sends datagrams: it has no TCP to compare")]
    NotTcp { case: String },
    /// Virtual time is asked for where there is only the kernel.
    #[error("case {case} {what}")]
    NotSimulated { case: String, what: &'static str },
    /// The kernel is needed, and this machine refuses it.
    #[error("case {case} {what}, and {why}")]
    KernelNeeded { case: String, what: &'static str, why: String, remedy: Option<String> },
    /// The path could not be verified before the trials.
    #[error("the path could not be verified: {source}")]
    Calibration { source: TrialError },
    /// A path asks for more than this machine can model, and the run was not asked to allow it.
    #[error(transparent)]
    AboveCeiling(#[from] AboveCeiling),
    /// A trial whose path misbehaved each time, where that is not allowed.
    #[error("trial {number} of case {case} was flawed on every attempt: {}", flaws.join("; "))]
    Flawed { case: String, number: u32, flaws: Vec<String> },
    /// A recording that cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A recording whose path cannot be run again.
    #[error("this recording cannot be replayed: {why}")]
    Replay { why: String },
    /// A capture that cannot be read.
    #[error("cannot read {path}: {source}")]
    Capture { path: PathBuf, source: tcplab_capture::ReadError },
    /// The scenario of a run cannot be read any more.
    #[error(transparent)]
    Scenario(#[from] Box<ScenarioError>),
}

impl LabError {
    /// For `map_err` on a file operation.
    pub(crate) fn file<'a>(
        verb: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> LabError + 'a {
        move |source| LabError::File { verb, path: path.into(), source }
    }

    /// What the user can do about it, where something can be done.
    pub fn remedy(&self) -> Option<String> {
        match self {
            LabError::Trial { source, .. } | LabError::Calibration { source } => source.remedy(),
            LabError::AboveCeiling(error) => Some(format!(
                "{}, or use `--allow-above-ceiling`: the run is then flagged",
                error.remedy()
            )),
            LabError::Flawed { .. } => {
                Some("use an idle machine, more `retries` in `[repeat]`, or no `--strict`".into())
            }
            LabError::NotOnKernel { .. } => Some("omit `--world`, or use `--world sim`".into()),
            LabError::NoCase { known, .. } => Some(format!("one of: {}", known.join(", "))),
            LabError::NotTcp { .. } => {
                Some("compare `tcplab run` with `tcplab run --world sim`".into())
            }
            LabError::NotSimulated { .. } => Some("omit `--world`".into()),
            LabError::KernelNeeded { remedy, .. } => remedy.clone(),
            LabError::Unfinished { path, .. } => {
                Some(format!("resume it with `tcplab run --resume {}`", path.display()))
            }
            LabError::NotARun { .. } | LabError::NothingToResume { .. } => Some(
                "pass a run directory (RUNS/<name>/<time>-<hash>), or none for the newest below \
                 `--runs DIR`"
                    .into(),
            ),
            LabError::Busy { .. } => Some("wait for it, or stop it".into()),
            LabError::File { verb, source, .. } if *verb != "read" => {
                tcplab_recording::room_for_files(source).map(Into::into)
            }
            LabError::Recording(error) => error.remedy().map(Into::into),
            _ => None,
        }
    }

    /// Whether the user asked for it.
    pub fn is_stop(&self) -> bool {
        matches!(
            self,
            LabError::Stopped
                | LabError::Trial { source: TrialError::Stopped, .. }
                | LabError::Calibration { source: TrialError::Stopped }
        )
    }
}
