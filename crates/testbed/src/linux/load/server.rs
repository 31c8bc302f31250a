//! The server's process, as the trial sees it.

use std::ffi::OsString;
use std::fs;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tcplab_workload::{LoadSpec, ServerReport};

use super::content;
use super::host::{Order, Said};
use crate::trial_state::TrialState;
use crate::{TrialError, message, process};

/// A server that does not listen by then never does.
const START: Duration = Duration::from_secs(10);
/// It finishes what it has accepted within a second, and its workers have one more.
const STOP: Duration = Duration::from_secs(5);
/// How often it is looked whether the clients are done.
const LOOK: Duration = Duration::from_millis(5);

/// A server that listens. It is killed when this is dropped, and when the thread that started it
/// ends; its own processes end with it.
pub(crate) struct ServerProcess {
    child: Child,
    said: Receiver<Said>,
    /// Why its design cannot run here, where it cannot.
    impossible: Option<String>,
    /// What it serves, removed at the end.
    file: PathBuf,
}

impl ServerProcess {
    /// Starts it in the namespace of the calling thread, and waits until it listens; its file is
    /// made in `directory`.
    pub(crate) fn start(
        spec: &LoadSpec,
        backlog: Option<u32>,
        address: SocketAddrV4,
        directory: &Path,
    ) -> Result<ServerProcess, TrialError> {
        let file = directory.join("served");
        fs::write(&file, content(spec.file.as_u64()))
            .map_err(TrialError::setup("write the file that is served"))?;
        let (design, workers) = (spec.design, spec.workers);
        let order = Order { design, workers, file: file.clone(), address, backlog };
        let (child, said) = spawn(&order)?;
        let mut server = ServerProcess { child, said, impossible: None, file };
        match server.said.recv_timeout(START) {
            Ok(Said::Listening) => Ok(server),
            Ok(Said::Impossible(why)) => {
                server.impossible = Some(why);
                Ok(server)
            }
            Ok(Said::Failed { message, remedy }) => Err(TrialError::Reported { message, remedy }),
            _ => Err(died()),
        }
    }

    /// Waits until the clients are done and has it stop. None where its design cannot run here,
    /// which the clients learn.
    pub(crate) fn run(mut self, shared: &TrialState) -> Result<Option<ServerReport>, TrialError> {
        if let Some(why) = self.impossible.take() {
            shared.is_impossible(why);
            return Ok(None);
        }
        while !shared.is_load_over() {
            match self.said.recv_timeout(LOOK) {
                Ok(Said::Impossible(why)) => {
                    shared.is_impossible(why);
                    return Ok(None);
                }
                Ok(Said::Failed { message, remedy }) => {
                    return Err(TrialError::Reported { message, remedy });
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Err(died()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).ok_or_else(died)?;
        // If it has died, its last message says why.
        let _ = kill_process(pid, Signal::TERM);
        match self.said.recv_timeout(STOP) {
            Ok(Said::Done(report)) => Ok(Some(report)),
            Ok(Said::Impossible(why)) => {
                shared.is_impossible(why);
                Ok(None)
            }
            Ok(Said::Failed { message, remedy }) => Err(TrialError::Reported { message, remedy }),
            _ => Err(died()),
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.file);
    }
}

fn spawn(order: &Order) -> Result<(Child, Receiver<Said>), TrialError> {
    let failed = || TrialError::setup("start the server's process");
    // The first program of a kernel in virtual time has no name that it could be found by.
    let program = std::env::current_exe().ok().filter(|program| program.exists());
    let program = program.unwrap_or_else(|| "/proc/self/exe".into());
    // This very process was started with a task and its caller's number at the end.
    let own: Vec<OsString> = std::env::args_os().skip(1).collect();
    let before = own.len().saturating_sub(2);
    let mut command = Command::new(program);
    command
        .args(&own[..before])
        .args(["server", &std::process::id().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    process::belongs_to_caller(&mut command);
    let started = command.spawn();
    let mut child = started.map_err(TrialError::not_started("the server's process"))?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(died());
    };
    let sent = message::send(stdin, order).map_err(failed());
    match sent.and_then(|()| message::receive(stdout)) {
        Ok(said) => Ok((child, said)),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

fn died() -> TrialError {
    let message = "the server's process ended early, or did not end when it was asked to";
    TrialError::reported(message, None)
}
