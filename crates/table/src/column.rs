//! What a table consists of.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use tcplab_quantities::{Quantity, Unit};

use crate::value::{Kind, Value, signed};

/// A column of a table whose rows are made from `R`.
pub struct Column<R> {
    /// The quantity's key, perhaps with a prefix; ends in the unit: `forward_rtt_min_ns`.
    pub(crate) name: Cow<'static, str>,
    /// What it is, for people; where it can be empty, when.
    pub(crate) meaning: Cow<'static, str>,
    pub(crate) unit: Unit,
    pub(crate) packing: Packing,
    pub(crate) cells: Cells<R>,
}

/// How a column's values are packed in Parquet. Both ways are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// The same few values recur: a dictionary of them, and a few bits for each row.
    Few,
    /// Whole numbers close to those of the row before: the differences.
    Near,
}

/// How a row fills its cell of a column.
pub(crate) enum Cells<R> {
    Flag(fn(&R) -> bool),
    FlagIfAny(fn(&R) -> Option<bool>),
    Whole(fn(&R) -> u64),
    WholeIfAny(fn(&R) -> Option<u64>),
    /// Identifiers of 64 bits, not for arithmetic.
    Wide(fn(&R) -> u64),
    WideIfAny(fn(&R) -> Option<u64>),
    NumberIfAny(fn(&R) -> Option<f64>),
    Text(fn(&R) -> Cow<'static, str>),
    TextIfAny(fn(&R) -> Option<Cow<'static, str>>),
    Wholes(fn(&R) -> Vec<u64>),
    /// Of a table whose columns are known only when it is written: the value at this place.
    Place(fn(&R, usize) -> Value, usize, Kind),
}

// Derived, these would ask the same of `R`.
impl<R> Clone for Column<R> {
    fn clone(&self) -> Column<R> {
        Column { name: self.name.clone(), meaning: self.meaning.clone(), ..*self }
    }
}
impl<R> std::fmt::Debug for Column<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column").field("name", &self.name).finish_non_exhaustive()
    }
}
impl<R> Clone for Cells<R> {
    fn clone(&self) -> Cells<R> {
        *self
    }
}
impl<R> Copy for Cells<R> {}

impl<R> Cells<R> {
    pub(crate) fn may_be_empty(&self) -> bool {
        match self {
            Cells::Flag(_)
            | Cells::Whole(_)
            | Cells::Wide(_)
            | Cells::Text(_)
            | Cells::Wholes(_) => false,
            Cells::FlagIfAny(_)
            | Cells::WholeIfAny(_)
            | Cells::WideIfAny(_)
            | Cells::NumberIfAny(_)
            | Cells::TextIfAny(_) => true,
            Cells::Place(_, _, kind) => *kind != Kind::Wholes,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Cells::Flag(_) | Cells::FlagIfAny(_) => Kind::Flag,
            Cells::Whole(_) | Cells::WholeIfAny(_) => Kind::Whole,
            Cells::Wide(_) | Cells::WideIfAny(_) => Kind::Wide,
            Cells::NumberIfAny(_) => Kind::Number,
            Cells::Text(_) | Cells::TextIfAny(_) => Kind::Text,
            Cells::Wholes(_) => Kind::Wholes,
            Cells::Place(_, _, kind) => *kind,
        }
    }

    pub(crate) fn value(&self, row: &R) -> Value {
        match self {
            Cells::Flag(cell) => Value::Flag(cell(row)),
            Cells::FlagIfAny(cell) => cell(row).into(),
            Cells::Whole(cell) => Value::Whole(signed(cell(row))),
            Cells::WholeIfAny(cell) => cell(row).into(),
            Cells::Wide(cell) => Value::Wide(cell(row)),
            Cells::WideIfAny(cell) => cell(row).map_or(Value::Empty, Value::Wide),
            Cells::NumberIfAny(cell) => cell(row).into(),
            Cells::Text(cell) => Value::Text(cell(row)),
            Cells::TextIfAny(cell) => cell(row).into(),
            Cells::Wholes(cell) => cell(row).into(),
            Cells::Place(cell, place, _) => cell(row, *place),
        }
    }
}

impl<R> Column<R> {
    /// A column of this quantity, as tables list them.
    pub(crate) const fn of(
        quantity: &Quantity,
        packing: Packing,
        cells: Cells<R>,
        meaning: Option<&'static str>,
    ) -> Column<R> {
        let meaning = match meaning {
            Some(meaning) => meaning,
            None => quantity.meaning,
        };
        Column {
            name: Cow::Borrowed(quantity.key),
            meaning: Cow::Borrowed(meaning),
            unit: quantity.unit,
            packing,
            cells,
        }
    }

    /// The same of one of several, such as a direction.
    pub(crate) fn prefixed(self, prefix: &str, of: &str) -> Column<R> {
        Column {
            name: format!("{prefix}_{}", self.name).into(),
            meaning: format!("{of}: {}", self.meaning).into(),
            ..self
        }
    }

    /// Its name in files.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// What it is, for people.
    pub fn meaning(&self) -> &str {
        &self.meaning
    }
    /// Whether the value says more than that the key is absent.
    pub(crate) fn is_there(&self, value: &Value) -> bool {
        if self.may_be_empty() { *value != Value::Empty } else { !value.is_nothing() }
    }
    /// What its cells hold, if they are not empty.
    pub fn kind(&self) -> Kind {
        self.cells.kind()
    }
    /// Whether cells may be empty.
    pub fn may_be_empty(&self) -> bool {
        self.cells.may_be_empty()
    }
}

impl Column<Vec<Value>> {
    /// Columns of these quantities, for rows that are given cell by cell in this order.
    pub fn list(columns: &[(Quantity, Kind)]) -> Vec<Column<Vec<Value>>> {
        let of = |(place, (quantity, kind)): (usize, &(Quantity, Kind))| Column {
            unit: quantity.unit,
            ..Column::at(place, quantity.key, *kind, quantity.meaning)
        };
        columns.iter().enumerate().map(of).collect()
    }

    /// The column at this place of rows that are given cell by cell; its unit is that in which its
    /// name ends.
    pub fn at(
        place: usize,
        name: impl Into<Cow<'static, str>>,
        kind: Kind,
        meaning: impl Into<Cow<'static, str>>,
    ) -> Column<Vec<Value>> {
        #[expect(clippy::ptr_arg, reason = "it is called with the row as it is")]
        fn cell(row: &Vec<Value>, place: usize) -> Value {
            row.get(place).cloned().unwrap_or(Value::Empty)
        }
        let name = name.into();
        Column {
            unit: if kind == Kind::Text { Unit::None } else { Unit::of_key(&name) },
            name,
            meaning: meaning.into(),
            packing: Packing::Few,
            cells: Cells::Place(cell, place, kind),
        }
    }
}

/// A row as a JSON object, with the columns' names as its keys.
pub(crate) struct Object<'a, R> {
    pub(crate) columns: &'a [Column<R>],
    pub(crate) row: &'a R,
}

impl<R> Serialize for Object<'_, R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let cells = self.columns.iter();
        to.collect_map(cells.map(|column| (&column.name, column.cells.value(self.row))))
    }
}

/// Such an object of what is there: without columns that are empty and, of those that never are,
/// without zero, false, and lists of nothing.
pub(crate) struct Present<'a, R>(pub(crate) Object<'a, R>);

impl<R> Serialize for Present<'_, R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Object { columns, row } = self.0;
        let cells = columns.iter().map(|column| (column, column.cells.value(row)));
        let there = cells.filter(|(column, value)| column.is_there(value));
        to.collect_map(there.map(|(column, value)| (&column.name, value)))
    }
}

/// A list of columns: constant of a quantity, how it is packed, how a row fills it, and, where the
/// table has more to say of it than the quantity, what.
macro_rules! columns {
    ($($quantity:ident $packing:ident $cells:ident($cell:expr) $(, $meaning:literal)?;)*) => {
        &[$(
            $crate::column::Column::of(
                &tcplab_quantities::$quantity,
                $crate::column::Packing::$packing,
                $crate::column::Cells::$cells($cell),
                $crate::column::columns!(@meaning $($meaning)?),
            ),
        )*]
    };
    (@meaning $meaning:literal) => { Some($meaning) };
    (@meaning) => { None };
}
pub(crate) use columns;
