//! Amounts of data.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use crate::parse::{Grammar, written_as};
use crate::unit;

const GRAMMAR: Grammar = Grammar {
    what: "an amount of data",
    example: "10 MB",
    usual_of_large: "B",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
    ],
    read_unit: unit::of_amount,
    unit_pattern: unit::AMOUNT,
    limit: "whole bytes below 2⁶⁴",
};

/// An amount of data in bytes. Written `10 MB` (10,000,000 bytes) or `64 KiB` (65,536 bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

written_as!(
    Bytes,
    GRAMMAR,
    "An amount of data: a number and one of B, kB, KiB, MB, MiB, GB, GiB, such as `10 MB`. Also read \
     are `64KB`, `64 kbytes` and `64K` (64,000 B), `64Ki` (65,536 B). A small `b` and `bit` are refused: \
     write bytes."
);

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);

    /// `n` bytes.
    pub const fn new(n: u64) -> Bytes {
        Bytes(n)
    }
    /// The number of bytes.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
    /// The number of bits.
    pub const fn bits(self) -> u128 {
        self.0 as u128 * 8
    }
    /// The difference, or zero where `other` is more.
    #[must_use]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl From<usize> for Bytes {
    fn from(n: usize) -> Bytes {
        Bytes(n as u64)
    }
}
impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(amounts: I) -> Bytes {
        amounts.fold(Bytes::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_prefixes_differ() {
        for (text, bytes, written) in [
            ("10 MB", 10_000_000, "10 MB"),
            ("64 KiB", 65_536, "65.536 kB"),
            ("64kB", 64_000, "64 kB"),
            ("1.5 GB", 1_500_000_000, "1.5 GB"),
            ("1448 B", 1448, "1.448 kB"),
            // As people write them.
            ("64KB", 64_000, "64 kB"),
            ("64k", 64_000, "64 kB"),
            ("64Ki", 65_536, "65.536 kB"),
            ("10M", 10_000_000, "10 MB"),
            ("10 MBytes", 10_000_000, "10 MB"),
            ("1 TiB", 1 << 40, "1099.511627776 GB"),
            ("100 bytes", 100, "100 B"),
            ("0", 0, "0 B"),
        ] {
            let amount: Bytes = text.parse().unwrap();
            assert_eq!((amount.as_u64(), amount.to_string().as_str()), (bytes, written), "{text}");
        }
        for (text, message) in [
            ("10 mb", "`10 mb` could be two things: write `10 MB` or `1.25 MB` (for 10 Mbit)"),
            ("10Mbit", "`10Mbit` could be two things: write `10 MB` or `1.25 MB` (for 10 Mbit)"),
            ("64", "`64` has no unit: give an amount of data such as `64 MB`"),
            ("1024", "`1024` has no unit: give an amount of data such as `1024 B`"),
            (
                "10,000 B",
                "`10,000 B` is not a plain number: write digits and a decimal point, such as `10 MB`",
            ),
            (
                "5 s",
                "`s` is not a unit of an amount of data: use one of B, kB, KiB, MB, MiB, GB, GiB",
            ),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap_err().to_string(), message);
        }
        assert!("0.5 B".parse::<Bytes>().is_err());
    }
}
