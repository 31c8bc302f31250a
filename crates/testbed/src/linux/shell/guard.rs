//! Two processes instead of one, in two process groups, so that however one of them dies, or all
//! that are in the foreground of the terminal, nothing is left.

use std::fs::remove_dir_all;
use std::io::{self, PipeReader, Read, pipe};
use std::path::Path;
use std::process::exit;

use rustix::process::{Pid, Signal, getpid};

use super::offspring;
use crate::process::{Forked, Signals, fork, leave_group, own_group};
use crate::{TrialError, threads};

/// What the working process needs to know of its guard.
pub(crate) struct Guarded {
    /// Signals for the shell come from there.
    pub(crate) guard: Pid,
    /// Its process group, which the command belongs to, too: on a terminal, that of the foreground.
    /// None where this process is in it. SIGKILL to all of it, as `timeout -s KILL` sends, does not
    /// end this process.
    pub(crate) group: Option<Pid>,
    pub(crate) signals: Signals,
    /// Its end is the guard's end.
    lifeline: PipeReader,
}

impl Guarded {
    /// From now on, when the guard is gone, so is all that was started here, this process, and the
    /// directory that the guard would have removed.
    pub(crate) fn end_with_guard(&self, directory: Option<&Path>) -> Result<(), TrialError> {
        let directory = directory.map(Path::to_owned);
        let mut lifeline =
            self.lifeline.try_clone().map_err(TrialError::setup("watch its guard"))?;
        threads::start("the thread that watches the guard", move || {
            let _ = lifeline.read(&mut [0]);
            offspring::end_all(true, Vec::new());
            let _ = directory.map(remove_dir_all);
            exit(2);
        })?;
        Ok(())
    }
}

/// What the old process knows when the new one has ended.
pub(crate) struct GuardEnd {
    /// The exit code of the new one.
    pub(crate) code: u8,
    /// The last signal that asked this process to end, also where the command alone was meant.
    pub(crate) asked: Option<i32>,
}

/// Splits this process in two. The new one does the `work`; the old one waits for it, hands on the
/// signals that it gets, and gives back the exit code. Should either be killed, the other ends all
/// that is left. What `beside` returns lives in the old one, meanwhile.
///
/// Must be called before the process has a second thread.
pub(crate) fn guarded<B>(
    beside: impl FnOnce() -> B,
    work: impl FnOnce(Guarded) -> u8,
) -> Result<GuardEnd, TrialError> {
    let failed = || TrialError::setup("split into two processes");
    let (guard, group) = (getpid(), own_group());
    // An orphan of either becomes a child of one of them.
    offspring::adopt();
    let signals = Signals::listen().map_err(failed())?;
    let (lifeline, held) = pipe().map_err(failed())?;
    match fork().map_err(TrialError::not_started("a second process"))? {
        Forked::Child => {
            drop((held, beside));
            offspring::adopt();
            if group.is_some() {
                leave_group();
            }
            exit(i32::from(work(Guarded { guard, group, signals, lifeline })));
        }
        Forked::Parent(worker) => {
            drop(lifeline);
            let beside = beside();
            let end = stand_guard(worker, &signals).map_err(failed())?;
            drop((held, beside));
            Ok(end)
        }
    }
}

fn stand_guard(worker: Pid, signals: &Signals) -> io::Result<GuardEnd> {
    let (mut code, mut asked) = (None, None);
    loop {
        while let Some(heard) = signals.next() {
            if heard.signal != Signal::CHILD {
                asked = Some(heard.signal.as_raw());
                heard.hand_on(worker);
            }
        }
        offspring::reap(|pid, status| {
            if pid == worker {
                code = Some(offspring::exit_code(status));
            }
        });
        if let Some(code) = code {
            // Only if it was killed is there anything.
            offspring::end_all(true, Vec::new());
            return Ok(GuardEnd { code, asked });
        }
        signals.wait(None)?;
    }
}
