//! How a queue is written in a scenario.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer, Error, Visitor};
use tcplab_units::{Bytes, Rate, Span, UnitError};

/// The size of a drop-tail queue: `512 packets`, `64 kB`, or `1 bdp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueSpec {
    /// So many packets of any size.
    Packets(u32),
    /// So many bytes of IP packets.
    Bytes(Bytes),
    /// So many times the bandwidth-delay product.
    Bdp(BdpMultiple),
}

/// A multiple of the bandwidth-delay product, which is the rate of a direction times the delay of
/// both; in steps of 10⁻⁶. Written `0.5 bdp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BdpMultiple(u64);

const MILLION: u64 = 1_000_000;

impl BdpMultiple {
    /// `n` millionths.
    pub const fn from_millionths(n: u64) -> BdpMultiple {
        BdpMultiple(n)
    }

    /// The whole bytes that it comes to; `None` from 2⁶⁴ on.
    pub fn of(self, rate: Rate, round_trip: Span) -> Option<Bytes> {
        let bit_nanos =
            u128::from(rate.bits_per_second()).checked_mul(u128::from(round_trip.as_nanos()))?;
        let bytes =
            bit_nanos.checked_mul(u128::from(self.0))? / (8 * 1_000_000_000 * u128::from(MILLION));
        u64::try_from(bytes).ok().map(Bytes::new)
    }
}

/// Why the size of a queue could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueSpecError {
    /// It is none of the three.
    #[error("`{0}` is not the size of a queue: write it as `512 packets`, `64 kB` or `1 bdp`")]
    NotASize(String),
    /// It is a number of packets, but not a whole one, or too large.
    #[error("`{0}` is out of range for a queue: whole packets up to 4294967295")]
    Packets(String),
    /// It is a multiple of the bandwidth-delay product, but too fine or too large.
    #[error("`{0}` is out of range for a queue: steps of 0.000001 bdp up to a million bdp")]
    Bdp(String),
    /// It is an amount of data, but out of range.
    #[error(transparent)]
    Bytes(UnitError),
}

impl FromStr for QueueSpec {
    type Err = QueueSpecError;

    fn from_str(text: &str) -> Result<QueueSpec, QueueSpecError> {
        let not_a_size = || QueueSpecError::NotASize(text.into());
        let trimmed = text.trim();
        let unit_at = trimmed.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(not_a_size)?;
        let (number, unit) = (trimmed[..unit_at].trim_end().replace('_', ""), &trimmed[unit_at..]);
        let is_number = number.bytes().any(|b| b.is_ascii_digit())
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && number.bytes().filter(|b| *b == b'.').count() <= 1;
        if !is_number {
            return Err(not_a_size());
        }
        match unit {
            "packets" | "packet" => match number.parse() {
                Ok(packets) => Ok(QueueSpec::Packets(packets)),
                Err(_) => Err(QueueSpecError::Packets(text.into())),
            },
            "bdp" => match millionths(&number) {
                Some(n) => Ok(QueueSpec::Bdp(BdpMultiple(n))),
                None => Err(QueueSpecError::Bdp(text.into())),
            },
            _ => trimmed.parse().map(QueueSpec::Bytes).map_err(|error| match error {
                UnitError::OutOfRange { .. } => QueueSpecError::Bytes(error),
                _ => not_a_size(),
            }),
        }
    }
}

/// A decimal number below a million and a bit, in millionths; `None` when it is finer or larger.
fn millionths(number: &str) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 6 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    (whole <= MILLION).then(|| whole * MILLION + fraction)
}

impl fmt::Display for QueueSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueSpec::Packets(1) => f.write_str("1 packet"),
            QueueSpec::Packets(n) => write!(f, "{n} packets"),
            QueueSpec::Bytes(bytes) => bytes.fmt(f),
            QueueSpec::Bdp(multiple) => multiple.fmt(f),
        }
    }
}

impl fmt::Display for BdpMultiple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / MILLION, self.0 % MILLION);
        if rest == 0 {
            return write!(f, "{whole} bdp");
        }
        write!(f, "{whole}.{} bdp", format!("{rest:06}").trim_end_matches('0'))
    }
}

impl serde::Serialize for QueueSpec {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for QueueSpec {
    /// From a string. Queues that need more than a size are tables: they get a `visit_map`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<QueueSpec, D::Error> {
        struct Size;
        impl Visitor<'_> for Size {
            type Value = QueueSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the size of a queue such as \"512 packets\", \"64 kB\" or \"1 bdp\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<QueueSpec, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<QueueSpec, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<QueueSpec, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<QueueSpec, E> {
                self.visit_str(&number.to_string())
            }
        }
        deserializer.deserialize_any(Size)
    }
}

impl schemars::JsonSchema for QueueSpec {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^\s*[0-9_]*\.?[0-9_]+\s*(packets?|B|kB|KiB|MB|MiB|GB|GiB|bdp)\s*$",
            "description": "The size of a drop-tail queue: in packets (`512 packets`), in bytes \
                (`64 kB`), or in bandwidth-delay products (`1 bdp`: the rate of the direction \
                times the delay of both)."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_packets_bytes_and_bdp() {
        for (text, queue, written) in [
            ("512 packets", QueueSpec::Packets(512), "512 packets"),
            ("1 packet", QueueSpec::Packets(1), "1 packet"),
            (" 1_000packets ", QueueSpec::Packets(1000), "1000 packets"),
            ("64 kB", QueueSpec::Bytes(Bytes::new(64_000)), "64 kB"),
            ("64 KiB", QueueSpec::Bytes(Bytes::new(65_536)), "65.536 kB"),
            ("1 bdp", QueueSpec::Bdp(BdpMultiple(1_000_000)), "1 bdp"),
            ("0.5 bdp", QueueSpec::Bdp(BdpMultiple(500_000)), "0.5 bdp"),
            (".000001bdp", QueueSpec::Bdp(BdpMultiple(1)), "0.000001 bdp"),
            ("1.5000000 bdp", QueueSpec::Bdp(BdpMultiple(1_500_000)), "1.5 bdp"),
        ] {
            assert_eq!(text.parse(), Ok(queue), "{text}");
            assert_eq!(queue.to_string(), written);
            assert_eq!(written.parse(), Ok(queue), "{written} can be read back");
            let json = serde_json::to_string(&queue).unwrap();
            assert_eq!(serde_json::from_str::<QueueSpec>(&json).unwrap(), queue);
        }
    }

    #[test]
    fn says_what_would_be_right() {
        let size = "is not the size of a queue: write it as `512 packets`, `64 kB` or `1 bdp`";
        for text in ["512", "deep", "", "-1 packets", "1.2.3 bdp", "1..2 kB", "8 Mbit/s", ". bdp"] {
            assert_eq!(
                text.parse::<QueueSpec>().unwrap_err().to_string(),
                format!("`{text}` {size}")
            );
        }
        for (text, limit) in [
            ("0.5 packets", "`0.5 packets` is out of range for a queue: whole packets"),
            ("4294967296 packets", "`4294967296 packets` is out of range for a queue"),
            ("0.0000001 bdp", "`0.0000001 bdp` is out of range for a queue: steps of 0.000001 bdp"),
            ("1000001 bdp", "`1000001 bdp` is out of range for a queue"),
            ("0.5 B", "`0.5 B` is out of range for an amount of data"),
        ] {
            let message = text.parse::<QueueSpec>().unwrap_err().to_string();
            assert!(message.starts_with(limit), "{message}");
        }
        let message = serde_json::from_str::<QueueSpec>("512").unwrap_err().to_string();
        assert!(message.starts_with(&format!("`512` {size}")), "{message}");
        let message = serde_json::from_str::<QueueSpec>("{}").unwrap_err().to_string();
        assert!(message.contains("expected the size of a queue such as"), "{message}");
    }

    #[test]
    fn a_bdp_is_rate_times_round_trip() {
        let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
        for (multiple, rate, round_trip, bytes) in [
            ("1 bdp", mbit(8), Span::from_millis(20), Some(20_000)),
            ("0.5 bdp", mbit(8), Span::from_millis(20), Some(10_000)),
            ("3 bdp", Rate::from_bits_per_second(1), Span::from_secs(3), Some(1)),
            ("1 bdp", Rate::from_bits_per_second(u64::MAX), Span::MAX, None),
        ] {
            let Ok(QueueSpec::Bdp(bdp)) = multiple.parse() else { panic!("{multiple}") };
            assert_eq!(bdp.of(rate, round_trip), bytes.map(Bytes::new), "{multiple} of {rate}");
        }
    }
}
