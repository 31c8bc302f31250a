//! The names that tshark gives segments, shared with `benches/oracle`.

/// tshark's fields `tcp.analysis.…`, and what they mean: the first that it gave, for a special name
/// comes with the general.
pub(crate) const NAMES: [(&str, &str); 6] = [
    ("zero_window_probe", "window probe"),
    ("keep_alive", "keep-alive"),
    ("spurious_retransmission", "spurious retransmission"),
    ("fast_retransmission", "fast retransmission"),
    ("out_of_order", "out of order"),
    ("retransmission", "retransmission"),
];
