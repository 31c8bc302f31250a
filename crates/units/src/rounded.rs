//! Numbers and quantities rounded for people: a few figures, thousands separated, a unit.
//!
//! The exact text of a quantity, which can be read back, is its `Display`.

use crate::{Bytes, Rate, Span};

/// `value` with `decimals` decimals and thousands set apart: `1,967,433.5`.
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !whole.bytes().all(|b| b.is_ascii_digit()) {
        return text; // NaN, inf
    }
    let mut grouped = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if !fraction.is_empty() {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    // A minus in front of nothing but zeros says nothing.
    if grouped.bytes().all(|b| matches!(b, b'-' | b'0' | b'.')) {
        return grouped.trim_start_matches('-').to_string();
    }
    grouped
}

/// A count with its thousands set apart.
pub fn grouped(count: u64) -> String {
    decimal(count as f64, 0)
}

/// A span in three figures, with its unit: `214 ms`, `1.23 s`, `85 µs`.
pub fn span(span: Span) -> String {
    let nanos = span.as_nanos() as f64;
    let (value, unit) = match span.as_nanos() {
        0..1_000 => (nanos, "ns"),
        1_000..1_000_000 => (nanos / 1e3, "µs"),
        1_000_000..1_000_000_000 => (nanos / 1e6, "ms"),
        _ => (nanos / 1e9, "s"),
    };
    let decimals = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    let text = decimal(value, decimals);
    let short = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text.as_str()
    };
    format!("{short} {unit}")
}

/// `value` with about three digits, for a sentence.
pub fn brief(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        v if v >= 0.01 || v == 0.0 => 3,
        v => decimals_of(v, 2.0),
    };
    decimal(value, decimals)
}

/// More decimals are too long to read: they show nanoseconds of seconds.
const DECIMALS_MOST: f64 = 9.0;

/// Decimals that show a number of this size, which is not 0, in so many figures.
pub fn decimals_of(size: f64, figures: f64) -> usize {
    (figures - 1.0 - size.abs().log10().floor()).clamp(0.0, DECIMALS_MOST) as usize
}

/// Decimals that show `value` in about four figures.
fn decimals(value: f64) -> usize {
    let size = value.abs();
    if !size.is_finite() || size == 0.0 {
        return 0;
    }
    decimals_of(size, 4.0)
}

/// Decimals for a number with this error: two figures of the error, so that no digit is shown that
/// the next run would change. A smaller error than decimals can show is one of rounding.
pub fn decimals_for_error(error: f64) -> usize {
    match error {
        _ if !error.is_finite() || error <= 0.0 => 0,
        error if error < 0.1_f64.powf(DECIMALS_MOST) => 4,
        error => decimals_of(error, 2.0),
    }
}

/// Decimals for a mean without an error.
pub fn decimals_of_mean(mean: f64) -> usize {
    if mean.fract() == 0.0 { 0 } else { decimals(mean) }
}

/// `value` in about four figures, whole numbers without a point.
pub fn figures(value: f64) -> String {
    decimal(value, decimals_of_mean(value))
}

/// `1 segment`, `343 segments`, `16.7 s`.
pub fn with_unit(value: f64, unit: &str) -> String {
    beside(&figures(value), unit)
}

/// A number as it is written, and its unit: `1 segment`, `0 to 1 segments`.
pub fn beside(number: &str, unit: &str) -> String {
    let unit = match unit {
        "segments" | "bytes" | "packets" if number == "1" => &unit[..unit.len() - 1],
        unit => unit,
    };
    format!("{number} {unit}").trim_end().to_string()
}

/// `text`, the size of `value`, with the sign of `value`: `+12 %`, `−3 ms`, `0 %`.
pub fn signed(value: f64, text: &str) -> String {
    let is_zero = !text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    match value {
        _ if is_zero => text.to_owned(),
        value if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// `1 trial`, `5 trials`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count as u64), if count == 1 { one } else { many })
}

/// `1.45 MB`, `64 kB`, `0 B`: three figures.
pub fn bytes(amount: Bytes) -> String {
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
pub fn rate(rate: Rate) -> String {
    let value = rate.bits_per_second() as f64;
    let (size, unit) = match rate.bits_per_second() {
        0..1_000 => (1.0, "bit/s"),
        1_000..1_000_000 => (1e3, "kbit/s"),
        1_000_000..1_000_000_000 => (1e6, "Mbit/s"),
        _ => (1e9, "Gbit/s"),
    };
    format!("{} {unit}", three(value / size))
}

/// A share as per cent: `1.2 %`, `84 %`; what is not nothing is never shown as nothing.
pub fn percent(share: f64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_three_figures() {
        for (nanos, text) in [
            (0, "0 ns"),
            (85_400, "85.4 µs"),
            (200_000_000, "200 ms"),
            (203_456_000, "203 ms"),
            (1_234_000_000, "1.23 s"),
            (20_000_000_000, "20 s"),
        ] {
            assert_eq!(span(Span::from_nanos(nanos)), text);
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (value, decimals, text) in [
            (1_967_433.0, 0, "1,967,433"),
            (999.0, 0, "999"),
            (-1234.5, 1, "-1,234.5"),
            (-0.001, 1, "0.0"),
        ] {
            assert_eq!(decimal(value, decimals), text);
        }
    }

    #[test]
    fn numbers_have_four_figures() {
        for (value, text) in [
            (20.123_456, "20.12"),
            (0.214_5, "0.2145"),
            (0.000_086_123, "0.00008612"),
            (0.007_063_4, "0.007063"),
            (3e-12, "0.000000000"),
            (4.0, "4"),
            (1_967_433.4, "1,967,433"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(figures(value), text);
        }
    }

    #[test]
    fn small_numbers_keep_their_figures() {
        for (value, text) in [
            (0.0, "0.000"),
            (0.05, "0.050"),
            (0.004_2, "0.0042"),
            (-0.000_086, "-0.000086"),
            (1.0 / 0.0, "inf"),
        ] {
            assert_eq!(brief(value), text);
        }
        for (error, decimals) in [(0.000_086, 6), (0.02, 3), (3.0, 1), (400.0, 0), (1e-17, 4)] {
            assert_eq!(decimals_for_error(error), decimals, "{error}");
        }
    }

    #[test]
    fn unit_of_one_is_singular() {
        for (value, unit, text) in [
            (1.0, "segments", "1 segment"),
            (0.0, "segments", "0 segments"),
            (1.0, "s", "1 s"),
            (3.0, "", "3"),
        ] {
            assert_eq!(with_unit(value, unit), text);
        }
    }
}
