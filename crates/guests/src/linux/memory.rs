//! Memory that a guest shares with its owner.
#![expect(unsafe_code, reason = "memory that another process maps, too")]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A piece of memory without a name, mapped here and, by its descriptor, in the guest.
///
/// Both read and write it, but never at the same time: the guest while it runs, its owner while it
/// waits. What is exchanged to say whose turn it is goes through a socket, which orders the rest.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    fd: OwnedFd,
    base: NonNull<u8>,
    size: usize,
}

// SAFETY: the mapping belongs to this value and is unmapped with it; it is tied to no thread.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// `size` bytes, all zero. Pages that nobody touches take no memory.
    pub(crate) fn new(size: usize) -> io::Result<SharedMemory> {
        let fd = memfd_create("tcplab-guest", MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, size as u64)?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at a place that the kernel chooses.
        let base = unsafe { mmap(std::ptr::null_mut(), size, access, flags, &fd, 0)? };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(SharedMemory { fd, base, size })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The number at `at`, a multiple of 8.
    pub(crate) fn read(&self, at: usize) -> u64 {
        self.word(at).load(Ordering::Acquire)
    }

    /// Sets the number at `at`, a multiple of 8.
    pub(crate) fn write(&self, at: usize, value: u64) {
        self.word(at).store(value, Ordering::Release);
    }

    /// Copies from `at` on.
    pub(crate) fn copy_out(&self, at: usize, bytes: &mut [u8]) {
        let from = self.place(at, bytes.len());
        // SAFETY: `place` is within the mapping for so many bytes, and `bytes` is not part of it.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) }
    }

    /// Copies to `at`.
    pub(crate) fn copy_in(&self, at: usize, bytes: &[u8]) {
        let to = self.place(at, bytes.len());
        // SAFETY: as in `copy_out`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8), "an unaligned number");
        let place = self.place(at, 8);
        // SAFETY: within the mapping, which is aligned to pages; as long as `self` lives.
        unsafe { AtomicU64::from_ptr(place.cast()) }
    }

    fn place(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at.checked_add(len).is_some_and(|end| end <= self.size), "outside of the memory");
        // SAFETY: within the mapping.
        unsafe { self.base.as_ptr().add(at) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, with this size; nothing borrows from it any more.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.size) };
    }
}
