//! Why a run could not be made or finished.

use std::io;
use std::path::{Path, PathBuf};

use tcplab_guests::GuestError;
use tcplab_kernels::CacheError;
use tcplab_path::tc::quoted_path;
use tcplab_recording::{RUNS_FLAG, RecordingError, readable_again};
use tcplab_results::verification::AboveCeiling;
use tcplab_scenario::{KERNEL_MODEL, Profile, ScenarioError, Stack, TRIALS_MAX, nearest};
use tcplab_sim::{CONGESTION_CONTROLS, GuestTrialError, SettingsError, SimError};
use tcplab_testbed::TrialError;
use tcplab_units::{Endpoint, MORE_PROCESSES};

/// What a case has that [`LabError::NotSimulated`] refuses, whose path the kernel makes.
pub(crate) const BY_NETEM: &str = "has `backend = \"netem\"`, which makes paths in real time only";

/// What helps against that.
const WITHOUT_NETEM: &str = "leave out `backend`; or let it run in real time: with the kernel's \
                             stacks, and without `--world`";

/// What a program in a guest says of a full disk of this machine.
const NO_SPACE: &str = "No space left on device";

type GuestFailure = GuestTrialError<GuestError>;

/// Why a run could not be made, finished or read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum LabError {
    #[error("cannot {verb} {path}: {source}")]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot start a thread: {source}")]
    Process { source: io::Error },
    #[error("no case `{asked}`")]
    NoCase { asked: String, known: Vec<String> },
    #[error("a case has 1 to {TRIALS_MAX} trials, not {asked}")]
    Trials { asked: u32 },
    #[error("no unfinished run below {path}")]
    NothingToResume { path: PathBuf },
    #[error("{path} is not a run directory: {what}")]
    NotARun { path: PathBuf, what: String },
    #[error("{path} is locked by another tcplab process")]
    Busy { path: PathBuf },
    #[error("{path} is unfinished: it has {done} of {total} trials")]
    Unfinished { path: PathBuf, done: usize, total: usize },
    #[error("stopped")]
    Stopped,
    #[error("trial {number} of case {case}: {source}")]
    Trial { case: String, number: u32, source: TrialError },
    #[error("trial {number} of case {case}: {source}")]
    Simulated { case: String, number: u32, source: SimError },
    /// With the stacks of client and server.
    #[error("trial {number} of case {case}: {source}")]
    OnGuests { case: String, number: u32, stacks: Box<[Stack; 2]>, source: GuestFailure },
    #[error("`linux-{name}` in virtual time: {source}")]
    NoKernel { name: String, source: CacheError },
    #[error("no kernel for virtual time has been built")]
    NoKernels,
    #[error("kernel {name} was built again since this run began")]
    OtherKernel { name: String },
    #[error("trial {number} of case {case}: internal error: {what}")]
    Panicked { case: String, number: u32, what: String },
    #[error("case {case} uses a stack model or a kernel for virtual time, which run in that only")]
    NotOnKernel { case: String, remedy: &'static str },
    #[error("case {case} samples at each acknowledgement, which only virtual time can")]
    SampledAtAcks { case: String },
    #[error("case {case} names a stack: `--against` chooses kernel and model")]
    OtherStack { case: String },
    #[error("case {case} sends datagrams: it has no TCP to compare")]
    NotTcp { case: String },
    #[error("case {case} {what}")]
    NotSimulated { case: String, what: &'static str },
    #[error("case {case} {what}, and {why}")]
    KernelNeeded { case: String, what: &'static str, why: String, remedy: Option<String> },
    #[error("case {case}: {source}")]
    NoCongestion { case: String, source: TrialError },
    #[error("case {case}: `{name}` is no congestion control of a model")]
    NoModelledCongestion { case: String, name: String },
    #[error("case {case}: the {endpoint}: {source}")]
    NotModelled { case: String, endpoint: &'static str, source: SettingsError },
    #[error("case {case}: the {endpoint}: {why}")]
    NoMptcp { case: String, endpoint: &'static str, why: &'static str },
    #[error("case {case} has a second path, which there is in virtual time only")]
    SecondPath { case: String },
    #[error("case {case}: `module.'{name}'` is a parameter of this machine's whole kernel")]
    OfTheMachine { case: String, name: String },
    #[error("the path could not be verified: {source}")]
    Calibration { source: TrialError },
    #[error(transparent)]
    AboveCeiling(#[from] AboveCeiling),
    #[error("trial {number} of case {case} was flawed on every attempt: {}", flaws.join("; "))]
    Flawed { case: String, number: u32, flaws: Vec<String> },
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error("this recording cannot be replayed: {why}")]
    Replay { why: String },
    #[error("cannot read {path}: {source}")]
    Capture { path: PathBuf, source: tcplab_capture::ReadError },
    #[error(transparent)]
    Scenario(#[from] Box<ScenarioError>),
}

/// What would help a trial that a kernel in virtual time, the stack of this endpoint, cannot run.
fn instead_of_guests(error: &GuestError, stacks: &[Stack; 2], endpoint: &str) -> String {
    let others = instead_of(stacks, endpoint);
    if let GuestError::Setup { source, .. } = error
        && let Some(remedy) = tcplab_recording::room_for_files(source, RUNS_FLAG)
    {
        return remedy;
    }
    match (error.remedy(), error) {
        (Some(remedy), _) => format!("{remedy}; or {others}"),
        (None, GuestError::Spins { .. }) => "a program that waits for something without sleeping \
                                             stops virtual time: run it in real time (`--world \
                                             kernel`)"
            .into(),
        (None, _) => others,
    }
}

/// What can stand in the place of a kernel in virtual time; only a scenario changes what it names.
fn instead_of(stacks: &[Stack; 2], endpoint: &str) -> String {
    let stack = &stacks[usize::from(endpoint == Endpoint::Server.name())];
    match stack {
        Stack::Kernel(name) => {
            let like = format!("linux-{name}");
            let profile = if Profile::named(&like).is_ok() { like.as_str() } else { KERNEL_MODEL };
            format!("use a model in its place (`stack = \"model:{profile}\"`), or another kernel")
        }
        Stack::Linux if stacks.iter().all(|stack| *stack == Stack::Linux) => {
            "use a model (`--kernel model`), or real time (`--world kernel`)".into()
        }
        _ => "use a model (`--kernel model`), or another kernel (`--kernel NAME`)".into(),
    }
}

/// What starts a run, where there is none.
const TO_START: &str =
    "start a run with `tcplab run SCENARIO`, or name the place of runs with `--runs DIR`";
/// How a run is named.
const TO_NAME: &str =
    "pass a run directory (RUNS/<name>/<time>-<hash>), or none for the newest below `--runs DIR`";

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
            LabError::Trial { source, .. }
            | LabError::NoCongestion { source, .. }
            | LabError::Calibration { source } => source.remedy(),
            LabError::NoModelledCongestion { name, .. } => {
                let near = nearest(name, CONGESTION_CONTROLS.into_iter());
                let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
                Some(format!("{near}there are {}", CONGESTION_CONTROLS.join(", ")))
            }
            LabError::NotModelled { .. }
            | LabError::OfTheMachine { .. }
            | LabError::NoMptcp { .. }
            | LabError::SecondPath { .. } => Some(
                "use a kernel in virtual time: `stack = \"linux-7.2\"` (`tcplab kernel build 7.2`)"
                    .into(),
            ),
            LabError::AboveCeiling(error) => Some(format!(
                "{}, or use `--allow-above-ceiling`: the run is then flagged",
                error.remedy()
            )),
            LabError::Flawed { .. } => {
                Some("use an idle machine, more `retries` in `[repeat]`, or no `--strict`".into())
            }
            LabError::NotOnKernel { remedy, .. } => Some((*remedy).into()),
            LabError::SampledAtAcks { .. } => {
                Some("use `--world sim`, or `tcp_info` with an interval".into())
            }
            LabError::NoKernel { source, .. } => source.remedy(),
            LabError::NoKernels => Some("build one with `tcplab kernel build 7.2`".into()),
            LabError::OnGuests {
                source: GuestTrialError::Guest { source, endpoint },
                stacks,
                ..
            } => Some(instead_of_guests(source, stacks, endpoint)),
            LabError::OnGuests { source: GuestTrialError::Failed { remedy, .. }, .. } => {
                remedy.clone()
            }
            LabError::OtherKernel { .. } => Some("begin a new run".into()),
            LabError::NoCase { known, .. } => Some(format!("one of: {}", known.join(", "))),
            LabError::Process { .. } => Some(MORE_PROCESSES.into()),
            LabError::OtherStack { .. } => Some("leave `stack` out of the scenario".into()),
            LabError::NotTcp { .. } => {
                Some("compare `tcplab run` with `tcplab run --world sim`".into())
            }
            LabError::NotSimulated { what, .. } if what.ends_with("a kernel") => {
                Some("build one with `tcplab kernel build 7.2`, or omit `--world`".into())
            }
            LabError::NotSimulated { what, .. } if *what == BY_NETEM => Some(WITHOUT_NETEM.into()),
            LabError::NotSimulated { .. } => Some("omit `--world` and `--kernel`".into()),
            LabError::KernelNeeded { remedy, .. } => remedy.clone(),
            LabError::Unfinished { path, .. } => {
                Some(format!("resume it with `tcplab run --resume {}`", quoted_path(path)))
            }
            LabError::NothingToResume { .. } => Some(TO_START.into()),
            LabError::NotARun { .. } => Some(TO_NAME.into()),
            LabError::Busy { .. } => Some("wait for it, or stop it".into()),
            LabError::File { verb: "read" | "list", path, source } => readable_again(path, source),
            LabError::File { source, .. } => tcplab_recording::room_for_files(source, RUNS_FLAG),
            LabError::Recording(error)
            | LabError::Simulated { source: SimError::Recording(error), .. }
            | LabError::OnGuests { source: GuestTrialError::Recording(error), .. } => {
                error.remedy(RUNS_FLAG)
            }
            _ => None,
        }
    }

    /// Whether a trial failed by what its kernel did: another kernel may run it.
    pub fn is_of_kernel(&self) -> bool {
        match self {
            LabError::OnGuests { source, .. } => match source {
                GuestTrialError::Guest { source, .. } => source.is_of_guest(),
                GuestTrialError::Failed { message, .. } => !message.contains(NO_SPACE),
                GuestTrialError::Recording(_)
                | GuestTrialError::Output(_)
                | GuestTrialError::Stopped => false,
                _ => true,
            },
            LabError::Simulated { source, .. } => {
                !matches!(source, SimError::Recording(_) | SimError::Stopped)
            }
            LabError::Flawed { .. } => true,
            _ => false,
        }
    }

    /// Whether the user asked for it.
    pub fn is_stop(&self) -> bool {
        matches!(
            self,
            LabError::Stopped
                | LabError::Trial { source: TrialError::Stopped, .. }
                | LabError::Simulated { source: SimError::Stopped, .. }
                | LabError::OnGuests {
                    source: GuestTrialError::Stopped
                        | GuestTrialError::Guest { source: GuestError::Stopped, .. },
                    ..
                }
                | LabError::Calibration { source: TrialError::Stopped }
        )
    }
}
