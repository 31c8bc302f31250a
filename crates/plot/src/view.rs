//! What graphs of one trial have in common: time, interruptions, the unit of an axis.

use tcplab_units::Instant;

/// What the left axis counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes, shown in kB or MB as the marks need it.
    Bytes,
    /// Something of this name.
    Named(String),
    /// Nothing: rows with a name each, from the top, one unit high.
    Rows(Vec<String>),
}

/// What graphs of one trial have in common: the stretch of time and what happened to the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    /// The left edge.
    pub from: Instant,
    /// The right edge.
    pub until: Instant,
    /// When the path let nothing through, in order of time.
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
    /// The same where there is no room: `1`.
    pub short: String,
    /// CSS class of the label.
    pub class: &'static str,
}

impl View<'_> {
    pub(crate) fn seen_bands(&self) -> impl Iterator<Item = &Band> {
        self.bands.iter().filter(|band| band.until > self.from && band.from < self.until)
    }
}
