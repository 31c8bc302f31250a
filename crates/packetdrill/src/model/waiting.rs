//! System calls that have not returned.

use std::collections::VecDeque;

use tcplab_stack::{Data, Send};
use tcplab_units::Instant;

/// A call that has not returned.
pub(super) enum Waiting {
    Accept {
        fd: i64,
    },
    Connect {
        fd: i64,
    },
    Receive {
        fd: i64,
        len: u32,
        message: bool,
    },
    Send(Sending),
    Poll {
        fds: Vec<(i64, i64)>,
        until: Option<Instant>,
    },
    Epoll {
        epoll: i64,
        most: usize,
        until: Option<Instant>,
    },
    /// SO_LINGER; the ports of the connection, which no descriptor has any more.
    Close {
        ports: (u16, u16),
        until: Instant,
    },
}

impl Waiting {
    /// When it returns at the latest.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Waiting::Poll { until, .. } | Waiting::Epoll { until, .. } => *until,
            Waiting::Close { until, .. } => Some(*until),
            _ => None,
        }
    }
}

/// A write in progress.
pub(super) struct Sending {
    pub(super) fd: i64,
    /// Bytes given.
    pub(super) done: u32,
    pub(super) rest: Data,
    /// Bytes of it that may go into one buffer, and so on.
    pub(super) buffers: VecDeque<u32>,
    pub(super) how: Send,
    /// MSG_ZEROCOPY, on a socket with SO_ZEROCOPY.
    pub(super) zero_copy: bool,
    /// It connects, and waits for the answer.
    pub(super) opens: bool,
}
