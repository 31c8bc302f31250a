//! io_uring with the ownership that its operations need: what the kernel reads or writes belongs to
//! the ring until the operation is done.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use io_uring::types::{BufRingEntry, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};

/// Operations that can be asked for between two waits without a system call of their own.
const ENTRIES: u32 = 1024;
/// Results that can wait.
const RESULTS: u32 = 8192;
/// Buffers that what is received is put into, and their size: they are there for all connections,
/// and belong to one only while its bytes are looked at.
const BUFFERS: u16 = 128;
const BUFFER: usize = 32 << 10;
const GROUP: u16 = 0;

/// What a token is about: its upper half.
const ACCEPT: u64 = 1 << 32;
const RECEIVE: u64 = 2 << 32;
const SEND: u64 = 3 << 32;
const POLL: u64 = 4 << 32;
const ABOUT: u64 = !0 << 32;

/// An instance of io_uring, for one thread.
pub(crate) struct Ring {
    uring: IoUring,
    buffers: Buffers,
    /// What is being sent, by token.
    sending: Vec<Option<Cow<'static, [u8]>>>,
    /// Operations that are not done.
    in_flight: usize,
    /// Those of them that the submission queue has no room for.
    waiting: VecDeque<squeue::Entry>,
}

/// An operation that is done.
pub(crate) enum Done {
    /// [`Ring::accept`].
    Accepted(io::Result<OwnedFd>),
    /// [`Ring::receive`]: bytes, none at the end of the stream.
    Received(usize, io::Result<Option<Chunk>>),
    /// [`Ring::send`]: how many bytes.
    Sent(usize, io::Result<usize>),
    /// [`Ring::poll`].
    Ready,
}

/// Bytes that were received, in a buffer of the ring, to which it has to be
/// [given back](Ring::give_back).
pub(crate) struct Chunk {
    buffer: u16,
    length: usize,
}

impl Ring {
    pub(crate) fn new() -> io::Result<Ring> {
        // One thread submits, and completions run when it waits, not as interrupts (Linux 6.1).
        // Older kernels use the default.
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(RESULTS)
            .build(ENTRIES)
            .or_else(|error| match error.raw_os_error() {
                Some(libc::EINVAL) => IoUring::builder().setup_cqsize(RESULTS).build(ENTRIES),
                _ => Err(error),
            })?;
        let buffers = Buffers::new()?;
        // SAFETY: the memory is as long as is said and lives as long as the ring: `drop` ends the
        // ring before the buffers.
        unsafe {
            let entries = buffers.entries.as_ptr() as u64;
            uring.submitter().register_buf_ring_with_flags(entries, BUFFERS, GROUP, 0)?;
        }
        let mut ring =
            Ring { uring, buffers, sending: Vec::new(), in_flight: 0, waiting: VecDeque::new() };
        for buffer in 0..BUFFERS {
            ring.buffers.offer(buffer);
        }
        Ok(ring)
    }

    /// Accepts a connection. The socket, which must not be non-blocking, stays the caller's.
    pub(crate) fn accept(&mut self, listener: BorrowedFd<'_>) {
        let null = std::ptr::null_mut();
        let entry = opcode::Accept::new(Fd(listener.as_raw_fd()), null, null.cast())
            .flags(libc::SOCK_CLOEXEC)
            .build();
        // SAFETY: no memory is passed.
        unsafe { self.push(&entry, ACCEPT) };
    }

    /// Receives into a buffer of the ring.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>, token: usize) {
        let null = std::ptr::null_mut();
        let entry = opcode::Recv::new(Fd(socket.as_raw_fd()), null, 0)
            .buf_group(GROUP)
            .build()
            .flags(squeue::Flags::BUFFER_SELECT);
        // SAFETY: the kernel takes one of the ring's buffers, which live as long as the ring.
        unsafe { self.push(&entry, RECEIVE | token as u64) };
    }

    /// Sends all the bytes, which belong to the ring until then. One at a time for each token.
    pub(crate) fn send(&mut self, socket: BorrowedFd<'_>, token: usize, bytes: Cow<'static, [u8]>) {
        if self.sending.len() <= token {
            self.sending.resize_with(token + 1, || None);
        }
        assert!(self.sending[token].is_none(), "one at a time");
        let bytes = self.sending[token].insert(bytes);
        let entry = opcode::Send::new(Fd(socket.as_raw_fd()), bytes.as_ptr(), bytes.len() as u32)
            // The kernel itself continues until all is sent, or sending fails.
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build();
        // SAFETY: the bytes stay where they are until the operation is done (`next`, `drop`).
        unsafe { self.push(&entry, SEND | token as u64) };
    }

    /// Completes once, when something can be read.
    pub(crate) fn poll(&mut self, fd: BorrowedFd<'_>) {
        let entry = opcode::PollAdd::new(Fd(fd.as_raw_fd()), libc::POLLIN as u32).build();
        // SAFETY: no memory is passed.
        unsafe { self.push(&entry, POLL) };
    }

    /// Submits the queue, and waits for a completion up to a time limit.
    ///
    /// # Errors
    /// Those that would come again (io_uring_enter(2)).
    pub(crate) fn wait(&mut self, longest: Duration) -> io::Result<()> {
        self.fill();
        let timeout = Timespec::from(longest);
        let arguments = SubmitArgs::new().timespec(&timeout);
        match self.uring.submitter().submit_with_args(1, &arguments) {
            // Time is over, a signal came, no memory for a moment, or results have to be taken
            // first: the caller takes those that there are, and comes again.
            Err(error) if !is_passing(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Moves what waits into the submission queue, as far as there is room.
    fn fill(&mut self) {
        while let Some(entry) = self.waiting.pop_front() {
            // SAFETY: whoever pushed it promised that what it points to stays.
            if unsafe { self.uring.submission().push(&entry) }.is_err() {
                self.waiting.push_front(entry);
                return;
            }
        }
    }

    /// What is done, if something is.
    pub(crate) fn next(&mut self) -> Option<Done> {
        let entry = self.uring.completion().next()?;
        self.in_flight -= 1;
        let token = (entry.user_data() & !ABOUT) as usize;
        let result = match entry.result() {
            count @ 0.. => Ok(count.cast_unsigned()),
            error => Err(io::Error::from_raw_os_error(-error)),
        };
        Some(match entry.user_data() & ABOUT {
            ACCEPT => Done::Accepted(result.map(|raw| {
                // SAFETY: the kernel has just opened it for us.
                unsafe { OwnedFd::from_raw_fd(raw.cast_signed()) }
            })),
            RECEIVE => {
                let buffer = cqueue::buffer_select(entry.flags());
                Done::Received(token, result.map(|length| self.chunk(buffer, length)))
            }
            SEND => {
                self.sending[token] = None;
                Done::Sent(token, result.map(|count| count as usize))
            }
            _ => Done::Ready,
        })
    }

    fn chunk(&mut self, buffer: Option<u16>, length: u32) -> Option<Chunk> {
        let chunk = Chunk { buffer: buffer?, length: length as usize };
        if length == 0 {
            self.give_back(chunk);
            return None;
        }
        Some(chunk)
    }

    /// The bytes of a chunk.
    pub(crate) fn bytes(&self, chunk: &Chunk) -> &[u8] {
        self.buffers.bytes(chunk.buffer, chunk.length)
    }

    /// The kernel may use its buffer again.
    #[expect(clippy::needless_pass_by_value, reason = "nobody may look at it any more")]
    pub(crate) fn give_back(&mut self, chunk: Chunk) {
        self.buffers.offer(chunk.buffer);
    }

    /// # Safety
    ///
    /// What the entry points to must stay until the operation is done.
    unsafe fn push(&mut self, entry: &squeue::Entry, token: u64) {
        self.waiting.push_back(entry.clone().user_data(token));
        self.in_flight += 1;
        self.fill();
        if !self.waiting.is_empty() {
            // The queue is full: submit it. What then still has no room waits for `wait`, which
            // reports why.
            let _ = self.uring.submit();
            self.fill();
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Of these the kernel does not know.
        self.in_flight -= self.waiting.len();
        self.waiting.clear();
        // What the kernel still reads must not be freed: with one thread that asks, closing the
        // ring alone does not wait for that.
        let _ = self.uring.submitter().register_sync_cancel(
            Some(Timespec::from(Duration::from_secs(1))),
            io_uring::types::CancelBuilder::any(),
        );
        for _ in 0..100 {
            let _ = self.wait(Duration::from_millis(10));
            while let Some(done) = self.next() {
                if let Done::Received(_, Ok(Some(chunk))) = done {
                    self.give_back(chunk);
                }
            }
            if self.in_flight == 0 {
                return;
            }
        }
        // Unreachable; but a memory leak would be better than a use after free.
        std::mem::forget(std::mem::take(&mut self.sending));
        self.buffers.is_lost = true;
    }
}

/// Whether to try again is of use: a signal, results that have to be taken first, or no memory for
/// a moment.
fn is_passing(error: &io::Error) -> bool {
    let passing = [libc::ETIME, libc::EINTR, libc::EBUSY, libc::EAGAIN, libc::ENOMEM];
    error.raw_os_error().is_some_and(|errno| passing.contains(&errno))
}

/// Buffers, and the ring in which they are offered to the kernel (io_uring_register_buf_ring(3)).
struct Buffers {
    entries: NonNull<BufRingEntry>,
    memory: NonNull<u8>,
    tail: u16,
    is_lost: bool,
}

// SAFETY: what it points to belongs to it alone.
unsafe impl Send for Buffers {}

impl Buffers {
    /// The kernel wants the entries aligned to a page.
    const ENTRIES: Layout = match Layout::from_size_align(BUFFERS as usize * 16, 4096) {
        Ok(layout) => layout,
        Err(_) => panic!("the size is small and the alignment a power of two"),
    };
    const MEMORY: Layout = match Layout::from_size_align(BUFFERS as usize * BUFFER, 4096) {
        Ok(layout) => layout,
        Err(_) => panic!("the size is small and the alignment a power of two"),
    };

    fn new() -> io::Result<Buffers> {
        let allocate = |layout: Layout| {
            // SAFETY: neither layout is empty.
            NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)
        };
        let entries = allocate(Buffers::ENTRIES)?;
        let memory = allocate(Buffers::MEMORY).inspect_err(|_| {
            // SAFETY: just allocated with this layout, and nobody else's.
            unsafe { dealloc(entries.as_ptr(), Buffers::ENTRIES) };
        })?;
        Ok(Buffers { entries: entries.cast(), memory, tail: 0, is_lost: false })
    }

    /// Gives a buffer to the kernel.
    fn offer(&mut self, buffer: u16) {
        let index = usize::from(self.tail & (BUFFERS - 1));
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: `index` is below the number of entries, which are zeroed and so valid, and the
        // kernel does not touch this one before the tail says so. The tail lies in the first
        // entry, is aligned, and is read by the kernel while it is written: hence the atomic.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(index);
            entry.set_addr(self.memory.as_ptr().add(usize::from(buffer) * BUFFER) as u64);
            entry.set_len(BUFFER as u32);
            entry.set_bid(buffer);
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }

    fn bytes(&self, buffer: u16, length: usize) -> &[u8] {
        assert!(buffer < BUFFERS && length <= BUFFER);
        // SAFETY: it lies within the memory, which was zeroed and so initialised; the kernel has
        // handed it over, and does not write to it before it is offered again, which takes `&mut`.
        unsafe {
            std::slice::from_raw_parts(
                self.memory.as_ptr().add(usize::from(buffer) * BUFFER),
                length,
            )
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.is_lost {
            return;
        }
        // SAFETY: allocated with these layouts, freed once. The ring, which is dropped before, has
        // no operation in flight that could write here.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), Buffers::ENTRIES);
            dealloc(self.memory.as_ptr(), Buffers::MEMORY);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// A ring with one issuer takes nothing from another thread (EEXIST, Linux 6.0): submitting
    /// fails there however often it is tried.
    #[test]
    fn ring_that_takes_nothing_returns_error_instead_of_spinning() {
        let Ok(mut ring) = Ring::new() else {
            eprintln!("skipped: io_uring is not allowed here");
            return;
        };
        let (socket, _other) = UnixStream::pair().unwrap();
        let failed = std::thread::spawn(move || {
            for _ in 0..2 * ENTRIES {
                ring.poll(socket.as_fd());
            }
            ring.wait(Duration::from_millis(1)).is_err()
        });
        if !failed.join().unwrap() {
            eprintln!("skipped: this kernel takes entries from any thread");
        }
    }

    #[test]
    fn more_operations_than_queue_has_room_for_all_complete() {
        let Ok(mut ring) = Ring::new() else {
            eprintln!("skipped: io_uring is not allowed here");
            return;
        };
        let (socket, mut other) = UnixStream::pair().unwrap();
        std::io::Write::write_all(&mut other, b"x").unwrap();
        let asked = 3 * ENTRIES;
        for _ in 0..asked {
            ring.poll(socket.as_fd());
        }
        let mut done = 0;
        while done < asked {
            ring.wait(Duration::from_secs(1)).unwrap();
            while ring.next().is_some() {
                done += 1;
            }
        }
        assert_eq!((done, ring.in_flight), (asked, 0));
    }
}
