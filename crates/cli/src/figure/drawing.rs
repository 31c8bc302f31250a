//! A figure as its reader wants it.

use anyhow::Result;
use tcplab_report::RunFigure;

use super::looks::{looks, refused, tell};
use super::writing::write;
use crate::arguments::FigureArguments;

/// Writes a figure to where `arguments` say, in the looks that they give it.
///
/// # Errors
/// If it cannot look so, be drawn in that format, or be written.
pub(super) fn draw(figure: RunFigure, arguments: &FigureArguments) -> Result<()> {
    let looks = looks(&arguments.looks, arguments.looks.color.clone());
    let (figure, notes) = looks.applied(figure).map_err(|error| refused(&error))?;
    write(&figure, arguments)?;
    tell(&notes);
    Ok(())
}
