//! A stop request that wakes waiting threads.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec};

/// A request to stop. It is a descriptor that becomes readable and stays so, so it can be waited
/// for together with sockets, by every thread, and by every process that was forked since.
///
/// Asked once, a server finishes what it has accepted. Asked twice, it stops at once.
#[derive(Debug)]
pub struct Stop {
    asked: UnixStream,
    ask: UnixStream,
}

impl Stop {
    /// A stop that is not requested yet.
    ///
    /// # Errors
    /// When descriptors are used up.
    pub fn new() -> io::Result<Stop> {
        let (asked, ask) = UnixStream::pair()?;
        asked.set_nonblocking(true)?;
        ask.set_nonblocking(true)?;
        Ok(Stop { asked, ask })
    }

    /// Asks.
    pub fn ask(&self) {
        // When it cannot take another byte, it was asked often enough.
        let _ = (&self.ask).write(&[1]);
    }

    /// For signal handlers: each byte written to it asks.
    ///
    /// # Errors
    /// When descriptors are used up.
    pub fn asker(&self) -> io::Result<OwnedFd> {
        Ok(self.ask.try_clone()?.into())
    }

    /// Whether it was asked for. A system call.
    pub fn is_asked(&self) -> bool {
        let mut fds = [PollFd::new(&self.asked, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0)
    }

    /// Whether it was asked for more than once. A system call.
    pub fn is_urgent(&self) -> bool {
        rustix::io::ioctl_fionread(&self.asked).is_ok_and(|bytes| bytes > 1)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.asked.as_fd()
    }
}

/// Whether standard input has ended; what it says is ignored. For whoever observes a server: a
/// thread that reads would forbid it to fork.
pub fn has_input_ended() -> bool {
    let input = io::stdin();
    let mut fds = [PollFd::new(&input, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_ready = rustix::event::poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0);
    is_ready && matches!(rustix::io::read(&input, &mut [0; 4096]), Ok(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_is_enough_and_twice_is_urgent() {
        let stop = Stop::new().unwrap();
        assert!(!stop.is_asked() && !stop.is_urgent());
        stop.ask();
        assert!(stop.is_asked() && stop.is_asked() && !stop.is_urgent());
        let asker = stop.asker().unwrap();
        rustix::io::write(&asker, &[1]).unwrap();
        assert!(stop.is_asked() && stop.is_urgent());
        for _ in 0..1_000_000 {
            stop.ask();
        }
        assert!(stop.is_asked());
    }
}
