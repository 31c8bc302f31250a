//! What the connections of one end share: the machine that they run on.

use std::cell::Cell;
use std::rc::Rc;

use tcplab_recording::PoolRecord;
use tcplab_stack::{BufferPool, Buffers, config};
use tcplab_units::{Instant, Span};

/// A machine: its time and its buffers. Clones are the same machine.
#[derive(Debug, Clone)]
pub(crate) struct Machine(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The time it needs for each received segment.
    processing: Span,
    /// When it will have processed all received segments.
    idle_at: Cell<Instant>,
    pool: Option<BufferPool>,
}

/// The buffer of a segment that has come in, where buffers are counted.
#[derive(Debug)]
pub(crate) struct Admitted {
    _buffer: Option<Buffers>,
}

impl Machine {
    pub(crate) fn new(config: &config::Host) -> Machine {
        Machine(Rc::new(Shared {
            processing: config.processing,
            idle_at: Cell::new(Instant::ZERO),
            pool: config.pool.map(BufferPool::new),
        }))
    }

    /// Takes a buffer for a received segment; `None`: none is free.
    pub(crate) fn admit(&self) -> Option<Admitted> {
        match &self.0.pool {
            None => Some(Admitted { _buffer: None }),
            Some(pool) => pool.admit().map(|buffer| Admitted { _buffer: Some(buffer) }),
        }
    }

    /// When a segment received now will have been processed: one after the other, of all
    /// connections. `None`: at once.
    pub(crate) fn work(&self, now: Instant) -> Option<Instant> {
        if self.0.processing.is_zero() {
            return None;
        }
        let done = now.max(self.0.idle_at.get()) + self.0.processing;
        self.0.idle_at.set(done);
        Some(done)
    }

    /// The buffers of its connections, if they are counted.
    pub(crate) fn pool(&self) -> Option<&BufferPool> {
        self.0.pool.as_ref()
    }

    /// The record of its buffers.
    pub(crate) fn record(&self) -> Option<PoolRecord> {
        self.pool().map(|pool| PoolRecord {
            size: pool.size(),
            least_free: pool.least_free(),
            dropped: pool.dropped(),
            unsent: pool.unsent(),
        })
    }
}
