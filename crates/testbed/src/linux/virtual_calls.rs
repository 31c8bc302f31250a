//! What a kernel in virtual time does for a program in one call, where others take many: a call
//! takes no virtual time, but a switch between its process and its kernel takes real time.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use tcplab_units::Span;

use crate::clock::Clock;
use crate::sys::{self, Received, TimedRead};
use crate::{TrialError, errno};

/// How much more than a call asks for a buffer takes: many calls' worth of segments.
pub(crate) const ROOM: usize = 128 << 10;
/// How many calls at once.
pub(crate) const CALLS: usize = 256;

/// The device of a kernel in virtual time.
#[derive(Debug)]
pub(crate) struct VirtualCalls {
    device: File,
}

impl VirtualCalls {
    pub(crate) fn new(device: File) -> VirtualCalls {
        VirtualCalls { device }
    }

    /// Receives in calls of `piece` bytes until the buffer has no room for another, `reads` are
    /// full, `left` bytes have come, or a call received nothing.
    pub(crate) fn receive(
        &self,
        socket: BorrowedFd<'_>,
        buffer: &mut [u8],
        reads: &mut [TimedRead],
        (piece, left): (usize, u64),
    ) -> Result<Received, Errno> {
        sys::receive_on(self.device.as_fd(), socket, buffer, reads, (piece, left))
            .map_err(|error| errno::of(&error))
    }

    /// From now on the kernel sends the state of `socket`, marked `id`, until that is CLOSED: every
    /// `interval` of the trial, or when an acknowledgement has changed it.
    pub(crate) fn watch(
        &self,
        socket: BorrowedFd<'_>,
        id: u64,
        clock: Clock,
        interval: Option<Span>,
    ) -> Result<(), TrialError> {
        let interval = interval.unwrap_or(Span::ZERO).as_nanos();
        // As a thread that wakes at each multiple would.
        let passed = clock.now().as_nanos().checked_div(interval).unwrap_or_default();
        let first = clock.shown_zero() + (passed + 1) * interval;
        sys::watch_socket(self.device.as_fd(), socket, id, first, interval)
            .map_err(TrialError::setup("watch a socket"))
    }
}
