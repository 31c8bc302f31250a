//! Processes and signals: what a shell does with those that it started.
#![expect(unsafe_code, reason = "system calls")]

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Signal};

/// The signals that a shell wants to hear of instead of being ended by them, and that a child
/// ended.
const HEARD: [libc::c_int; 5] =
    [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGCHLD];

/// Signals as something to read (signalfd(2)).
pub(crate) struct Signals {
    fd: OwnedFd,
}

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) signal: Signal,
    /// The process that sent it; none where the kernel did, such as for a key on the terminal,
    /// which is a signal to all processes in its foreground.
    pub(crate) sender: Option<Pid>,
}

impl Signals {
    /// From now on they are read. Must be called before the process has a second thread: others
    /// would be ended by them. What the process starts by [`Command`] has none of this.
    pub(crate) fn listen() -> io::Result<Signals> {
        // SAFETY: the set is initialised by sigemptyset; all pointers outlive the calls. A default
        // disposition of SIGCHLD runs no code.
        let raw = unsafe {
            let mut set: libc::sigset_t = zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in HEARD {
                libc::sigaddset(&raw mut set, signal);
            }
            // Where it is ignored, the kernel itself waits for children (sigaction(2)).
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            check(libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
            check(libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC))?
        };
        // SAFETY: `raw` was just opened and belongs to nobody else.
        Ok(Signals { fd: unsafe { OwnedFd::from_raw_fd(raw) } })
    }

    /// The next signal that came, if there is one.
    pub(crate) fn next(&self) -> Option<Heard> {
        let mut told = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes at most `size` bytes, which is the size of the value, and any
        // bytes are a valid one.
        let told = unsafe {
            if libc::read(self.fd.as_raw_fd(), told.as_mut_ptr().cast(), size) != size as isize {
                return None;
            }
            told.assume_init()
        };
        let by_process = matches!(told.ssi_code, libc::SI_USER | libc::SI_TKILL | libc::SI_QUEUE);
        let sender = by_process.then(|| Pid::from_raw(told.ssi_pid.cast_signed())).flatten();
        Some(Heard { signal: Signal::from_named_raw(told.ssi_signo.cast_signed())?, sender })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Which of the two a process is after a fork.
pub(crate) enum Forked {
    Parent(Pid),
    Child,
}

/// Splits the process in two. Must be called before the process has a second thread.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: with one thread, no lock can be held by a thread that the child does not have.
    let pid = check(unsafe { libc::fork() })?;
    Ok(Pid::from_raw(pid).map_or(Forked::Child, Forked::Parent))
}

/// The process that `command` starts will be killed when the thread that starts it ends, however
/// that happens (prctl(2), PR_SET_PDEATHSIG).
pub(crate) fn die_with_caller(command: &mut Command) {
    let caller = rustix::process::getpid();
    let wish = move || {
        // SAFETY: plain system calls, which are safe in a process just forked.
        let parent = unsafe {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            libc::getppid()
        };
        if Pid::from_raw(parent) == Some(caller) {
            Ok(())
        } else {
            // It died in between.
            Err(io::Error::from_raw_os_error(libc::ESRCH))
        }
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(wish) };
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
