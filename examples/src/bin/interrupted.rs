//! An experiment: a signal comes while a call waits (EINTR).
//!
//! It teaches: that a call that waits ends with EINTR when a handler has run; that SA_RESTART makes
//! the kernel repeat it, but not each: poll, select, epoll_wait, and whatever has a timeout by
//! SO_RCVTIMEO are never repeated (signal(7)); that `read` hands the error on
//! (`ErrorKind::Interrupted`) and `read_exact` repeats it.
//!
//! `interrupted`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tcplab_examples::alarm_each;

const PERIOD: Duration = Duration::from_millis(20);

fn main() -> io::Result<()> {
    let (mut near, far) = UnixStream::pair()?;
    let mut byte = [0];

    alarm_each(PERIOD, false, None)?;
    // Nothing comes.
    print("read", near.read(&mut byte));

    // Two signals change nothing, the third brings a byte.
    alarm_each(PERIOD, true, Some(far.as_fd()))?;
    print("read with SA_RESTART", near.read(&mut byte));

    alarm_each(PERIOD, false, Some(far.as_fd()))?;
    let result = near.read_exact(&mut byte).map(|()| 1);
    print("read in a loop, interrupted and repeated", result);

    alarm_each(PERIOD, true, None)?;
    let most = Timespec { tv_sec: 10, tv_nsec: 0 };
    let result = poll(&mut [PollFd::new(&near, PollFlags::IN)], Some(&most));
    print("poll with SA_RESTART", result.map_err(io::Error::from));

    alarm_each(PERIOD, true, None)?;
    near.set_read_timeout(Some(Duration::from_secs(10)))?;
    print("read with SA_RESTART and a timeout", near.read(&mut byte));

    alarm_each(Duration::ZERO, false, None)
}

fn print(what: &str, result: io::Result<usize>) {
    match result {
        Ok(count) => println!("{what}: {count}"),
        Err(error) => println!("{what}: {error}"),
    }
}
