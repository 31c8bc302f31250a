//! State of the analysis folded into few bytes, and unfolded again without loss.
//!
//! Most of what is known of a quiet connection is zero or a small number, so numbers are written
//! in as many bytes as they need (LEB128), a run of zeros as its length, and a time as the
//! difference from the time before. Nothing is left out: what is unfolded equals what was folded.

mod model;
mod values;

use tcplab_units::Instant;

/// What can be folded.
pub(crate) trait Fold: Sized {
    fn fold(&self, to: &mut Folder);
    /// What [`Fold::fold`] wrote.
    fn unfold(from: &mut Unfolder<'_>) -> Self;
    /// The bytes allocated for it beside itself.
    fn heap(&self) -> usize;
}

/// Writes what is folded.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    bytes: Vec<u8>,
    /// Zeros not written yet.
    zeros: u64,
    /// The latest time written.
    time: u64,
}

impl Folder {
    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        if number == 0 {
            self.zeros += 1;
            return;
        }
        self.end_zeros();
        self.varint(number);
    }
    pub(crate) fn time(&mut self, time: Instant) {
        let time = time.as_nanos();
        if time == 0 {
            return self.number(0);
        }
        let since = time.wrapping_sub(self.time) as i64;
        self.time = time;
        self.number(zigzag(since) + 1);
    }
    /// A byte that stands as it is before everything else.
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }
    /// All that was written; the folder is as new.
    pub(crate) fn finish(&mut self) -> Box<[u8]> {
        // Zeros at the end need no bytes: nothing but zeros is read behind the last.
        (self.zeros, self.time) = (0, 0);
        let folded = Box::from(self.bytes.as_slice());
        self.bytes.clear();
        folded
    }

    #[inline]
    fn end_zeros(&mut self) {
        if self.zeros > 0 {
            self.bytes.push(0);
            let zeros = std::mem::take(&mut self.zeros);
            self.varint(zeros);
        }
    }
    #[inline]
    fn varint(&mut self, mut number: u64) {
        while number >= 1 << 7 {
            self.bytes.push(number as u8 | 1 << 7);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// Reads what was folded.
#[derive(Debug)]
pub(crate) struct Unfolder<'a> {
    bytes: &'a [u8],
    /// Zeros before the next byte.
    zeros: u64,
    time: u64,
}

impl<'a> Unfolder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Unfolder<'a> {
        Unfolder { bytes, zeros: 0, time: 0 }
    }
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        if self.zeros > 0 {
            self.zeros -= 1;
            return 0;
        }
        let number = self.varint();
        if number == 0 {
            self.zeros = self.varint().saturating_sub(1);
        }
        number
    }
    pub(crate) fn time(&mut self) -> Instant {
        let coded = self.number();
        if coded == 0 {
            return Instant::ZERO;
        }
        self.time = self.time.wrapping_add(unzigzag(coded - 1) as u64);
        Instant::from_nanos(self.time)
    }

    /// The next number; zero behind the last.
    #[inline]
    fn varint(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((&byte, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 1 << 7 {
                break;
            }
            shift += 7;
        }
        number
    }
}

/// Small numbers of either sign as small numbers.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}
fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Folds a type by all of its fields, or an enumeration by its place. A field or variant that is
/// left out does not compile, unless it is named with its value when unfolded.
macro_rules! folded {
    (enum $type:ident { $($variant:ident),+ $(,)? }) => {
        impl $crate::fold::Fold for $type {
            fn fold(&self, to: &mut $crate::fold::Folder) {
                to.number(*self as u64);
            }
            fn unfold(from: &mut $crate::fold::Unfolder<'_>) -> $type {
                // The `match` sees to it that none is missing.
                const ALL: &[$type] = &[$($type::$variant),+];
                let found = ALL[from.number() as usize];
                match found { $($type::$variant)|+ => found }
            }
            fn heap(&self) -> usize {
                0
            }
        }
    };
    (tuple $type:ident) => {
        impl $crate::fold::Fold for $type {
            fn fold(&self, to: &mut $crate::fold::Folder) {
                let $type(inner) = self;
                $crate::fold::Fold::fold(inner, to);
            }
            fn unfold(from: &mut $crate::fold::Unfolder<'_>) -> $type {
                $type($crate::fold::Fold::unfold(from))
            }
            fn heap(&self) -> usize {
                $crate::fold::Fold::heap(&self.0)
            }
        }
    };
    ($type:ident { $($field:ident),+ $(,)? } $(without $($left:ident: $value:expr),+)?) => {
        impl $crate::fold::Fold for $type {
            fn fold(&self, to: &mut $crate::fold::Folder) {
                let $type { $($field,)+ $($($left: _,)+)? } = self;
                $($crate::fold::Fold::fold($field, to);)+
            }
            fn unfold(from: &mut $crate::fold::Unfolder<'_>) -> $type {
                $type { $($field: $crate::fold::Fold::unfold(from),)+ $($($left: $value,)+)? }
            }
            fn heap(&self) -> usize {
                0 $(+ $crate::fold::Fold::heap(&self.$field))+
            }
        }
    };
}
pub(crate) use folded;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use proptest::prelude::*;

    use super::*;

    fn again<T: Fold>(value: &T) -> (T, usize) {
        let mut folder = Folder::default();
        value.fold(&mut folder);
        let bytes = folder.finish();
        (T::unfold(&mut Unfolder::new(&bytes)), bytes.len())
    }

    type Values = (Vec<(u64, i64)>, VecDeque<Option<u32>>, (BTreeSet<u16>, (u128, bool), [u8; 5]));

    proptest! {
        #[test]
        fn folded_values_come_back(values: Values, times: Vec<u64>) {
            let times: Vec<Instant> =
                times.iter().map(|n| Instant::from_nanos(n >> (n % 64))).collect();
            prop_assert_eq!(&again(&values).0, &values);
            prop_assert_eq!(&again(&times).0, &times);
        }
    }

    #[test]
    fn zeros_and_near_times_take_few_bytes() {
        assert_eq!(again(&[0_u64; 1000]), ([0; 1000], 0));
        assert_eq!(again(&([0_u64; 500], 7_u8)).1, 4);
        let times =
            [1_000_000_000_000, 1_000_000_000_001, 999_999_999_999].map(Instant::from_nanos);
        assert_eq!(again(&times), (times, 8));
    }
}
