//! Ends processes that do not end by themselves.

use rustix::process::{Pid, Signal, WaitOptions};

/// Kills a child and waits for it.
pub(super) fn kill(pid: Pid) {
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    let wait = || rustix::process::waitpid(Some(pid), WaitOptions::empty());
    while matches!(wait(), Err(rustix::io::Errno::INTR)) {}
}
