//! The time of a kernel in virtual time, in a page that it shares with its programs.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::AtomicU64;

/// Bytes of it.
const SIZE: usize = 4096;

/// The time in nanoseconds, of the kernel whose channel `device` is. It stays while programs
/// compute. Mapped as long as this process lives.
pub(crate) fn clock_page(device: BorrowedFd<'_>) -> io::Result<&'static AtomicU64> {
    // SAFETY: a new mapping at a place that the kernel chooses, which is never unmapped.
    let base = unsafe {
        let (access, fd) = (libc::PROT_READ, device.as_raw_fd());
        libc::mmap(ptr::null_mut(), SIZE, access, libc::MAP_SHARED, fd, 0)
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is aligned to pages, lasts, and is only ever read through atomics.
    Ok(unsafe { AtomicU64::from_ptr(base.cast()) })
}
