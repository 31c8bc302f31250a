//! What is needed to undo a reduction that was spurious.

use tcplab_units::Instant;

use crate::congestion::State;

/// A reduction that may be undone.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    /// The first outstanding byte when the window was reduced; `None`: nothing to undo
    /// (`undo_marker`).
    pub(crate) marker: Option<u64>,
    /// Retransmissions since, less those a D-SACK showed to be spurious; `None`: there were none
    /// (`undo_retrans`).
    pub(crate) retransmitted: Option<u32>,
    /// The threshold before; 0: the reduction stands.
    pub(crate) prior_ssthresh: u32,
    /// The timestamp of the first retransmission (`retrans_stamp`).
    pub(crate) stamp: Option<u32>,
    /// Reductions undone so far.
    pub(crate) count: u64,
    /// What a BSD stack restores if the first timeout was spurious.
    pub(crate) before: Option<BadRetransmit>,
}

/// A sender before its first timeout in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BadRetransmit {
    /// An acknowledgement before this shows that the timeout was spurious (`t_badrxtwin`).
    pub(crate) until: Instant,
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    pub(crate) high: u64,
    pub(crate) state: State,
}

impl Undo {
    /// There is nothing to undo any more.
    pub(crate) fn clear(&mut self) {
        self.marker = None;
        self.stamp = None;
    }

    /// Whether D-SACKs showed every retransmission to be spurious.
    pub(crate) fn all_spurious(&self) -> bool {
        self.retransmitted == Some(0)
    }

    /// A D-SACK showed `segments` retransmissions to be spurious.
    pub(crate) fn count_spurious(&mut self, segments: u32) {
        self.retransmitted = self.retransmitted.map(|count| count.saturating_sub(segments));
    }
}
