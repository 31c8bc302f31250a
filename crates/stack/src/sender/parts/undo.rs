//! What is needed to undo a reduction that was spurious.

use tcplab_units::Instant;

use crate::congestion::State;

/// A reduction that may be undone.
#[derive(Debug, Default)]
pub(in crate::sender) struct Undo {
    /// The first outstanding byte when the window was reduced; `None`: nothing to undo
    /// (`undo_marker`).
    pub(in crate::sender) marker: Option<u64>,
    /// Retransmissions since, less those a D-SACK showed to be spurious; `None`: there were none
    /// (`undo_retrans`).
    pub(in crate::sender) retransmitted: Option<u32>,
    /// The threshold before; 0: the reduction stands.
    pub(in crate::sender) prior_ssthresh: u32,
    /// The timestamp of the first retransmission (`retrans_stamp`).
    pub(in crate::sender) stamp: Option<u32>,
    /// Reductions undone so far.
    pub(in crate::sender) count: u64,
    /// What a BSD stack restores if the first timeout was spurious.
    pub(in crate::sender) before: Option<BadRetransmit>,
}

/// A sender before its first timeout in a row.
#[derive(Debug, Clone, Copy)]
pub(in crate::sender) struct BadRetransmit {
    /// An acknowledgement before this shows that the timeout was spurious (`t_badrxtwin`).
    pub(in crate::sender) until: Instant,
    pub(in crate::sender) cwnd: u32,
    pub(in crate::sender) ssthresh: u32,
    pub(in crate::sender) high: u64,
    pub(in crate::sender) state: State,
}

impl Undo {
    /// There is nothing to undo any more.
    pub(in crate::sender) fn clear(&mut self) {
        self.marker = None;
        self.stamp = None;
    }

    /// Whether D-SACKs showed every retransmission to be spurious.
    pub(in crate::sender) fn all_spurious(&self) -> bool {
        self.retransmitted == Some(0)
    }

    /// A D-SACK showed `segments` retransmissions to be spurious.
    pub(in crate::sender) fn count_spurious(&mut self, segments: u32) {
        self.retransmitted = self.retransmitted.map(|count| count.saturating_sub(segments));
    }
}
