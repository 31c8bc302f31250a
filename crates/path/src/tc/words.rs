//! The words of a command of tc.

use tcplab_units::Span;

/// A time as tc reads it. iproute2 cuts times of netem to whole microseconds and then counts them
/// in ticks of 64 ns.
pub(super) fn time(span: Span) -> String {
    let nanos = span.as_nanos();
    match (nanos % 1_000_000, nanos % 1_000) {
        (0, _) => format!("{}ms", nanos / 1_000_000),
        (_, 0) => format!("{}us", nanos / 1_000),
        (_, rest) => format!("{}.{rest:03}us", nanos / 1_000),
    }
}

/// Words, of which some are several in one text.
pub(super) fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().flat_map(|text| text.split(' ')).map(str::to_owned).collect()
}
