//! The processes that a shell started, and those that these have left to it.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};

/// How long a process may take over ending when asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look.
const LOOK: Duration = Duration::from_millis(5);

/// From now on, processes whose parents have died become this one's children.
pub(crate) fn adopt() {
    // Linux has it since 3.4, and asks for no privilege.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Takes note of each child that has ended.
pub(crate) fn reap(mut ended: impl FnMut(Pid, WaitStatus)) {
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        ended(pid, status);
    }
}

/// The exit code of a shell's command, as shells report it: that of the command, or 128 and the
/// number of the signal that ended it.
pub(crate) fn exit_code(status: WaitStatus) -> u8 {
    exit_code_of(status.exit_status(), status.terminating_signal())
}

/// That of what ended so, or by this signal.
pub(crate) fn exit_code_of(status: Option<i32>, signal: Option<i32>) -> u8 {
    status.or_else(|| Some(128 + signal?)).unwrap_or(1) as u8
}

/// Ends all children, and theirs, until there is none: asks them, and after a while does it; at
/// once where there is `hurry`. Those in `asked` have been asked already.
pub(crate) fn end_all(hurry: bool, mut asked: Vec<Pid>) {
    let started = Instant::now();
    loop {
        reap(|_, _| {});
        let children = children();
        // A process that now belongs to another user cannot be ended.
        if children.is_empty() || started.elapsed() > 2 * GRACE {
            return;
        }
        let signal = if hurry || started.elapsed() > GRACE { Signal::KILL } else { Signal::TERM };
        for child in children {
            if signal == Signal::KILL || !asked.contains(&child) {
                let _ = kill_process(child, signal);
                // A stopped process does not handle the signal.
                let _ = kill_process(child, Signal::CONT);
                asked.push(child);
            }
        }
        std::thread::sleep(LOOK);
    }
}

/// Those that are there now. A child that ended stays until it is waited for, so none of these
/// numbers can mean another process.
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| parent(*pid) == Some(own)).filter_map(Pid::from_raw).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in parentheses, which may hold anything.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
