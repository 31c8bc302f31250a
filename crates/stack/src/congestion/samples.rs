//! What a sender reports to its congestion control.

use tcplab_units::Span;

/// The sender's state (`enum tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum State {
    /// Normal.
    #[default]
    Open,
    /// Duplicate ACKs or SACK arrived, and nothing is marked lost yet.
    Disorder,
    /// The window is being reduced without a loss (ECN, a full device).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// What happens to a sender (`enum tcp_ca_event`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The first segment leaves when nothing was in flight.
    TransmitStart,
    /// The window was made small after an idle time.
    WindowRestart,
    /// A reduction is complete: the state leaves `Cwr` or `Recovery`.
    ReductionComplete,
    /// The retransmission timer ran out.
    Timeout,
}

/// What an acknowledgement said of what it acknowledged or SACKed (`struct ack_sample`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AckSample {
    /// Segments newly acknowledged or SACKed.
    pub segments: u32,
    /// Bytes by which the acknowledgement number moved on.
    pub bytes: u64,
    /// The RTT of what was acknowledged, if it was sent once (Karn).
    pub rtt: Option<Span>,
    /// Segments in flight when the youngest of these was sent.
    pub in_flight: u32,
    /// Whether it carried data, changed the window, or came in order and plain: `false` is
    /// Linux's slow path (`CA_ACK_SLOWPATH`).
    pub plain: bool,
}

/// The delivery rate that an acknowledgement showed (`struct rate_sample`,
/// draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateSample {
    /// `delivered` when the youngest segment was sent.
    pub prior_delivered: u64,
    /// Segments delivered over the interval; `None`: no valid sample.
    pub delivered: Option<u64>,
    /// The longer of the times of sending and of acknowledging them.
    pub interval: Span,
    /// The RTT of the segment sent last; `None` if it was retransmitted.
    pub rtt: Option<Span>,
    /// Segments newly marked lost.
    pub losses: u32,
    /// Segments newly acknowledged or SACKed.
    pub acked_sacked: u32,
    /// Segments in flight before the acknowledgement.
    pub prior_in_flight: u32,
    /// Whether the application had too little to send.
    pub app_limited: bool,
    /// Whether the acknowledgement is likely to be a delayed one.
    pub is_ack_delayed: bool,
}
