//! What a table consists of.

use std::borrow::Cow;

/// A column of a table whose rows are made from `R`.
pub(crate) struct Column<R> {
    /// Ends in the unit, if it has one: `left_ns`.
    pub(crate) name: &'static str,
    /// What it tells, for people; where it can be empty, when.
    pub(crate) doc: &'static str,
    /// How it looks in the file.
    pub(crate) values: Values,
    /// How a row fills it.
    pub(crate) cells: Cells<R>,
}

/// What to expect of a column's values, which decides how they are packed. Either way is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// The same few again and again: a dictionary of them, and a few bits for each row.
    Few,
    /// Numbers not far from those of the row before: the differences.
    Near,
}

/// How a row fills its cell of a column. Numbers are unsigned, of 64 bits; ratios are floating point
/// numbers of 64 bits.
pub(crate) enum Cells<R> {
    Flag(fn(&R) -> bool),
    Number(fn(&R) -> u64),
    NumberIfAny(fn(&R) -> Option<u64>),
    RatioIfAny(fn(&R) -> Option<f64>),
    Text(fn(&R) -> Cow<'static, str>),
    TextIfAny(fn(&R) -> Option<Cow<'static, str>>),
}

impl<R> Cells<R> {
    /// Whether a cell may be empty.
    pub(crate) fn may_be_empty(&self) -> bool {
        match self {
            Cells::Flag(_) | Cells::Number(_) | Cells::Text(_) => false,
            Cells::NumberIfAny(_) | Cells::RatioIfAny(_) | Cells::TextIfAny(_) => true,
        }
    }
}
