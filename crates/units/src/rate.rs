//! Data rates, and the exact time that data takes at one.

use crate::parse::{Grammar, written_as};
use crate::unit;
use crate::{Bytes, Span};

const GRAMMAR: Grammar = Grammar {
    what: "a data rate",
    example: "5 Mbit/s",
    usual_of_large: "bit/s",
    units: &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
    ],
    read_unit: unit::of_rate,
    unit_pattern: unit::RATE,
    limit: "whole bits per second below 2⁶⁴",
};

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// A data rate in bits per second. Written `5 Mbit/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

written_as!(
    Rate,
    GRAMMAR,
    "A data rate: a number and one of bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, such as `5 Mbit/s`. Also \
     read are `5M`, `5Mbit`, `5Mbps` and `5 Mb/s` (all 5 Mbit/s), and bytes: `5MBps` and `5 MB/s` are 40 \
     Mbit/s. `5MB` is refused: it could be either."
);

impl Rate {
    /// `n` bits per second.
    pub const fn from_bits_per_second(n: u64) -> Rate {
        Rate(n)
    }
    /// The rate at which `amount` passes in `span`; `None` for no time.
    pub fn of(amount: Bytes, span: Span) -> Option<Rate> {
        let nanos = u128::from(span.as_nanos());
        (amount.bits() * NANOS_PER_SECOND)
            .checked_div(nanos)
            .and_then(|r| u64::try_from(r).ok())
            .map(Rate)
    }
    /// The same in Mbit/s, with fractions of a bit per second.
    pub fn mbit_f64_of(amount: Bytes, span: Span) -> Option<f64> {
        let nanos = span.as_nanos();
        (nanos > 0).then(|| amount.bits() as f64 * 1e3 / nanos as f64)
    }
    /// In bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }
    /// In Mbit/s, as people read it.
    pub fn as_mbit_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// How many whole bytes pass in `span`; saturates at 2⁶⁴ − 1.
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.as_nanos()) / NANOS_PER_SECOND;
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_writes_and_reckons_exactly() {
        let rate: Rate = "5 Mbit/s".parse().unwrap();
        assert_eq!(rate.to_string(), "5 Mbit/s");
        assert_eq!(rate.bytes_in(Span::from_millis(20)), Bytes::new(12_500));
        assert_eq!(Rate::of(Bytes::new(12_500), Span::from_millis(20)), Some(rate));
        assert_eq!(Rate::of(Bytes::new(1), Span::ZERO), None);
        assert_eq!(Rate::mbit_f64_of(Bytes::new(12_500), Span::from_millis(20)), Some(5.0));
        // 24 bits in 8880 s: 1/370 bit/s.
        let slow = Rate::mbit_f64_of(Bytes::new(3), Span::from_secs(8_880));
        assert_eq!(slow, Some(1.0 / 370.0 / 1e6));
        assert_eq!(Rate::mbit_f64_of(Bytes::new(1), Span::ZERO), None);
        assert_eq!("5.3 Mbit/s".parse::<Rate>().unwrap().bits_per_second(), 5_300_000);
        for (text, bits_per_second) in [
            ("10M", 10_000_000),
            ("10Mbit", 10_000_000),
            ("10Mbps", 10_000_000),
            ("10 mbps", 10_000_000),
            ("10 MBit/s", 10_000_000),
            ("10 Mbits/sec", 10_000_000),
            ("10 Mb/s", 10_000_000),
            ("100K", 100_000),
            ("1g", 1_000_000_000),
            ("10MBps", 80_000_000),
            ("10 MBytes/s", 80_000_000),
            ("1 KiB/s", 8_192),
        ] {
            assert_eq!(text.parse::<Rate>().unwrap().bits_per_second(), bits_per_second, "{text}");
        }
        assert_eq!(
            "10MB".parse::<Rate>().unwrap_err().to_string(),
            "`10MB` could be two things: write `10 MB/s` or `10 Mbit/s`"
        );
        assert_eq!(
            "5 ms".parse::<Rate>().unwrap_err().to_string(),
            "`ms` is not a unit of a data rate: use one of bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s"
        );
    }
}
