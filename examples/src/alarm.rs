//! A signal that comes again and again. std has no signals.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

/// How often it has come.
static ALARMS: AtomicU32 = AtomicU32::new(0);
/// A socket to which the third writes a byte.
static THIRD_WRITES_TO: AtomicI32 = AtomicI32::new(-1);

/// The handler. It runs between any two instructions: it may touch no more than atomics, and call
/// no more than what signal-safety(7) lists; to print or to allocate is not there.
extern "C" fn on_alarm(_: libc::c_int) {
    let socket = THIRD_WRITES_TO.load(Ordering::Relaxed);
    if ALARMS.fetch_add(1, Ordering::Relaxed) != 2 || socket < 0 {
        return;
    }
    #[expect(unsafe_code, reason = "write must be called where std may not be")]
    // SAFETY: errno is the thread's own; `write` reads one byte, and may be called in a handler.
    unsafe {
        let error = *libc::__errno_location();
        if libc::write(socket, [b'x'].as_ptr().cast(), 1) != 1 {
            libc::_exit(1);
        }
        *libc::__errno_location() = error;
    }
}

/// SIGALRM comes once a period; a period of zero ends that. Again and again, since one that comes
/// just before a call that waits would not interrupt it. With `restart` (SA_RESTART) the kernel
/// makes the interrupted call again, where it does so at all.
///
/// The third writes a byte to the socket, if there is one; it must stay open until the next call.
///
/// # Errors
/// When the system refuses the handler or the timer.
pub fn alarm_each(
    period: Duration,
    restart: bool,
    third_writes_to: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    ALARMS.store(0, Ordering::Relaxed);
    THIRD_WRITES_TO.store(third_writes_to.map_or(-1, |fd| fd.as_raw_fd()), Ordering::Relaxed);
    let period = libc::timeval {
        tv_sec: period.as_secs() as libc::time_t,
        tv_usec: libc::suseconds_t::from(period.subsec_micros() as i32),
    };
    let timer = libc::itimerval { it_interval: period, it_value: period };
    let handler: extern "C" fn(libc::c_int) = on_alarm;
    #[expect(unsafe_code, reason = "libraries set SA_RESTART always, and this is about that flag")]
    // SAFETY: all zeros is a valid `sigaction`; the handler calls only what a handler may call.
    let results = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = if restart { libc::SA_RESTART } else { 0 };
        [
            libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()),
            libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()),
        ]
    };
    if results == [0, 0] { Ok(()) } else { Err(io::Error::last_os_error()) }
}
