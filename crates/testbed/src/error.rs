//! Why the kernel world could not be set up or kept up, with what to do about it.

use std::io;
use std::panic;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread::JoinHandle;

use tcplab_recording::{RUNS_FLAG, RecordingError};
use tcplab_units::{MORE_PROCESSES, Span};
use tcplab_workload::PayloadMismatch;

/// Why a trial could not be run to its end.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message names each field")]
pub enum TrialError {
    /// Namespaces are refused to this user.
    #[error("this user may not make network namespaces: {obstacle}")]
    Namespaces { obstacle: String, remedy: String },
    /// A step of the set-up failed.
    #[error("cannot {step}: {source}")]
    Setup { step: String, source: io::Error },
    /// There are as many processes and threads as there may be, or no memory for another.
    #[error("cannot start {what}: {source}")]
    Process { what: &'static str, source: io::Error },
    /// A kernel setting of the scenario was refused.
    #[error("cannot set {name} = \"{value}\" at the {endpoint}: {source}")]
    Sysctl { endpoint: &'static str, name: String, value: String, source: io::Error },
    /// A socket option was refused or not taken over.
    #[error("the {socket} does not take {option} = {value}: {reason}")]
    SocketOption { socket: &'static str, option: &'static str, value: String, reason: String },
    /// The application met an error.
    #[error("the {endpoint} failed to {call}: {source}")]
    Application { endpoint: &'static str, call: &'static str, source: io::Error },
    /// The payload that arrived is not the one that was sent.
    #[error(transparent)]
    PayloadMismatch(#[from] PayloadMismatch),
    /// The trial took longer than the scenario allows.
    #[error("the trial was not done after {limit}: {received} B of the data had arrived")]
    TimeLimit { limit: Span, received: u64 },
    /// The recording could not be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// What `--capture` of a shell or a bridge records could not be written.
    #[error(transparent)]
    Capture(RecordingError),
    /// The path of the scenario is impossible.
    #[error(transparent)]
    Path(#[from] tcplab_path::PathError),
    /// The process that runs the trial could not be started or died.
    #[error("the process of the trial ({program}) {what}")]
    Helper { program: PathBuf, what: String },
    /// As reported by a helper process.
    #[error("{message}")]
    Reported { message: String, remedy: Option<String> },
    /// How a trial failed, as reported by the process that ran it.
    #[error("{message}")]
    Ended { message: String, remedy: Option<String>, reach: Reach },
    /// The caller asked to stop.
    #[error("stopped on request")]
    Stopped,
    /// This signal asked to stop.
    #[error("stopped by signal {0}")]
    StoppedBy(i32),
}

/// Too many open descriptors: its number on Linux and macOS.
const EMFILE: i32 = 24;

/// Of this process, once they are remembered.
static FIRST_PANIC: OnceLock<String> = OnceLock::new();

/// From now on the first panic of any thread can be [reported](TrialError::panicked).
pub(crate) fn remember_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let _ = FIRST_PANIC.set(panic.to_string().replace('\n', " "));
        before(panic);
    }));
}

/// Which trials an error concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// This trial: another, or this one repeated, may succeed.
    Trial,
    /// It could not begin; whether others can is not known.
    SetUp,
    /// All trials of its case are the same.
    Case,
    /// No trial of any case can be run.
    All,
}

impl TrialError {
    /// A step of the set-up that failed.
    pub(crate) fn setup(step: impl Into<String>) -> impl FnOnce(io::Error) -> TrialError {
        let step = step.into();
        move |source| TrialError::Setup { step, source }
    }

    /// A thread or process that the system refused.
    pub(crate) fn not_started(what: &'static str) -> impl FnOnce(io::Error) -> TrialError {
        move |source| TrialError::Process { what, source }
    }

    /// An error in these words.
    pub(crate) fn reported(
        message: impl Into<String>,
        remedy: impl Into<Option<&'static str>>,
    ) -> TrialError {
        let remedy = remedy.into().map(str::to_owned);
        TrialError::Reported { message: message.into(), remedy }
    }

    /// Why a thread of an endpoint ended before it was ready.
    pub(crate) fn of_thread(thread: JoinHandle<Result<(), TrialError>>) -> TrialError {
        match thread.join() {
            Ok(Err(error)) => error,
            _ => TrialError::panicked(),
        }
    }

    /// A thread of the trial panicked.
    pub(crate) fn panicked() -> TrialError {
        let panic = FIRST_PANIC.get().map_or("a thread panicked", String::as_str);
        TrialError::setup("go on")(io::Error::other(format!("internal error: {panic}")))
    }

    /// How far it reaches.
    pub fn reach(&self) -> Reach {
        match self {
            TrialError::Namespaces { .. }
            | TrialError::Recording(_)
            | TrialError::Capture(_)
            | TrialError::Stopped
            | TrialError::StoppedBy(_) => Reach::All,
            TrialError::Setup { .. }
            | TrialError::Process { .. }
            | TrialError::Helper { .. }
            | TrialError::Reported { .. } => Reach::SetUp,
            TrialError::Sysctl { .. } | TrialError::SocketOption { .. } | TrialError::Path(_) => {
                Reach::Case
            }
            TrialError::Application { .. }
            | TrialError::PayloadMismatch(_)
            | TrialError::TimeLimit { .. } => Reach::Trial,
            TrialError::Ended { reach, .. } => *reach,
        }
    }

    /// What the user can do about it, where something can be done.
    pub fn remedy(&self) -> Option<String> {
        match self {
            TrialError::Namespaces { remedy, .. } => Some(remedy.clone()),
            TrialError::Process { .. } => Some(MORE_PROCESSES.into()),
            TrialError::Setup { source, .. } | TrialError::Application { source, .. }
                if source.raw_os_error() == Some(EMFILE) =>
            {
                Some("raise the limit on descriptors (`ulimit -n`)".into())
            }
            TrialError::Reported { remedy, .. } | TrialError::Ended { remedy, .. } => {
                remedy.clone()
            }
            TrialError::Sysctl { source, .. } if source.kind() == io::ErrorKind::NotFound => Some(
                "that end's kernel has no such setting: `sysctl -a | grep net.` lists those of this \
                 machine, and in `tcplab shell --near linux-NAME` those of a kernel in virtual time"
                    .into(),
            ),
            TrialError::Sysctl { name, source, .. }
                if source.kind() == io::ErrorKind::InvalidInput =>
            {
                Some(format!("`sysctl {name}` shows what a value looks like"))
            }
            TrialError::Recording(error) => error.remedy(RUNS_FLAG),
            TrialError::Capture(error) => error.remedy("--capture"),
            TrialError::SocketOption { option: "congestion", reason, .. } => {
                let remedy = if reason.starts_with("ENOENT") {
                    "choose one of these; on this machine's kernel `modprobe tcp_NAME` as root may \
                     load another"
                } else {
                    "set `congestion` at both ends"
                };
                Some(remedy.into())
            }
            TrialError::SocketOption { option, .. } => Some(format!(
                "see `tcplab sockopts {option}`; with `if_refused = \"record\"` beside it \
                 the trial continues without"
            )),
            TrialError::TimeLimit { .. } => Some(
                "raise `[limits] trial` in the scenario if the transfer really needs longer".into(),
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_of_a_thread_is_reported_in_its_own_words() {
        remember_panics();
        let thread = std::thread::spawn(|| -> Result<(), TrialError> { panic!("seven of nine") });
        let error = TrialError::of_thread(thread).to_string();
        assert!(error.starts_with("cannot go on: internal error: panicked at "), "{error}");
        assert!(error.ends_with(": seven of nine"), "{error}");
    }
}
