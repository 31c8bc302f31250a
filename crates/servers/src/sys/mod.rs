//! The system calls that rustix does not have. Nothing else in this crate is `unsafe`.
#![expect(unsafe_code, reason = "system calls")]

mod ring;

pub(crate) use ring::{Chunk, Done, Ring};

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use rustix::process::{Pid, Signal};

/// Numbers that this process shares with those it forks.
#[derive(Debug)]
pub(crate) struct Shared {
    memory: NonNull<AtomicU64>,
    length: usize,
}

// SAFETY: what it points to are atomics, which live as long as it does.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// `length` counters, all zero.
    pub(crate) fn new(length: usize) -> io::Result<Shared> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let bytes = length * size_of::<AtomicU64>();
        // SAFETY: no memory is passed; the kernel chooses where the new mapping lies.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Shared { memory, length })
    }

    pub(crate) fn cells(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is as long, aligned to a page, zeroed, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.length) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: no reference into it remains, and it is unmapped once.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.length * size_of::<AtomicU64>()) };
    }
}

/// Which of the two a process is after a fork.
pub(crate) enum Forked {
    Parent(Pid),
    Child,
}

/// Splits the process in two. Must be called while it has a single thread.
///
/// The child dies with its parent, and only the parent asks it to stop: a signal
/// to the whole group (a key on the terminal, a service manager) would ask once for each process,
/// and so be urgent.
pub(crate) fn fork() -> io::Result<Forked> {
    let parent = rustix::process::getpid();
    // A signal that comes before the child ignores it would run the handler of both.
    let _held = Held::signals();
    // SAFETY: with one thread, no lock can be held by a thread that the child does not have.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            belong_to(parent);
            Ok(Forked::Child)
        }
        pid => Ok(Forked::Parent(Pid::from_raw(pid).expect("a process has a number"))),
    }
}

/// Ends a forked process without what the whole program does at its end: that is its parent's.
pub(crate) fn leave() -> ! {
    // SAFETY: it does not return, and runs nothing of this process.
    unsafe { libc::_exit(0) }
}

/// The signals that ask to stop.
const STOPPING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// They wait while this exists: of a child that comes to ignore them, for ever.
struct Held {
    before: libc::sigset_t,
}

impl Held {
    fn signals() -> Held {
        // SAFETY: a set of zeros is a set, the calls only write to the sets that they are given,
        // and the numbers are those of signals.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            let mut before = set;
            libc::sigemptyset(&raw mut set);
            for signal in STOPPING {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before);
            Held { before }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the set is the one that this thread had.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}

fn belong_to(parent: Pid) {
    for signal in STOPPING {
        // SAFETY: what is ignored runs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    // Refused nowhere; and were it, the child would serve on until it is done.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    if rustix::process::getppid() != Some(parent) {
        // The parent died before the call.
        leave();
    }
}

/// This process's number.
pub(crate) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// The same, to spread processes over places.
pub(crate) fn own_number() -> usize {
    own_pid().unsigned_abs() as usize
}

/// Threads of this process.
pub(crate) fn threads() -> io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}

/// Has the kernel refuse new connections to a listening socket, as if it were closed: handshakes
/// that have begun are finished, and what is in its queue stays. The socket is bound to an
/// interface that no packet comes from, by which the kernel chooses listening sockets
/// (`compute_score` in net/ipv4/inet_hashtables.c); a handshake has the interface of its SYN. Any
/// user may do that once (socket(7), `SO_BINDTOIFINDEX`, Linux 5.7); a filter for SYNs is refused
/// to some.
pub(crate) fn refuse_new_connections(socket: BorrowedFd<'_>) -> io::Result<()> {
    let no_interface = libc::c_int::MAX;
    // SAFETY: the number outlives the call, and its length is right.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BINDTOIFINDEX,
            (&raw const no_interface).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
