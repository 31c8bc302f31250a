//! Why a segment was sent, for the ground truth log.

/// What made an endpoint send a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendCause {
    /// A SYN or SYN-ACK, the first time.
    Handshake,
    /// A SYN or SYN-ACK retransmitted, after a timeout or because the peer retransmitted its own.
    HandshakeRetransmission,
    /// Data (or a FIN) that was never sent before.
    New,
    /// New data on a duplicate acknowledgement (RFC 3042).
    LimitedTransmit,
    /// A tail loss probe (RFC 8985 section 7), new data or old.
    TailLossProbe,
    /// Retransmitted because duplicate ACKs or SACK (RFC 6675) showed the loss.
    FastRetransmit,
    /// Retransmitted because a segment sent later was delivered (RACK, RFC 8985 section 6).
    Rack,
    /// Retransmitted by the timer; how often in a row it had expired, from 1.
    Timeout(u8),
    /// Retransmitted in slow start after a timeout.
    AfterTimeout,
    /// Retransmitted in smaller segments, because the path MTU shrank (RFC 1191).
    PathMtu,
    /// A zero window probe (RFC 9293 section 3.8.6.1).
    WindowProbe,
    /// A keep-alive probe (RFC 9293 section 3.8.4).
    KeepAlive,
    /// Acknowledges at once.
    Ack,
    /// Acknowledges after the delay (RFC 5681 section 4.2).
    DelayedAck,
    /// Acknowledges out-of-order data at once (RFC 5681 section 4.2).
    DuplicateAck,
    /// Announces a larger window after the application read.
    WindowUpdate,
    /// Answers a possible attack (RFC 5961).
    ChallengeAck,
    /// Resets the connection of its own accord (`tcp_send_active_reset`).
    Reset,
    /// Resets in answer to a segment that no connection takes (`tcp_v4_send_reset`).
    ResetAnswer,
}

impl SendCause {
    /// A short stable name for machine-readable logs.
    pub const fn name(self) -> &'static str {
        match self {
            SendCause::Handshake => "handshake",
            SendCause::HandshakeRetransmission => "handshake-retransmission",
            SendCause::New => "new",
            SendCause::LimitedTransmit => "limited-transmit",
            SendCause::TailLossProbe => "tail-loss-probe",
            SendCause::FastRetransmit => "fast-retransmit",
            SendCause::Rack => "rack",
            SendCause::Timeout(_) => "timeout",
            SendCause::AfterTimeout => "after-timeout",
            SendCause::PathMtu => "path-mtu",
            SendCause::WindowProbe => "window-probe",
            SendCause::KeepAlive => "keep-alive",
            SendCause::Ack => "ack",
            SendCause::DelayedAck => "delayed-ack",
            SendCause::DuplicateAck => "duplicate-ack",
            SendCause::WindowUpdate => "window-update",
            SendCause::ChallengeAck => "challenge-ack",
            SendCause::Reset | SendCause::ResetAnswer => "reset",
        }
    }
}
