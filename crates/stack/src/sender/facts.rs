//! What one acknowledgement changes, gathered while it is processed.

use super::parts::Delivery;

/// Facts of one acknowledgement (Linux's `FLAG_*`).
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as Linux's FLAG_*")]
pub(super) struct Facts {
    pub(super) before: Before,
    pub(super) segment: SegmentFacts,
    pub(super) sack: SackFacts,
    pub(super) delivery: Delivery,
    /// The first outstanding byte moved on.
    pub(super) advanced: bool,
    /// Segments were acknowledged whole.
    pub(super) acked: bool,
    /// Data sent once before the recovery was acknowledged or SACKed (`FLAG_ORIG_SACK_ACKED`).
    pub(super) original: bool,
    /// Data sent more than once was acknowledged.
    pub(super) retransmitted: bool,
    /// The first segment outstanding is SACKed.
    pub(super) reneging: bool,
    /// A retransmission was lost.
    pub(super) lost_retransmission: bool,
    /// The timer is to be restarted.
    pub(super) set_timer: bool,
    /// Probably delayed by the peer.
    pub(super) delayed: bool,
    /// The RTT for the congestion control, µs.
    pub(super) rtt: Option<u64>,
}

/// The sender before the acknowledgement.
#[derive(Debug, Default)]
pub(super) struct Before {
    pub(super) una: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) in_flight: u32,
    pub(super) sacked: u32,
    pub(super) highest_sacked: u64,
    /// Bytes SACKed; known only where Accurate ECN counts them.
    pub(super) sacked_bytes: u64,
}

/// What the segment itself is.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as Linux's FLAG_*")]
pub(super) struct SegmentFacts {
    /// It carries data, a SYN or a FIN.
    pub(super) carries_data: bool,
    /// It changes the window.
    pub(super) window_update: bool,
    /// ECE is set.
    pub(super) ece: bool,
    /// It acknowledges and does nothing else.
    pub(super) plain: bool,
}

/// What its SACK blocks say.
#[derive(Debug, Default)]
pub(super) struct SackFacts {
    /// Segments were SACKed.
    pub(super) any: bool,
    /// There was a D-SACK.
    pub(super) dsack: bool,
    /// There was a D-SACK for the tail loss probe.
    pub(super) dsack_of_probe: bool,
    /// When the first and the last newly SACKed segment left that was sent once, µs.
    pub(super) sent: Option<SentTimes>,
    /// The lowest position that filled a hole though it was sent once: it was reordered.
    pub(super) late: u64,
    /// Segments that SACK and D-SACK showed to be delivered.
    pub(super) delivered: u32,
}

/// When segments left, µs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SentTimes {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl SentTimes {
    /// One more segment, which left at `sent`.
    pub(super) fn add(times: &mut Option<SentTimes>, sent: u64) {
        times.get_or_insert(SentTimes { first: sent, last: sent }).last = sent;
    }
}

impl Facts {
    /// Whether nothing excludes a duplicate ACK (`FLAG_NOT_DUP` unset).
    pub(super) fn may_be_duplicate(&self) -> bool {
        !(self.segment.carries_data || self.segment.window_update || self.acked)
    }

    /// Whether it reports trouble (`FLAG_CA_ALERT`).
    pub(super) fn alerts(&self) -> bool {
        self.sack.any || self.segment.ece || self.sack.dsack
    }
}
