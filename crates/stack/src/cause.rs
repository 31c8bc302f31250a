//! Why a segment was sent: what the ground truth log says of each.

/// What made an endpoint send a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendCause {
    /// A SYN or SYN-ACK, the first time.
    Handshake,
    /// A SYN or SYN-ACK again, after a timeout or because the other end repeated its own.
    HandshakeAgain,
    /// Data (or a FIN) that was never sent before.
    New,
    /// New data on a duplicate acknowledgement (RFC 3042).
    LimitedTransmit,
    /// A tail loss probe (RFC 8985 section 7), new data or old.
    TailLossProbe,
    /// Sent again because duplicate acknowledgements or SACK (RFC 6675) told of the loss.
    FastRetransmit,
    /// Sent again because something sent later was delivered (RACK, RFC 8985 section 6).
    Rack,
    /// Sent again by the retransmission timer; how often in a row it had run out, from 1.
    Timeout(u8),
    /// Sent again in slow start after a timeout.
    AfterTimeout,
    /// Sent again in smaller segments, because the path takes no packets as large (RFC 1191).
    PathMtu,
    /// Asks a window that is closed (RFC 9293 section 3.8.6.1).
    WindowProbe,
    /// Asks whether the other end is alive (RFC 9293 section 3.8.4).
    KeepAlive,
    /// Acknowledges at once.
    Ack,
    /// Acknowledges after the delay (RFC 5681 section 4.2).
    DelayedAck,
    /// Acknowledges at once what is not in order (RFC 5681 section 4.2).
    DuplicateAck,
    /// Tells of room that the application made.
    WindowUpdate,
    /// Answers what could be an attack (RFC 5961).
    ChallengeAck,
    /// Breaks the connection off.
    Reset,
}

impl SendCause {
    /// A short stable name for machine-readable logs.
    pub const fn name(self) -> &'static str {
        match self {
            SendCause::Handshake => "handshake",
            SendCause::HandshakeAgain => "handshake-again",
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
            SendCause::Reset => "reset",
        }
    }
}
