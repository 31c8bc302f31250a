//! How numbers and names are written for people.

use tcplab_plot::decimal;

/// Decimals that show `value` in about four figures, at most four.
fn decimals(value: f64) -> usize {
    let size = value.abs();
    if !size.is_finite() || size == 0.0 {
        return 0;
    }
    (3.0 - size.log10().floor()).clamp(0.0, 4.0) as usize
}

/// Decimals for a number with this error: two figures of the error, so that no digit is shown that
/// the next run would change.
pub(crate) fn decimals_for_error(error: f64) -> usize {
    if !error.is_finite() || error <= 0.0 {
        return 0;
    }
    (1.0 - error.log10().floor()).clamp(0.0, 4.0) as usize
}

/// Decimals for a mean without an error.
pub(crate) fn decimals_of_mean(mean: f64) -> usize {
    if mean.fract() == 0.0 { 0 } else { decimals(mean) }
}

/// `value` in about four figures, whole numbers without a point.
pub(crate) fn figures(value: f64) -> String {
    decimal(value, decimals_of_mean(value))
}

/// `1 segment`, `343 segments`, `16.7 s`.
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    let number = figures(value);
    let unit = match unit {
        "segments" | "bytes" | "packets" if number == "1" => &unit[..unit.len() - 1],
        unit => unit,
    };
    format!("{number} {unit}").trim_end().to_string()
}

/// A metric's name for people: `transfer_time` as `transfer time`, `mean_rtt` as `mean RTT`.
pub(crate) fn title(name: &str) -> String {
    if let Some(name) = name.strip_suffix("_p99") {
        return format!("{} p99", title(name));
    }
    let words = name.split(['_', '.']).map(|word| match word {
        "rtt" => "RTT",
        "syn" => "SYN",
        "mss" => "MSS",
        "app" => "application",
        "sndbuf" => "send buffer",
        "rcvbuf" => "receive buffer",
        word => word,
    });
    let title = words.collect::<Vec<_>>().join(" ");
    match title.as_str() {
        "load rate" => "requests answered".to_string(),
        "load connect" => "connect time".to_string(),
        "load response" => "response time".to_string(),
        "load data rate each" => "data rate per client".to_string(),
        "load server time" => "server CPU time per request".to_string(),
        "load response mean" => "response time mean".to_string(),
        _ => title.strip_prefix("load ").unwrap_or(&title).to_string(),
    }
}

/// `text`, the size of `value`, with the sign of `value`: `+12 %`, `−3 ms`, `0 %`.
pub(crate) fn signed(value: f64, text: &str) -> String {
    let is_zero = !text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    match value {
        _ if is_zero => text.to_owned(),
        value if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// `1 trial`, `5 trials`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", tcplab_plot::grouped(count as u64), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_figures() {
        for (value, text) in [
            (20.123_456, "20.12"),
            (0.214_5, "0.2145"),
            (4.0, "4"),
            (1_967_433.4, "1,967,433"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(figures(value), text);
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

    #[test]
    fn metric_names_become_titles() {
        for (name, text) in [
            ("transfer_time", "transfer time"),
            ("mean_rtt", "mean RTT"),
            ("max_in_flight", "max in flight"),
            ("max_window", "max window"),
            ("socket.sndbuf", "socket send buffer"),
            ("syn.scale", "SYN scale"),
            ("window.min", "window min"),
            ("load.connect", "connect time"),
            ("load.connect_p99", "connect time p99"),
        ] {
            assert_eq!(title(name), text);
        }
    }
}
