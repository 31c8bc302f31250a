//! What the sender is about to send, and what it has sent.

use crate::sender::interface::ToSend;

/// What an acknowledgement allows to be retransmitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Retransmit {
    /// Nothing.
    #[default]
    Nothing,
    /// What is marked lost.
    Lost,
    /// New data first; what is marked lost only if there is none (F-RTO).
    AfterNew,
}

/// What leaves next.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// A segment that a timer sent, not yet handed out.
    pub(crate) waiting: Option<ToSend>,
    /// What may be retransmitted.
    pub(crate) retransmit: Retransmit,
    /// Whether new data left since the sender last had nothing to send.
    pub(crate) bursting: bool,
    /// Where the last small segment ends (`snd_sml`).
    pub(crate) small_end: u64,
    /// Whether the next new segment carries CWR.
    pub(crate) cwr_queued: bool,
    /// What left so far.
    pub(crate) counters: Counters,
}

/// Counters that only grow. Bytes are data bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    /// Segments retransmitted (`tcpi_total_retrans`).
    pub(crate) retransmissions: u64,
    /// Bytes sent, retransmissions included (`tcpi_bytes_sent`).
    pub(crate) bytes_sent: u64,
    /// Bytes retransmitted (`tcpi_bytes_retrans`).
    pub(crate) bytes_retransmitted: u64,
    /// Segments with data sent, retransmissions included (`tcpi_data_segs_out`).
    pub(crate) data_segments: u64,
}
