//! Processes and signals: of the programs that a shell and others start, and SIGTERM to a server.
#![expect(unsafe_code, reason = "system calls")]

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, getppid, kill_process_group, set_parent_process_death_signal, setpgid,
};

use crate::sys::check;

/// The signals that a shell handles instead of dying from them, and that a child
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
    /// The process that sent it; none where the kernel did.
    pub(crate) sender: Option<Pid>,
    /// Whether it is that of a key on the terminal, which all processes in its foreground got;
    /// perhaps [handed on](Heard::hand_on) by one of them.
    pub(crate) is_key: bool,
}

impl Heard {
    /// Gives the signal to a process that is not in the foreground of the terminal.
    pub(crate) fn hand_on(self, process: Pid) {
        let value = libc::sigval { sival_ptr: std::ptr::without_provenance_mut(KEY) };
        let (pid, signal) = (process.as_raw_nonzero().get(), self.signal.as_raw());
        // SAFETY: a plain system call; it may have ended.
        unsafe {
            if self.is_key {
                libc::sigqueue(pid, signal, value)
            } else {
                libc::kill(pid, signal)
            };
        }
    }
}

/// What goes with a signal that is handed on, if it is that of a key.
const KEY: usize = 1;

impl Signals {
    /// From now on they are read. Must be called before the process has a second thread: others
    /// would be ended by them. Of what the process starts, see [`belongs_to_caller`].
    pub(crate) fn listen() -> io::Result<Signals> {
        let set = set_of(&HEARD);
        // SAFETY: all pointers outlive the calls. A default disposition of SIGCHLD runs no code.
        let raw = unsafe {
            // Where it is ignored, the kernel itself waits for children (sigaction(2)).
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            check(libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
            check(libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC))?
        };
        // SAFETY: `raw` was just opened and has no other owner.
        Ok(Signals { fd: unsafe { OwnedFd::from_raw_fd(raw) } })
    }

    /// Waits for a signal, at most `longest` or without end. Any signal ends the wait.
    pub(crate) fn wait(&self, longest: Option<Duration>) -> io::Result<()> {
        let timeout = longest.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.fd, PollFlags::IN)], timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The next signal that came, if there is one.
    pub(crate) fn next(&self) -> Option<Heard> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes at most `size` bytes, which is the size of the value, and any
        // bytes are a valid one.
        let info = unsafe {
            if libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size) != size as isize {
                return None;
            }
            info.assume_init()
        };
        let by_process = matches!(info.ssi_code, libc::SI_USER | libc::SI_TKILL | libc::SI_QUEUE);
        let sender = by_process.then(|| Pid::from_raw(info.ssi_pid.cast_signed())).flatten();
        let signal = Signal::from_named_raw(info.ssi_signo.cast_signed())?;
        let is_handed_on = info.ssi_code == libc::SI_QUEUE && info.ssi_ptr == KEY as u64;
        let is_of_key = matches!(signal, Signal::INT | Signal::QUIT);
        Some(Heard { signal, sender, is_key: is_of_key && (!by_process || is_handed_on) })
    }
}

/// Asks the kernel to kill this process when its caller dies, and makes sure the caller did not
/// die before. A change of credentials takes the wish back, so say it again after `isolate`.
pub(crate) fn die_with(caller: Pid) {
    let asked = set_parent_process_death_signal(Some(Signal::KILL));
    if asked.is_err() || getppid() != Some(caller) {
        std::process::exit(2);
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

/// Whether a program was not started because there can be no other process (fork(2)).
pub(crate) fn is_limit(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM))
}

/// The process group that this process is in; none where its leader is in an outer PID namespace.
pub(crate) fn own_group() -> Option<Pid> {
    // SAFETY: a plain system call.
    Pid::from_raw(unsafe { libc::getpgrp() })
}

/// Moves this process into a process group of its own, from which it may still write to the
/// terminal. Must be called before the process has a second thread. Of what the process starts, see
/// [`belongs_to_caller`].
pub(crate) fn leave_group() {
    // Only a session's leader cannot.
    let _ = setpgid(None, None);
    let set = set_of(&[libc::SIGTTOU]);
    // SAFETY: the set outlives the call.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: the set is initialised by sigemptyset, and outlives the calls.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        set
    }
}

/// Takes what SIGTERM asks for; -1 before there is anything.
static ASKED_OF: AtomicI32 = AtomicI32::new(-1);

/// From now on SIGTERM does not end the process, but writes a byte to `asker`.
pub(crate) fn on_term(asker: OwnedFd) -> io::Result<()> {
    extern "C" fn ask(_: libc::c_int) {
        let byte = [1_u8];
        // SAFETY: write(2) may be called by a signal handler (signal-safety(7)), the byte outlives
        // the call, and what the interrupted code knows of its own error is put back.
        unsafe {
            let errno = *libc::__errno_location();
            libc::write(ASKED_OF.load(Ordering::Relaxed), byte.as_ptr().cast(), 1);
            *libc::__errno_location() = errno;
        }
    }
    // It is needed until the process ends.
    ASKED_OF.store(asker.into_raw_fd(), Ordering::Relaxed);
    // SAFETY: all zero is a valid value; the handler does only what a handler may.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = ask as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        check(libc::sigaction(libc::SIGTERM, &raw const action, std::ptr::null_mut()))?;
    }
    Ok(())
}

/// Processor time of this process and of those that it has waited for, of user and system.
pub(crate) fn processor_time() -> Duration {
    let of = |who| {
        // SAFETY: all zero is a valid value, which outlives the call that fills it.
        let usage = unsafe {
            let mut usage: libc::rusage = zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        [usage.ru_utime, usage.ru_stime].map(|time| {
            Duration::from_secs(time.tv_sec.cast_unsigned())
                + Duration::from_micros(time.tv_usec.cast_unsigned())
        })
    };
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].into_iter().flat_map(of).sum()
}

/// Holds SIGINT back in this thread, and in the program that it becomes, until that lets it
/// through.
///
/// # Errors
/// When the kernel refuses.
pub fn hold_interrupts() -> io::Result<()> {
    let set = set_of(&[libc::SIGINT]);
    // SAFETY: the set outlives the call.
    unsafe {
        check(libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
    }
    Ok(())
}

/// The process that `command` starts gets signals as any other, and will be killed when the thread
/// that starts it ends, however that happens (prctl(2), PR_SET_PDEATHSIG).
pub(crate) fn belongs_to_caller(command: &mut Command) {
    let caller = rustix::process::getpid();
    let mut set = set_of(&HEARD);
    // SAFETY: the set outlives the call.
    unsafe { libc::sigaddset(&raw mut set, libc::SIGTTOU) };
    let wish = move || {
        // SAFETY: plain system calls, which are safe in a process just forked; the set outlives
        // the call.
        let parent = unsafe {
            check(libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut()))?;
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

/// Starts a program as the leader of a process group of its own, for [`end_group`].
///
/// # Errors
/// If it cannot be started.
pub fn start_group(command: &mut Command) -> io::Result<Child> {
    command.process_group(0).spawn()
}

/// Ends a program and all that it has started, and waits for it.
pub fn end_group(leader: &mut Child) {
    let _ = kill_process_group(Pid::from_child(leader), Signal::KILL);
    let _ = leader.wait();
}
