//! The caller's side: each trial runs in a process of its own, so its namespaces are fresh, and
//! nothing of it is left when it ends, or when the caller does.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tcplab_path::PathEvent;

use crate::{
    Launcher, Progress, Reach, Steering, SteeringAnswer, TrialError, TrialRequest, message,
    process, threads,
};

/// A line from the trial's process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Message {
    Progress(Progress),
    /// A change of the path was made, at these times.
    Steered(Vec<PathEvent>),
    /// A change of the path was not made, and why.
    Refused(String),
    Done,
    Failed {
        message: String,
        remedy: Option<String>,
        reach: Reach,
    },
}

/// Looking at the flag this often makes Ctrl-C feel immediate.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs one trial to its end; `stop` ends it at once. While it runs, `steering` changes its path,
/// if it is [steerable](TrialRequest::steerable).
///
/// # Errors
/// When the trial could not be run, was stopped, or did not pass. The directory may then hold a
/// part of a recording, without its `DONE`.
pub fn run_trial(
    launcher: &Launcher,
    request: &TrialRequest,
    stop: &AtomicBool,
    steering: Option<&Steering>,
    mut progress: impl FnMut(Progress),
) -> Result<(), TrialError> {
    let helper = Helper { steering: steering.cloned(), ..Helper::start(launcher, "trial")? };
    let answered = |answer| {
        if let Some(steering) = steering {
            steering.answered(answer);
        }
        None
    };
    helper.follow(request, stop, |message| match message {
        Message::Progress(now) => {
            progress(now);
            None
        }
        Message::Steered(events) => answered(SteeringAnswer::Applied(events)),
        Message::Refused(why) => answered(SteeringAnswer::Refused(why)),
        Message::Done => Some(Ok(())),
        Message::Failed { message, remedy, reach } => {
            Some(Err(TrialError::Ended { message, remedy, reach }))
        }
    })
}

/// Whether this user may make the namespaces that a trial needs: tried, in a process of its own.
///
/// # Errors
/// Why not.
pub fn may_isolate(launcher: &Launcher) -> Result<(), TrialError> {
    let helper = Helper::<Message>::start(launcher, "isolate")?;
    match helper.messages.recv() {
        Ok(Message::Failed { message, remedy, .. }) => {
            Err(TrialError::Reported { message, remedy })
        }
        Ok(_) => Ok(()),
        Err(_) => Err(helper.died()),
    }
}

/// The process of a trial; killed when dropped.
pub(crate) struct Helper<M = Message> {
    child: OwnedChild,
    program: PathBuf,
    pub(crate) messages: Receiver<M>,
    complaints: Option<JoinHandle<String>>,
    /// Who changes its path meanwhile.
    steering: Option<Steering>,
}

impl<M: for<'de> Deserialize<'de> + Send + 'static> Helper<M> {
    /// Starts the process for a task that [`crate::serve`] knows.
    pub(crate) fn start(launcher: &Launcher, task: &str) -> Result<Helper<M>, TrialError> {
        let program = launcher.program.clone();
        let mut child = launcher.command(task).stderr(Stdio::piped()).spawn().map_err(|error| {
            if process::is_limit(&error) {
                return TrialError::not_started("another process")(error);
            }
            let what = format!("could not be started: {error}");
            TrialError::Helper { program: program.clone(), what }
        })?;
        let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
            unreachable!("both were asked for")
        };
        let child = OwnedChild(child);
        let messages = message::receive(stdout)?;
        let complaints = threads::start("a thread that reads errors", move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })?;
        Ok(Helper { child, program, messages, complaints: Some(complaints), steering: None })
    }

    /// Gives the process its task, and `heard` each of its messages until one has the result;
    /// `stop` ends the process at once. Its standard input stays open: its end shows that the
    /// caller is gone.
    pub(crate) fn follow<T>(
        mut self,
        request: &impl Serialize,
        stop: &AtomicBool,
        mut heard: impl FnMut(M) -> Option<Result<T, TrialError>>,
    ) -> Result<T, TrialError> {
        if self.child.0.stdin.as_ref().is_some_and(|stdin| message::send(stdin, request).is_err()) {
            return Err(self.died());
        }
        let _steered = match &self.steering {
            Some(steering) => self.child.0.stdin.take().map(|stdin| steering.in_real_time(stdin)),
            None => None,
        };
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(TrialError::Stopped);
            }
            match self.messages.recv_timeout(PATIENCE) {
                Ok(message) => {
                    if let Some(result) = heard(message) {
                        return result;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            }
        }
    }

    /// Waits for the process to end by itself.
    pub(crate) fn finish(mut self) -> Result<(), TrialError> {
        match self.child.0.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.died()),
        }
    }

    /// Why a process ended that should not have.
    pub(crate) fn died(mut self) -> TrialError {
        let status = self.child.0.wait();
        let complaint = match status {
            // A reader thread ends with the process, so this waits for nothing.
            Ok(_) => self.complaints.take().and_then(|reader| reader.join().ok()),
            Err(_) => None,
        };
        let asked_to = |signal| matches!(signal, libc::SIGINT | libc::SIGTERM | libc::SIGHUP);
        let what = match status {
            // Ctrl-C in a terminal, and its end, reach the whole group of processes.
            Ok(status) if status.signal().is_some_and(asked_to) => return TrialError::Stopped,
            Ok(status) => format!("ended early ({status})"),
            Err(error) => format!("cannot be waited for: {error}"),
        };
        let what = match complaint.as_deref().and_then(gist) {
            Some(gist) => format!("{what}: {gist}"),
            None => what,
        };
        TrialError::Helper { program: self.program.clone(), what }
    }
}

/// What of a process's errors says why it ended: its first panic, else its last line.
fn gist(complaint: &str) -> Option<String> {
    let mut lines = complaint.lines().map(str::trim).filter(|line| !line.is_empty());
    if let Some(panicked) = lines.clone().find(|line| line.contains("panicked at ")) {
        // The panic's message follows the line with its place, and its backtrace the message.
        let mut message = lines.skip_while(|line| *line != panicked).skip(1);
        let follows = |line: &&str| !line.starts_with("note: ") && *line != "stack backtrace:";
        return Some(match message.next().filter(follows) {
            Some(message) => format!("{panicked} {message}"),
            None => panicked.into(),
        });
    }
    lines.next_back().map(str::to_owned)
}

/// A process; killed when dropped.
struct OwnedChild(Child);

impl Drop for OwnedChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_of_process_is_reported_instead_of_its_note() {
        let text = "thread 'main' (7) panicked at crates/a.rs:1:2:\n\
                    failed to spawn thread: Os { code: 11 }\n\
                    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let panic = "thread 'main' (7) panicked at crates/a.rs:1:2: \
                     failed to spawn thread: Os { code: 11 }";
        assert_eq!(gist(text).as_deref(), Some(panic));
        let second =
            "\nthread 'x' panicked at crates/b.rs:3:4:\ncalled after the first\nnote: ...\n";
        assert_eq!(gist(&(text.to_owned() + second)).as_deref(), Some(panic), "the first");
        let backtrace = text.replace("note: run with", "stack backtrace:\n   0: a::b\nnote: in");
        assert_eq!(gist(&backtrace).as_deref(), Some(panic), "with a backtrace");
        assert_eq!(gist("one\ntwo\n\n").as_deref(), Some("two"));
        assert_eq!(gist("\n \n"), None);
    }
}
