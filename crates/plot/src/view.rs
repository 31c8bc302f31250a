//! What graphs of one trial have in common: time, interruptions, the unit of an axis.

use tcplab_units::Instant;

/// The quantity of the left axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes, shown in kB or MB.
    Bytes,
    /// A quantity with this unit.
    Named(String),
    /// Named rows from the top, each one unit high.
    Rows(Vec<String>),
}

/// The time and the interruptions that all graphs of a trial share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    /// The left edge.
    pub from: Instant,
    /// The right edge.
    pub until: Instant,
    /// Interruptions of the path, in order of time.
    pub bands: &'a [Band],
}

/// A shaded stretch of time: an interruption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// Its beginning.
    pub from: Instant,
    /// Its end.
    pub until: Instant,
    /// The label above it: `1 without time lag`.
    pub label: String,
    /// A shorter one: `1`.
    pub short: String,
    /// CSS class of the label.
    pub class: &'static str,
}
