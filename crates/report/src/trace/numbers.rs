//! Quantities as people read them in a table.

use tcplab_plot::{decimal, spoken};
use tcplab_units::{Bytes, Instant, Rate, Span};

/// What stands where nothing is known.
pub(crate) const UNKNOWN: &str = "–";

/// `1.45 MB`, `64 kB`, `0 B`: three figures.
pub(crate) fn bytes(amount: Bytes) -> String {
    let value = amount.as_u64() as f64;
    let (size, unit) = match amount.as_u64() {
        0..1_000 => return format!("{} B", amount.as_u64()),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        1_000_000_000..1_000_000_000_000 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    format!("{} {unit}", three(value / size))
}

/// `4.93 Mbit/s`.
pub(crate) fn rate(rate: Rate) -> String {
    let value = rate.bits_per_second() as f64;
    let (size, unit) = match rate.bits_per_second() {
        0..1_000 => (1.0, "bit/s"),
        1_000..1_000_000 => (1e3, "kbit/s"),
        1_000_000..1_000_000_000 => (1e6, "Mbit/s"),
        _ => (1e9, "Gbit/s"),
    };
    format!("{} {unit}", three(value / size))
}

/// `214 ms`; beyond two minutes `3 min 12 s`.
pub(crate) fn span(span: Span) -> String {
    let seconds = span.as_nanos() / 1_000_000_000;
    match seconds {
        0..120 => spoken(span),
        120..7_200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A point in time in seconds, to the microsecond.
pub(crate) fn seconds(at: Instant) -> String {
    format!("{:.6}", at.as_secs_f64())
}

/// A share as per cent: `1.2 %`, `84 %`; what is not nothing is never shown as nothing.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        v if v <= 0.0 => "0 %".into(),
        v if v < 0.01 => "<0.01 %".into(),
        v if v < 1.0 => format!("{} %", decimal(v, 2)),
        v if v < 9.95 => format!("{} %", decimal(v, 1)),
        v if (99.5..100.0).contains(&v) => format!("{} %", decimal(v.min(99.94), 1)),
        v => format!("{} %", decimal(v, 0)),
    }
}

/// Three figures.
fn three(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    decimal(value, decimals)
}

/// What is known, or a dash.
pub(crate) fn or_unknown<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), text)
}

/// `UNKNOWN` where a list is empty.
pub(crate) fn joined(facts: &[String]) -> String {
    if facts.is_empty() { UNKNOWN.into() } else { facts.join(", ") }
}
