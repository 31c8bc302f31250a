//! Texts of scenarios and options as numbers: `0.5 %` is the number 0.005.

use tcplab_table::Value;
use tcplab_units::{Bytes, Rate, Span};

/// A text as a value, and what the key of its column ends in: `_ns`. What is no number stays text.
pub(super) fn typed(text: &str) -> (&'static str, Value) {
    if let Ok(number) = text.parse::<i64>() {
        return ("", Value::Whole(number));
    }
    if let Ok(number) = text.parse::<f64>()
        && number.is_finite()
    {
        return ("", Value::Number(number));
    }
    let number = |unit: &str| text.strip_suffix(unit)?.trim_end().parse::<f64>().ok();
    if let Some(percent) = number("%") {
        return ("_ratio", Value::Number(percent / 100.0));
    }
    if let Some(packets) = number("packets").or_else(|| number("packet")) {
        return ("_packets", Value::Number(packets));
    }
    if let Ok(span) = text.parse::<Span>() {
        return ("_ns", span.as_nanos().into());
    }
    if let Ok(bytes) = text.parse::<Bytes>() {
        return ("_bytes", bytes.as_u64().into());
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return ("_bits_per_second", rate.bits_per_second().into());
    }
    ("", Value::Text(text.to_owned().into()))
}

/// A name as a key: lower case, with `_` for what is neither letter nor digit.
pub(super) fn key(name: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() { letter } else { '_' };
    name.chars().map(plain).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_units_are_numbers() {
        let table = [
            ("10", ("", Value::Whole(10))),
            ("-0.5", ("", Value::Number(-0.5))),
            ("0.5 %", ("_ratio", Value::Number(0.005))),
            ("200 ms", ("_ns", Value::Whole(200_000_000))),
            ("16384 B", ("_bytes", Value::Whole(16_384))),
            ("3 Mbit/s", ("_bits_per_second", Value::Whole(3_000_000))),
            ("100 packets", ("_packets", Value::Number(100.0))),
            ("cubic", ("", Value::from("cubic"))),
            ("inf", ("", Value::from("inf"))),
        ];
        for (text, expected) in table {
            assert_eq!(typed(text), expected, "{text}");
        }
    }

    #[test]
    fn keys_are_snake_case() {
        assert_eq!(key("client.socket.congestion"), "client_socket_congestion");
    }
}
