//! Calls of the device of a kernel in virtual time (`tcplab.c` beside the patches of `kernels`).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::check;

/// When a call returned, by the kernel's clock, and how many bytes it received.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TimedRead {
    pub(crate) time_ns: u64,
    pub(crate) length: u64,
}

/// Calls of recv(2) in one.
#[derive(Debug)]
pub(crate) struct Received {
    /// How many of the reads are filled.
    pub(crate) done: usize,
    /// What the last call returned: bytes, or an error of the socket.
    pub(crate) last: io::Result<usize>,
}

#[repr(C)]
struct ReceiveRequest {
    buffer: u64,
    reads: u64,
    left: u64,
    size: u32,
    piece: u32,
    most: u32,
    fd: libc::c_int,
    done: u32,
    last: libc::c_int,
}

#[repr(C)]
struct WatchRequest {
    id: u64,
    first_ns: u64,
    interval_ns: u64,
    fd: libc::c_int,
    unused: u32,
}

/// `_IOWR('t', 1, struct receive)`.
const RECEIVE: libc::c_ulong = 0xc030_7401;
/// `_IOW('t', 2, struct watch_request)`.
const WATCH: libc::c_ulong = 0x4020_7402;

/// Receives from `socket` in calls of `piece` bytes, one behind the other, until `buffer` has no
/// room for another, `reads` are full, `left` bytes have come, or a call received nothing.
///
/// # Errors
/// When the first call failed.
pub(crate) fn receive_on(
    device: BorrowedFd<'_>,
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    reads: &mut [TimedRead],
    (piece, left): (usize, u64),
) -> io::Result<Received> {
    let mut request = ReceiveRequest {
        buffer: buffer.as_mut_ptr() as u64,
        reads: reads.as_mut_ptr() as u64,
        left,
        size: u32::try_from(buffer.len()).unwrap_or(u32::MAX),
        piece: u32::try_from(piece).unwrap_or(u32::MAX),
        most: u32::try_from(reads.len()).unwrap_or(u32::MAX),
        fd: socket.as_raw_fd(),
        done: 0,
        last: 0,
    };
    // SAFETY: the request and both places that it names outlive the call, which writes no more
    // than `size` bytes and `most` reads.
    check(unsafe { libc::ioctl(device.as_raw_fd(), RECEIVE as _, &raw mut request) })?;
    let last = match usize::try_from(request.last) {
        Ok(count) => Ok(count),
        Err(_) => Err(io::Error::from_raw_os_error(-request.last)),
    };
    Ok(Received { done: request.done as usize, last })
}

/// From now on the kernel sends the `TCP_INFO` of `socket`, marked `id`, until that is CLOSED:
/// first at `first_ns` of its clock, then every `interval_ns`; where that is 0, when an
/// acknowledgement has changed it.
pub(crate) fn watch_socket(
    device: BorrowedFd<'_>,
    socket: BorrowedFd<'_>,
    id: u64,
    first_ns: u64,
    interval_ns: u64,
) -> io::Result<()> {
    let request = WatchRequest { id, first_ns, interval_ns, fd: socket.as_raw_fd(), unused: 0 };
    // SAFETY: the request outlives the call.
    check(unsafe { libc::ioctl(device.as_raw_fd(), WATCH as _, &raw const request) })?;
    Ok(())
}
