//! Places in a byte stream.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// A place in a byte stream, counted from its first byte. 32-bit sequence numbers become
/// offsets where a packet enters; offsets do not wrap (2⁶⁴ bytes take centuries).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Offset(u64);

impl Offset {
    /// The first byte.
    pub const ZERO: Offset = Offset(0);

    /// The byte that `n` bytes precede.
    pub const fn new(n: u64) -> Offset {
        Offset(n)
    }
    /// How many bytes precede it.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
    /// How many bytes lie between `earlier` and this; zero when it is not after.
    pub const fn since(self, earlier: Offset) -> Bytes {
        Bytes::new(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Bytes> for Offset {
    type Output = Offset;
    fn add(self, amount: Bytes) -> Offset {
        Offset(self.0 + amount.as_u64())
    }
}
impl AddAssign<Bytes> for Offset {
    fn add_assign(&mut self, amount: Bytes) {
        self.0 += amount.as_u64();
    }
}
impl std::fmt::Display for Offset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
