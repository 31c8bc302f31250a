//! Numbers for readers: three digits and a unit.

pub(crate) use tcplab_units::rounded::grouped as number;
use tcplab_units::{Bytes, Instant, Rate, Span};

/// A point in time, seconds since the capture's first packet.
pub(crate) fn seconds(at: Instant) -> String {
    format!("{:.3} s", at.as_secs_f64())
}

/// A span with three digits.
pub(crate) fn rounded(span: Span) -> String {
    Span::from_nanos(three_digits(span.as_nanos())).to_string()
}

/// Bytes with three digits: `65.5 kB`; below 10 kB exact: `1448 B`.
pub(crate) fn amount(bytes: Bytes) -> String {
    match bytes.as_u64() {
        bytes @ 0..10_000 => format!("{bytes} B"),
        bytes => Bytes::new(three_digits(bytes)).to_string(),
    }
}

/// A rate with three digits: `16.2 Mbit/s`.
pub(crate) fn speed(rate: Rate) -> String {
    Rate::from_bits_per_second(three_digits(rate.bits_per_second())).to_string()
}

/// `48 %`, `2.1 %`, `0.03 %`; `0 %` if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    match share {
        share if share >= 9.95 => format!("{share:.0} %"),
        share if share >= 0.95 => format!("{share:.1} %"),
        share if share > 0.0 => format!("{share:.2} %"),
        _ => "0 %".to_owned(),
    }
}

/// `48 % of the transfer (4.8 s of 10 s)`.
pub(crate) fn part_of_time(part: Span, whole: Span) -> String {
    let share = percent(part.as_nanos(), whole.as_nanos());
    format!("{share} of the transfer ({} of {})", rounded(part), rounded(whole))
}

/// `48 % of the connection's time (4.8 s of 10 s)`.
pub(crate) fn part_of_connection(part: Span, whole: Span) -> String {
    let share = percent(part.as_nanos(), whole.as_nanos());
    format!("{share} of the connection's time ({} of {})", rounded(part), rounded(whole))
}

/// `1 segment`, `88 segments`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", number(count)) }
}

/// `once`, `twice`, `7 times`.
pub(crate) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", number(count)),
    }
}

fn three_digits(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    (number.saturating_add(unit / 2) / unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(rounded(Span::from_nanos(12_345_678)), "12.3 ms");
        assert_eq!(amount(Bytes::new(65_535)), "65.5 kB");
        assert_eq!(amount(Bytes::new(1_448)), "1448 B");
        assert_eq!(speed(Rate::from_bits_per_second(16_234_567)), "16.2 Mbit/s");
        assert_eq!(speed(Rate::from_bits_per_second(999)), "999 bit/s");
        assert_eq!([7, 999, 1_000, 1_234_567].map(number), ["7", "999", "1,000", "1,234,567"]);
        let shares = [(48, 100), (21, 1_000), (3, 10_000), (0, 7), (0, 0), (999, 10_000)];
        let words = ["48 %", "2.1 %", "0.03 %", "0 %", "0 %", "10 %"];
        assert_eq!(shares.map(|(part, whole)| percent(part, whole)), words);
    }
}
