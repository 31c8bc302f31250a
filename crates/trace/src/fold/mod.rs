//! State of the analysis folded into few bytes, and unfolded again without loss.
//!
//! Most of what is known of a quiet connection is zero or a small number. A small number takes one
//! byte, and so do a run of zeros and a number written recently; others take as many as they need
//! and one. A time is the difference from the time before. Nothing is left out: what is unfolded
//! equals what was folded.

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

    /// Folds a value, if there is one: here a byte tells whether there is.
    fn fold_option(value: Option<&Self>, to: &mut Folder) {
        to.number(value.is_some().into());
        if let Some(value) = value {
            value.fold(to);
        }
    }
    /// What [`Fold::fold_option`] wrote.
    fn unfold_option(from: &mut Unfolder<'_>) -> Option<Self> {
        (from.number() != 0).then(|| Self::unfold(from))
    }

    /// Folds all of a list.
    fn fold_list(list: &[Self], to: &mut Folder) {
        for value in list {
            value.fold(to);
        }
    }
    /// A list of that many.
    fn unfold_list(count: usize, from: &mut Unfolder<'_>) -> Vec<Self> {
        (0..count).map(|_| Self::unfold(from)).collect()
    }
}

/// The first byte of a number that is not zero: itself, if less than this.
const RECENT: u8 = 64;
/// Or the place of the same number among recent ones.
const FOLLOW: u8 = RECENT + Recent::PLACES as u8;
/// From [`FOLLOW`] up it is how many bytes follow, and from here how many zeros.
const ZEROS: u8 = FOLLOW + 8;
/// The most zeros in a byte.
const MOST_ZEROS: u64 = (u8::MAX - ZEROS) as u64;
/// The most bytes of a number and the zeros before it; they are written at once.
const LONGEST: usize = 10;

/// Numbers that were written: the same times, frames and places in the stream are kept several
/// times.
#[derive(Debug)]
struct Recent([u64; Recent::PLACES]);

impl Recent {
    const PLACES: usize = 64;

    #[inline]
    fn place(number: u64) -> usize {
        (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
    }
    fn add(&mut self, number: u64) {
        self.0[Recent::place(number)] = number;
    }
}

impl Default for Recent {
    fn default() -> Recent {
        Recent([0; Recent::PLACES])
    }
}

/// Writes what is folded.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    /// Longer than what was written.
    bytes: Vec<u8>,
    len: usize,
    /// Zeros not written yet, at most [`MOST_ZEROS`].
    zeros: u64,
    recent: Recent,
    /// The latest time written.
    time: u64,
}

impl Folder {
    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        if number == 0 && self.zeros < MOST_ZEROS {
            self.zeros += 1;
        } else if number < RECENT.into() {
            self.write(number);
        } else {
            self.write_again(number, number);
        }
    }
    pub(crate) fn zeros(&mut self, mut count: u64) {
        while self.zeros + count > MOST_ZEROS {
            count -= MOST_ZEROS - self.zeros;
            self.zeros = MOST_ZEROS;
            self.number(0);
            count -= 1;
        }
        self.zeros += count;
    }
    /// A time, or a zero where there is none.
    pub(crate) fn time(&mut self, time: Option<Instant>) {
        let Some(time) = time.map(Instant::as_nanos) else { return self.number(0) };
        let since = time.wrapping_sub(self.time) as i64;
        self.time = time;
        self.write_again(time, zigzag(since) + 1);
    }
    /// Some bytes as they are, little-endian: for what is short and seldom zero.
    #[inline]
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.write_zeros();
        if self.bytes.len() < self.len + LONGEST + bytes.len() {
            self.bytes.resize(2 * self.len + 1_024, 0);
        }
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
    /// A byte that stands as it is before everything else.
    pub(crate) fn byte(&mut self, byte: u8) {
        self.make_room();
        self.bytes[self.len] = byte;
        self.len += 1;
    }
    /// All that was written; the folder is as new.
    pub(crate) fn finish(&mut self) -> Box<[u8]> {
        let folded = Box::from(&self.bytes[..self.len]);
        // Zeros at the end need no bytes: nothing but zeros is read behind the last.
        (self.len, self.zeros, self.time) = (0, 0, 0);
        self.recent = Recent::default();
        folded
    }

    /// Writes the place of a recent number, or `coded` if there is none.
    #[inline(never)]
    fn write_again(&mut self, number: u64, coded: u64) {
        let place = Recent::place(number);
        if self.recent.0[place] == number {
            self.write_zeros();
            self.bytes[self.len] = RECENT + place as u8;
            self.len += 1;
        } else {
            self.recent.add(number);
            self.write(coded);
        }
    }
    /// Writes the zeros and the number behind them.
    #[inline(never)]
    fn write(&mut self, number: u64) {
        self.write_zeros();
        if number == 0 {
            self.zeros = 1;
        } else if number < RECENT.into() {
            self.bytes[self.len] = number as u8;
            self.len += 1;
        } else {
            let long = (u64::BITS - number.leading_zeros()).div_ceil(8);
            self.bytes[self.len] = FOLLOW + long as u8 - 1;
            let place = self.len + 1..self.len + 9;
            self.bytes[place].copy_from_slice(&number.to_le_bytes());
            self.len += 1 + long as usize;
        }
    }
    #[inline]
    fn write_zeros(&mut self) {
        self.make_room();
        let zeros = std::mem::take(&mut self.zeros);
        self.bytes[self.len] = ZEROS + zeros as u8;
        self.len += usize::from(zeros > 0);
    }
    #[inline]
    fn make_room(&mut self) {
        if self.bytes.len() < self.len + LONGEST {
            self.bytes.resize(2 * self.len + 1_024, 0);
        }
    }
}

/// Reads what was folded.
#[derive(Debug)]
pub(crate) struct Unfolder<'a> {
    bytes: &'a [u8],
    /// Zeros before the next byte.
    zeros: u64,
    recent: Recent,
    time: u64,
}

impl<'a> Unfolder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Unfolder<'a> {
        Unfolder { bytes, zeros: 0, recent: Recent::default(), time: 0 }
    }
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        if self.zeros > 0 {
            self.zeros -= 1;
            return 0;
        }
        match self.read() {
            Read::Number(number) => {
                if number >= RECENT.into() {
                    self.recent.add(number);
                }
                number
            }
            Read::Again(number) => number,
        }
    }
    /// The zeros that come next, at most so many.
    pub(crate) fn zeros(&mut self, most: u64) -> u64 {
        if self.zeros == 0
            && let Some((&first, rest)) = self.bytes.split_first()
            && first >= ZEROS
        {
            self.bytes = rest;
            self.zeros = u64::from(first - ZEROS);
        }
        let zeros =
            if self.bytes.is_empty() && self.zeros == 0 { most } else { self.zeros.min(most) };
        self.zeros = self.zeros.saturating_sub(zeros);
        zeros
    }
    /// So many bytes of what [`Folder::raw`] wrote.
    #[inline]
    pub(crate) fn raw(&mut self, bytes: usize) -> u64 {
        let (number, rest) = self.bytes.split_at(bytes);
        let number = if let Some(eight) = self.bytes.first_chunk::<8>() {
            u64::from_le_bytes(*eight)
        } else {
            number.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
        };
        self.bytes = rest;
        number & u64::MAX >> (64 - 8 * bytes)
    }
    pub(crate) fn time(&mut self) -> Option<Instant> {
        if self.zeros > 0 {
            self.zeros -= 1;
            return None;
        }
        match self.read() {
            Read::Number(0) => return None,
            Read::Number(coded) => {
                self.time = self.time.wrapping_add(unzigzag(coded - 1) as u64);
                self.recent.add(self.time);
            }
            Read::Again(time) => self.time = time,
        }
        Some(Instant::from_nanos(self.time))
    }

    /// What the next byte begins; zero behind the last.
    #[inline(never)]
    fn read(&mut self) -> Read {
        let Some((&first, rest)) = self.bytes.split_first() else { return Read::Number(0) };
        self.bytes = rest;
        if first < RECENT {
            return Read::Number(first.into());
        }
        if first < FOLLOW {
            return Read::Again(self.recent.0[usize::from(first - RECENT)]);
        }
        if first >= ZEROS {
            self.zeros = u64::from(first - ZEROS) - 1;
            return Read::Number(0);
        }
        let long = usize::from(first - FOLLOW) + 1;
        let mut number = [0; 8];
        if let Some(eight) = rest.first_chunk::<8>() {
            number = *eight;
        } else {
            number[..long].copy_from_slice(&rest[..long]);
        }
        self.bytes = &rest[long..];
        Read::Number(u64::from_le_bytes(number) & u64::MAX >> (64 - 8 * long))
    }
}

/// What stands in some bytes.
enum Read {
    Number(u64),
    /// A number that was written before.
    Again(u64),
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
            fn fold_option(value: Option<&$type>, to: &mut $crate::fold::Folder) {
                to.number(value.map_or(0, |&it| it as u64 + 1));
            }
            fn unfold_option(from: &mut $crate::fold::Unfolder<'_>) -> Option<$type> {
                const ALL: &[$type] = &[$($type::$variant),+];
                from.number().checked_sub(1).map(|place| ALL[place as usize])
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
    (
        $type:ident { $first:ident $(, $field:ident)* $(,)? }
        $(without $($left:ident: $value:expr),+)?
    ) => {
        impl $crate::fold::Fold for $type {
            fn fold(&self, to: &mut $crate::fold::Folder) {
                let $type { $first, $($field,)* $($($left: _,)+)? } = self;
                $crate::fold::Fold::fold($first, to);
                $($crate::fold::Fold::fold($field, to);)*
            }
            fn unfold(from: &mut $crate::fold::Unfolder<'_>) -> $type {
                $type {
                    $first: $crate::fold::Fold::unfold(from),
                    $($field: $crate::fold::Fold::unfold(from),)*
                    $($($left: $value,)+)?
                }
            }
            // Whether there is one is told by its first field.
            fn fold_option(value: Option<&$type>, to: &mut $crate::fold::Folder) {
                $crate::fold::Fold::fold_option(value.map(|it| &it.$first), to);
                if let Some($type { $first: _, $($field,)* $($($left: _,)+)? }) = value {
                    $($crate::fold::Fold::fold($field, to);)*
                }
            }
            fn unfold_option(from: &mut $crate::fold::Unfolder<'_>) -> Option<$type> {
                let $first = $crate::fold::Fold::unfold_option(from)?;
                Some($type {
                    $first,
                    $($field: $crate::fold::Fold::unfold(from),)*
                    $($($left: $value,)+)?
                })
            }
            fn heap(&self) -> usize {
                $crate::fold::Fold::heap(&self.$first)
                    $(+ $crate::fold::Fold::heap(&self.$field))*
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

    type Values = (Vec<(u64, i64)>, VecDeque<Option<u32>>, (BTreeSet<u16>, u128, [u8; 5]));

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Kind {
        First,
        Second,
    }
    folded! { enum Kind { First, Second } }

    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Passed {
        at: Instant,
        frame: u64,
    }
    folded! { Passed { at, frame } }

    proptest! {
        #[test]
        fn optional_values_come_back(
            values: Vec<Option<(u64, u64, bool)>>,
        ) {
            let read = |(at, frame, second): (u64, u64, bool)| {
                let at = Instant::from_nanos(at >> (at % 64));
                let kind = if second { Kind::Second } else { Kind::First };
                (Some(at), Some(Box::new(Passed { at, frame })), Some(kind))
            };
            let values: Vec<_> =
                values.into_iter().map(|it| it.map_or((None, None, None), read)).collect();
            prop_assert_eq!(&again(&values).0, &values);
        }

        #[test]
        fn folded_values_come_back(
            long: Vec<(u8, u8)>,
            values: Values,
            times: Vec<u64>,
        ) {
            let zeros =
                |(zeros, last): (u8, u8)| [vec![0; zeros.into()], vec![last.into()]].concat();
            let long: Vec<u64> = long.into_iter().flat_map(zeros).collect();
            prop_assert_eq!(&again(&long).0, &long);
            let times: Vec<Instant> =
                times.iter().map(|n| Instant::from_nanos(n >> (n % 64))).collect();
            prop_assert_eq!(&again(&values).0, &values);
            prop_assert_eq!(&again(&times).0, &times);
        }
    }

    #[test]
    fn zeros_and_near_times_take_few_bytes() {
        assert_eq!(again(&[0_u64; 100]), ([0; 100], 0));
        assert_eq!(again(&([0_u64; 500], 7_u8)).1, 6);
        assert_eq!(again(&vec![0_u64; 100]), (vec![0; 100], 2));
        assert_eq!(again(&[1_u64 << 40; 9]), ([1 << 40; 9], 15));
        let passed = Passed { at: Instant::from_nanos(7), frame: 1 };
        assert_eq!(again(&Some(passed.clone())), (Some(passed), 2));
        let times =
            [1_000_000_000_000, 1_000_000_000_001, 999_999_999_999].map(Instant::from_nanos);
        assert_eq!(again(&times), (times, 9));
    }
}
