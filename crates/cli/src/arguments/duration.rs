//! Durations on the command line.

use tcplab_units::{Span, UnitError};

/// Reads a duration from `least` to `most`.
pub(super) fn within(text: &str, least: Span, most: Span) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error: UnitError| error.to_string())?;
    if span < least || span > most {
        return Err(format!("{text} is out of range: use {least} to {most}"));
    }
    Ok(span)
}

/// Reads how long to measure a path: slow start must be over, and a typing error must not take a
/// day.
pub(super) fn of_measurement(text: &str) -> Result<Span, String> {
    within(text, Span::from_millis(500), Span::from_secs(600))
}
