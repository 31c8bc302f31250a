//! Why tcplab and tshark differ, where the reason is known.

/// What tcplab says, what tshark says, and why.
pub(crate) const REASONS: &[(&str, &str, &str)] = &[];

/// Whether the names mean the same, or tshark's the same with less: it names no timers.
pub(crate) fn is_alike(ours: &str, theirs: &str) -> bool {
    ours == theirs
        || matches!(
            (ours, theirs),
            ("timeout retransmission" | "retransmission after a timeout", "retransmission")
                | ("original not captured", "retransmission" | "fast retransmission")
        )
}

/// The reason for a difference.
pub(crate) fn of(ours: &str, theirs: &str) -> Option<&'static str> {
    REASONS.iter().find(|reason| (reason.0, reason.1) == (ours, theirs)).map(|reason| reason.2)
}
