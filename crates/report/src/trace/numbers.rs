//! Quantities as people read them in a table.

use tcplab_units::{Instant, Span, rounded};

/// An unknown value.
pub(crate) const UNKNOWN: &str = "–";

/// `214 ms`; beyond two minutes `3 min 12 s`.
pub(crate) fn span(span: Span) -> String {
    let seconds = span.as_nanos() / 1_000_000_000;
    match seconds {
        0..120 => rounded::span(span),
        120..7_200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

pub(crate) fn seconds(at: Instant) -> String {
    format!("{:.6}", at.as_secs_f64())
}

/// A dash for an unknown value.
pub(crate) fn or_unknown<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), text)
}

pub(crate) fn joined(facts: &[String]) -> String {
    if facts.is_empty() { UNKNOWN.into() } else { facts.join(", ") }
}
