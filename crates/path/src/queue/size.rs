//! The size of a queue as it is written.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use tcplab_units::{Bytes, NUMBER_PATTERN, Rate, Span, UnitError};

use super::limit::QueueLimit;
use crate::fault::Fault;

/// The least that a queue in bytes must hold: a full-sized Ethernet frame. Links count 1,500 B of
/// it, the IP packet; tools that count its 14 B header too would drop every packet at a limit
/// between the two.
pub const SMALLEST_QUEUE: Bytes = Bytes::new(1514);

/// The size of a queue: `512 packets`, `64 kB`, `50 ms`, or `1 bdp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueSize {
    /// In packets of any size.
    Packets(u32),
    /// In bytes of IP packets.
    Bytes(Bytes),
    /// In time: as many bytes as the bottleneck sends in it.
    Time(Span),
    /// A multiple of the bandwidth-delay product.
    Bdp(BdpMultiple),
}

impl QueueSize {
    /// The resulting limit, or why there is none.
    pub(crate) fn limit(self, rate: Rate, round_trip: Span) -> Result<QueueLimit, String> {
        let too_small = |bytes: Option<Bytes>| {
            let in_bytes =
                bytes.map(|bytes| format!(" ({} B)", bytes.as_u64())).unwrap_or_default();
            let least = SMALLEST_QUEUE.as_u64();
            format!("a queue of {self}{in_bytes} cannot hold a packet: give at least {least} B")
        };
        match self {
            QueueSize::Packets(0) => {
                Err(format!("a queue of {self} cannot hold a packet: give at least 1 packet"))
            }
            QueueSize::Packets(packets) => Ok(QueueLimit::Packets(packets)),
            QueueSize::Bytes(bytes) if bytes < SMALLEST_QUEUE => Err(too_small(None)),
            QueueSize::Bytes(bytes) => Ok(QueueLimit::Bytes(bytes)),
            QueueSize::Time(span) => match rate.bytes_in(span) {
                bytes if bytes < SMALLEST_QUEUE => Err(too_small(Some(bytes))),
                bytes => Ok(QueueLimit::Bytes(bytes)),
            },
            QueueSize::Bdp(_) if round_trip.is_zero() => Err("a queue in bdp needs a `delay`, \
                which is not zero at the start: else the bandwidth-delay product is zero"
                .into()),
            QueueSize::Bdp(multiple) => match multiple.of(rate, round_trip) {
                None => Err(format!("a queue of {self} is larger than 2⁶⁴ bytes")),
                Some(bytes) if bytes < SMALLEST_QUEUE => Err(too_small(Some(bytes))),
                Some(bytes) => Ok(QueueLimit::Bytes(bytes)),
            },
        }
    }
}

/// The limit that a size under a key below that of the queue gives.
pub(super) fn limit_below(
    key: &'static str,
    size: QueueSize,
    rate: Rate,
    round_trip: Span,
) -> Result<QueueLimit, Fault> {
    size.limit(rate, round_trip).map_err(|what| Fault::below(key, what))
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

    /// The result in whole bytes; `None` from 2⁶⁴ on.
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
pub enum QueueSizeError {
    /// It is none of the four.
    #[error(
        "`{0}` is not the size of a queue: write it as `512 packets`, `64 kB`, `50 ms` or `1 bdp`"
    )]
    NotASize(String),
    /// Its `m` could be a million bytes, milliseconds or minutes.
    #[error("`{0}m` could be two things: write `{0} MB` or `{0} ms`")]
    UnclearM(String),
    /// It is a number of packets, but not a whole one, or too large.
    #[error("`{0}` is out of range for a queue: whole packets up to 4294967295")]
    Packets(String),
    /// It is a multiple of the bandwidth-delay product, but too fine or too large.
    #[error("`{0}` is out of range for a queue: steps of 0.000001 bdp up to a million bdp")]
    Bdp(String),
    /// It is an amount of data or a time, but out of range or unclear.
    #[error(transparent)]
    Quantity(UnitError),
}

impl FromStr for QueueSize {
    type Err = QueueSizeError;

    fn from_str(text: &str) -> Result<QueueSize, QueueSizeError> {
        let not_a_size = || QueueSizeError::NotASize(text.into());
        let trimmed = text.trim();
        let unit_at = trimmed.find(char::is_alphabetic).ok_or_else(not_a_size)?;
        let (number, unit) = (trimmed[..unit_at].trim_end().replace('_', ""), &trimmed[unit_at..]);
        let is_number = number.bytes().any(|b| b.is_ascii_digit())
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && number.bytes().filter(|b| *b == b'.').count() <= 1;
        if !is_number {
            return Err(not_a_size());
        }
        match unit {
            "packets" | "packet" | "pkts" | "pkt" | "p" => match number.parse() {
                Ok(packets) => Ok(QueueSize::Packets(packets)),
                Err(_) => Err(QueueSizeError::Packets(text.into())),
            },
            "bdp" => match millionths(&number) {
                Some(n) => Ok(QueueSize::Bdp(BdpMultiple(n))),
                None => Err(QueueSizeError::Bdp(text.into())),
            },
            "m" => Err(QueueSizeError::UnclearM(number)),
            _ => {
                let of_time = trimmed.parse().map(QueueSize::Time);
                // A unit of time that is out of range is still one of time; `M` may be of data.
                let read = match of_time {
                    Ok(_) | Err(UnitError::OutOfRange { .. }) => of_time,
                    Err(_) => trimmed.parse().map(QueueSize::Bytes),
                };
                read.map_err(|error| match error {
                    UnitError::OutOfRange { .. } | UnitError::Unclear { .. } => {
                        QueueSizeError::Quantity(error)
                    }
                    _ => not_a_size(),
                })
            }
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

impl fmt::Display for QueueSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueSize::Packets(1) => f.write_str("1 packet"),
            QueueSize::Packets(n) => write!(f, "{n} packets"),
            QueueSize::Bytes(bytes) => bytes.fmt(f),
            QueueSize::Time(span) => span.fmt(f),
            QueueSize::Bdp(multiple) => multiple.fmt(f),
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

impl serde::Serialize for QueueSize {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for QueueSize {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<QueueSize, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What is read as the size of a queue, but for the range, as a regular expression.
fn pattern() -> String {
    let (amount, span) = (Bytes::UNIT_PATTERN, Span::UNIT_PATTERN);
    format!(r"^\s*{NUMBER_PATTERN}\s*(packets?|pkts?|p|bdp|{amount}|{span})\s*$")
}

impl schemars::JsonSchema for QueueSize {
    fn schema_name() -> Cow<'static, str> {
        "QueueSize".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": pattern(),
            "description": "The size of a queue: in packets (`512 packets`), in bytes \
                (`64 kB`), in time (`50 ms`: the bytes that the bottleneck sends in it), or in \
                bandwidth-delay products (`1 bdp`: the rate of the direction times the delay of \
                both). Of a rate that changes, the mean over a repetition counts, or its start \
                where nothing repeats; of a trace or wireless link, what full packets get."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueueSpec;

    #[test]
    fn reads_packets_bytes_and_bdp() {
        for (text, queue, written) in [
            ("512 packets", QueueSize::Packets(512), "512 packets"),
            ("1 packet", QueueSize::Packets(1), "1 packet"),
            (" 1_000packets ", QueueSize::Packets(1000), "1000 packets"),
            ("64 kB", QueueSize::Bytes(Bytes::new(64_000)), "64 kB"),
            ("64 KiB", QueueSize::Bytes(Bytes::new(65_536)), "65.536 kB"),
            ("5 M", QueueSize::Bytes(Bytes::new(5_000_000)), "5 MB"),
            ("64KB", QueueSize::Bytes(Bytes::new(64_000)), "64 kB"),
            ("100p", QueueSize::Packets(100), "100 packets"),
            ("50 ms", QueueSize::Time(Span::from_millis(50)), "50 ms"),
            ("50 µs", QueueSize::Time(Span::from_micros(50)), "50 µs"),
            ("1 bdp", QueueSize::Bdp(BdpMultiple(1_000_000)), "1 bdp"),
            ("0.5 bdp", QueueSize::Bdp(BdpMultiple(500_000)), "0.5 bdp"),
            (".000001bdp", QueueSize::Bdp(BdpMultiple(1)), "0.000001 bdp"),
            ("1.5000000 bdp", QueueSize::Bdp(BdpMultiple(1_500_000)), "1.5 bdp"),
        ] {
            assert_eq!(text.parse(), Ok(queue), "{text}");
            assert_eq!(queue.to_string(), written);
            assert_eq!(written.parse(), Ok(queue), "{written} can be read back");
            let json = serde_json::to_string(&queue).unwrap();
            assert_eq!(serde_json::from_str::<QueueSize>(&json).unwrap(), queue);
        }
    }

    #[test]
    fn says_what_would_be_right() {
        let size =
            "is not the size of a queue: write it as `512 packets`, `64 kB`, `50 ms` or `1 bdp`";
        for text in ["512", "deep", "", "-1 packets", "1.2.3 bdp", "1..2 kB", "8 Mbit/s", ". bdp"] {
            assert_eq!(
                text.parse::<QueueSize>().unwrap_err().to_string(),
                format!("`{text}` {size}")
            );
        }
        for (text, limit) in [
            ("0.5 packets", "`0.5 packets` is out of range for a queue: whole packets"),
            ("4294967296 packets", "`4294967296 packets` is out of range for a queue"),
            ("0.0000001 bdp", "`0.0000001 bdp` is out of range for a queue: steps of 0.000001 bdp"),
            ("1000001 bdp", "`1000001 bdp` is out of range for a queue"),
            ("0.5 B", "`0.5 B` is out of range for an amount of data"),
            ("0.1 ns", "`0.1 ns` is out of range for a time"),
        ] {
            let message = text.parse::<QueueSize>().unwrap_err().to_string();
            assert!(message.starts_with(limit), "{message}");
        }
        let message = serde_json::from_str::<QueueSpec>("512").unwrap_err().to_string();
        assert!(message.starts_with(&format!("`512` {size}")), "{message}");
        let message = serde_json::from_str::<QueueSpec>("[]").unwrap_err().to_string();
        assert!(message.contains("expected the size of a queue such as"), "{message}");
    }

    proptest::proptest! {
        #[test]
        fn schema_accepts_what_is_read(
            text in "[0-9_]{0,3}[.]{0,1}[0-9]{0,2} {0,1}\
                     (packets|packet|pkts|p|bdp|k|KB|kb|MiB|Bytes|ms|us|min|s|m|h|bit/s|[a-z]{0,2})",
        ) {
            let is_allowed = regex_lite::Regex::new(&pattern()).unwrap().is_match(&text);
            let is_read = match text.parse::<QueueSize>() {
                Ok(_) | Err(QueueSizeError::Packets(_) | QueueSizeError::Bdp(_)) => true,
                Err(QueueSizeError::NotASize(_)) => false,
                // Of amounts it is one; of times it could be.
                Err(QueueSizeError::UnclearM(_)) => return Ok(()),
                Err(QueueSizeError::Quantity(error)) => {
                    matches!(error, UnitError::OutOfRange { .. })
                }
            };
            proptest::prop_assert_eq!(is_allowed, is_read, "{}", text);
        }
    }

    #[test]
    fn queue_in_time_is_rate_times_time() {
        let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
        for (text, rate, limit) in [
            // 5 Mbit/s for 50 ms are 250 kbit.
            ("50 ms", mbit(5), Ok(QueueLimit::Bytes(Bytes::new(31_250)))),
            ("1 s", mbit(8), Ok(QueueLimit::Bytes(Bytes::new(1_000_000)))),
            (
                "2 ms",
                mbit(5),
                Err("a queue of 2 ms (1250 B) cannot hold a packet: give at least 1514 B"),
            ),
            (
                "0 packets",
                mbit(5),
                Err("a queue of 0 packets cannot hold a packet: give at least 1 packet"),
            ),
        ] {
            let size: QueueSize = text.parse().unwrap();
            assert_eq!(size.limit(rate, Span::ZERO), limit.map_err(String::from), "{text}");
        }
        let message = "50m".parse::<QueueSize>().unwrap_err().to_string();
        assert_eq!(message, "`50m` could be two things: write `50 MB` or `50 ms`");
    }

    #[test]
    fn bdp_is_rate_times_round_trip() {
        let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
        for (multiple, rate, round_trip, bytes) in [
            ("1 bdp", mbit(8), Span::from_millis(20), Some(20_000)),
            ("0.5 bdp", mbit(8), Span::from_millis(20), Some(10_000)),
            ("3 bdp", Rate::from_bits_per_second(1), Span::from_secs(3), Some(1)),
            ("1 bdp", Rate::from_bits_per_second(u64::MAX), Span::MAX, None),
        ] {
            let Ok(QueueSize::Bdp(bdp)) = multiple.parse() else { panic!("{multiple}") };
            assert_eq!(bdp.of(rate, round_trip), bytes.map(Bytes::new), "{multiple} of {rate}");
        }
    }
}
