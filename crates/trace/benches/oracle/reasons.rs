//! Why tcplab and tshark differ, where the reason is known.

/// Whether the names mean the same, or tshark's the same with less: it names no timers.
pub(crate) fn is_alike(ours: &str, theirs: &str) -> bool {
    ours == theirs
        || matches!(
            (ours, theirs),
            ("timeout retransmission" | "retransmission after a timeout", "retransmission")
                | ("original not captured", "retransmission" | "fast retransmission")
        )
}

/// The reason for a difference; `docs/differences-from-tshark.md` has examples with known truth.
pub(crate) fn of(ours: &str, theirs: &str) -> Option<&'static str> {
    let is_retransmission = ours.contains("retransmission");
    match (ours, theirs) {
        (_, "nothing special") => None,
        ("capture duplicate", _) => Some(
            "a frame captured twice: identification, timestamps and content are the same, at once; \
             tshark compares sequence numbers",
        ),
        ("network duplicate", _) => Some(
            "a copy made by the network: the same identification, or the same packet within half \
             an RTT; tshark compares sequence numbers",
        ),
        (_, "spurious retransmission") if is_retransmission => Some(
            "the data were already acknowledged at this capture point: a kind of its own in \
             tshark; here the kind is the sender's trigger, and spurious a mark beside it",
        ),
        (_, "out of order") if is_retransmission => Some(
            "tshark goes by time alone: within the first round trip (3 ms if unknown) of the \
             highest segment; it ignores capture point, SACK, identification and timestamps",
        ),
        ("fast retransmission", "retransmission") => Some(
            "fast in tshark only at the acknowledged number, after two duplicates and within 20 ms",
        ),
        ("timeout retransmission" | "retransmission after a timeout", "fast retransmission") => {
            Some("fast in tshark within 20 ms of a duplicate ACK, whatever timer ran out before")
        }
        ("timeout retransmission" | "retransmission after a timeout", "keep-alive") => Some(
            "one byte just below the next number: a keep-alive in tshark, whatever was \
             outstanding; here a probe, as the byte was not acknowledged",
        ),
        _ => None,
    }
}
