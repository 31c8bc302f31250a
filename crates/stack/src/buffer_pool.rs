//! The buffers that all connections of a machine share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A pool with a fixed number of packet buffers, as embedded stacks have it: "if an application has
/// a problem which causes all buffers to be in use, the system will be unable to communicate until
/// some are freed up" (NetBurner, "Optimizing TCP Configurations").
///
/// A buffer holds one segment. One is taken by
/// - each segment that was written, until it is acknowledged;
/// - each segment that arrived, until it is worked on, and if it has data until they are read;
/// - each segment without data, while it leaves.
///
/// Where none is free, a write finds no room and waits, what arrives is dropped, and what has no
/// data does not leave; the last two are as good as lost on the path, and counted here. Buffers
/// are not set aside: what a socket may have of them is a limit, and its window is that of the
/// limit, not of the pool.
///
/// Clones are the same pool. Whoever drives a machine's connections gives one to each
/// ([`crate::Connection::draw_from`]).
#[derive(Debug, Clone)]
pub struct BufferPool(Arc<Counters>);

#[derive(Debug)]
struct Counters {
    size: u32,
    taken: AtomicU32,
    most_taken: AtomicU32,
    dropped: AtomicU64,
    unsent: AtomicU64,
}

/// Buffers taken from the pool; dropping this returns them.
#[derive(Debug)]
pub struct Buffers {
    pool: BufferPool,
    count: u32,
}

impl BufferPool {
    /// A pool of `size` free buffers, at least 1.
    pub fn new(size: u32) -> BufferPool {
        BufferPool(Arc::new(Counters {
            size: size.max(1),
            taken: AtomicU32::new(0),
            most_taken: AtomicU32::new(0),
            dropped: AtomicU64::new(0),
            unsent: AtomicU64::new(0),
        }))
    }

    /// How many there are.
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// How many are free (NetBurner's `GetFreeCount`).
    pub fn free(&self) -> u32 {
        self.0.size.saturating_sub(self.0.taken.load(Ordering::Relaxed))
    }

    /// How many were free when the fewest were.
    pub fn least_free(&self) -> u32 {
        self.0.size.saturating_sub(self.0.most_taken.load(Ordering::Relaxed))
    }

    /// Segments that arrived and were dropped.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Segments without data that did not leave.
    pub fn unsent(&self) -> u64 {
        self.0.unsent.load(Ordering::Relaxed)
    }

    /// One for a segment that arrives; `None`: it is dropped.
    pub fn admit(&self) -> Option<Buffers> {
        if self.free() == 0 {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let mut buffers = self.buffers();
        buffers.set(1);
        Some(buffers)
    }

    /// Whether there is one for a segment without data that leaves; if not, it does not.
    pub fn lets_out(&self) -> bool {
        let free = self.free() > 0;
        self.0.unsent.fetch_add(u64::from(!free), Ordering::Relaxed);
        free
    }

    /// An empty set of the pool's buffers.
    pub(crate) fn buffers(&self) -> Buffers {
        Buffers { pool: self.clone(), count: 0 }
    }
}

impl Buffers {
    /// Sets the number taken.
    pub(crate) fn set(&mut self, count: u32) {
        let taken = &self.pool.0.taken;
        let others = taken.load(Ordering::Relaxed) - self.count;
        taken.store(others + count, Ordering::Relaxed);
        self.pool.0.most_taken.fetch_max(others + count, Ordering::Relaxed);
        self.count = count;
    }

    /// How many more could be taken.
    pub(crate) fn free(&self) -> u32 {
        self.pool.free()
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        self.set(0);
    }
}
