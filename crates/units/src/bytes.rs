//! Amounts of data.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use crate::parse::{Grammar, written_as};

const GRAMMAR: Grammar = Grammar {
    what: "an amount of data",
    example: "10 MB",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
    ],
    limit: "whole bytes below 2⁶⁴",
};

/// An amount of data in bytes. Written `10 MB` (10,000,000 bytes) or `64 KiB` (65,536 bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

written_as!(
    Bytes,
    GRAMMAR,
    r"^\s*[0-9_]*\.?[0-9_]+\s*(B|kB|KiB|MB|MiB|GB|GiB)\s*$",
    "An amount of data: a number and one of B, kB, KiB, MB, MiB, GB, GiB, such as `10 MB`."
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
        ] {
            let amount: Bytes = text.parse().unwrap();
            assert_eq!((amount.as_u64(), amount.to_string().as_str()), (bytes, written), "{text}");
        }
        assert_eq!(
            "10 mb".parse::<Bytes>().unwrap_err().to_string(),
            "`mb` is not a unit of an amount of data: use one of B, kB, KiB, MB, MiB, GB, GiB"
        );
        assert!("0.5 B".parse::<Bytes>().is_err());
    }
}
