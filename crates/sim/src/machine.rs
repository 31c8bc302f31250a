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
    /// What it needs for each segment that comes in.
    processing: Span,
    /// When it will have worked on all that have come in.
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

    /// A segment comes in; `None`: there is no buffer for it.
    pub(crate) fn admit(&self) -> Option<Admitted> {
        match &self.0.pool {
            None => Some(Admitted { _buffer: None }),
            Some(pool) => pool.admit().map(|buffer| Admitted { _buffer: Some(buffer) }),
        }
    }

    /// When a segment that comes in now will be worked on: one after the other, whosever they are.
    /// `None`: at once.
    pub(crate) fn work(&self, now: Instant) -> Option<Instant> {
        if self.0.processing.is_zero() {
            return None;
        }
        let done = now.max(self.0.idle_at.get()) + self.0.processing;
        self.0.idle_at.set(done);
        Some(done)
    }

    /// The buffers of its connections, where they are counted.
    pub(crate) fn pool(&self) -> Option<&BufferPool> {
        self.0.pool.as_ref()
    }

    /// How its buffers fared.
    pub(crate) fn record(&self) -> Option<PoolRecord> {
        self.pool().map(|pool| PoolRecord {
            size: pool.size(),
            least_free: pool.least_free(),
            dropped: pool.dropped(),
            unsent: pool.unsent(),
        })
    }
}
