//! fork(2), for which std has no call.

use std::io;

use rustix::process::Pid;

/// Continues as two processes: the parent receives the child's process ID, the child nothing.
///
/// # Errors
/// When there are too many processes, or too little memory.
///
/// # Panics
/// When this process has other threads: they would be missing in the child, with whatever they had
/// locked.
pub fn fork() -> io::Result<Option<Pid>> {
    let threads = std::fs::read_dir("/proc/self/task")?.count();
    assert_eq!(threads, 1, "a process with threads is not forked");
    #[expect(
        unsafe_code,
        reason = "no library wraps fork: it is unsound in a process with threads"
    )]
    // SAFETY: there is no other thread, as was just seen, so that nothing is locked or half done.
    let number = unsafe { libc::fork() };
    match number {
        -1 => Err(io::Error::last_os_error()),
        number => Ok(Pid::from_raw(number)),
    }
}
