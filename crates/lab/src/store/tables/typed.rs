//! Texts of scenarios and options as numbers: `0.5 %` is the number 0.005.

use tcplab_table::Value;
use tcplab_units::text::{Measured, Plain, measured};

/// A text as a value, and what the key of its column ends in: `_ns`. What is no number stays text.
pub(super) fn typed(text: &str) -> (&'static str, Value) {
    let Some(Measured { number, unit }) = measured(text) else {
        return ("", Value::Text(text.to_owned().into()));
    };
    let ending = match unit {
        "ns" => "_ns",
        "bytes" => "_bytes",
        "bits_per_second" => "_bits_per_second",
        "ratio" => "_ratio",
        "packets" => "_packets",
        _ => "",
    };
    let value = match number {
        Plain::Whole(number) => Value::Whole(number),
        Plain::Fraction(number) => Value::Number(number),
    };
    (ending, value)
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
            ("100 packets", ("_packets", Value::Whole(100))),
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
