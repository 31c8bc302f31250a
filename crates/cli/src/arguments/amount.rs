//! Amounts on the command line, with units or as plain numbers.

use tcplab_units::{Bytes, Rate, UnitError};

/// Reads bytes from `least` to `most`: a plain number, or with a unit such as `64KB`.
pub(super) fn bytes(text: &str, least: u32, most: u32) -> Result<u32, String> {
    let amount = match text.parse() {
        Ok(plain) => plain,
        Err(_) => text
            .parse()
            .map(Bytes::as_u64)
            .map_err(|error: UnitError| format!("{error}, or a number of bytes"))?,
    };
    let in_range = u32::try_from(amount).ok().filter(|amount| (least..=most).contains(amount));
    in_range.ok_or_else(|| format!("{text} is out of range: use {least} to {most} bytes"))
}

/// Reads requests per second: a plain number, or thousands such as `5k`.
pub(super) fn per_second(text: &str) -> Result<f64, String> {
    let prefixes = [("k", 1e3), ("K", 1e3)];
    let scaled = |(prefix, factor)| text.strip_suffix(prefix).map(|number| (number, factor));
    let (number, factor) = prefixes.into_iter().find_map(scaled).unwrap_or((text, 1.0));
    number.trim().parse::<f64>().map(|number| number * factor).map_err(|_| {
        match text.parse::<Rate>() {
            Ok(_) => format!("`{text}` is a data rate: give requests per second, such as `5000`"),
            Err(_) => format!("`{text}` is not a number of requests per second, such as `5000`"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_or_are_bytes() {
        for (text, read) in [
            ("64", Ok(64)),
            ("64KB", Ok(64_000)),
            ("1 KiB", Ok(1_024)),
            ("0", Err("0 is out of range: use 1 to 100000 bytes")),
            ("1M", Err("1M is out of range: use 1 to 100000 bytes")),
        ] {
            assert_eq!(bytes(text, 1, 100_000), read.map_err(String::from), "{text}");
        }
        assert!(bytes("10mb", 1, 10).unwrap_err().contains("could be two things"));
    }

    #[test]
    fn rate_of_requests_is_no_data_rate() {
        assert_eq!(per_second("5000"), Ok(5000.0));
        assert_eq!(per_second("2.5k"), Ok(2500.0));
        for text in ["10M", "10Mbit"] {
            assert!(per_second(text).unwrap_err().contains("is a data rate"), "{text}");
        }
        assert!(per_second("fast").is_err());
    }
}
