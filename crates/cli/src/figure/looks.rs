//! How a figure of `tcplab plot` looks.

use anyhow::Error;
use tcplab_plot::Colour;
use tcplab_report::{FigureLooks, LooksError};
use tcplab_units::visible_line;

use crate::arguments::LooksArguments;
use crate::output::print_note;
use crate::remedied::Remedied;

/// What the arguments say of the looks of a figure with lines of these colours.
pub(super) fn looks(arguments: &LooksArguments, colours: Vec<(String, Colour)>) -> FigureLooks {
    let [x, y] = arguments.axes();
    FigureLooks { title: arguments.title.clone(), x, y, colours }
}

/// The error with its remedy.
pub(super) fn refused(error: &LooksError) -> Error {
    let remedy = match error {
        LooksError::Fixed(_) => "leave out the options of axes and colours",
        LooksError::NoLine { .. } => "`--color NAME=COLOR` with a name that it shows",
        LooksError::FromZero(_) => {
            "a range that has 0 in it and no log scale, or the figure `…/boxes` in place of `…/bars`"
        }
        LooksError::Names(..) => "leave the option out, or choose another figure",
        LooksError::Long => "a shorter text",
        LooksError::Range(_)
        | LooksError::Place { .. }
        | LooksError::Empty(_)
        | LooksError::NotPositive(_) => {
            "A..B, A.. or ..B with numbers in the unit of the axis, or with their own"
        }
    };
    Remedied::error(error.to_string(), remedy)
}

/// Prints notes on a figure.
pub(super) fn tell(notes: &[String]) {
    for note in notes {
        print_note(&visible_line(note));
    }
}
