//! Writes the comparison to files and standard output.

use std::path::{Path, PathBuf};

use anyhow::Result;

use tcplab_units::visible_line;

use crate::arguments::CompareArguments;
use crate::output::{Output, answer, check_outputs, folded, print_note, shown_columns, write_file};

/// The outputs beside, or instead of, the table on standard output.
pub(super) struct Outputs {
    /// Whether one of them is standard output.
    has_answered: bool,
}

impl Outputs {
    /// Those that are asked for.
    ///
    /// # Errors
    /// When two would be one, or one cannot be written.
    pub(super) fn of(arguments: &CompareArguments) -> Result<Outputs> {
        let CompareArguments { json, markdown, junit, html, .. } = arguments;
        check_outputs([&json.place, markdown, junit, html], None)?;
        Ok(Outputs { has_answered: false })
    }

    /// Writes `text` if `place` is given.
    pub(super) fn add(
        &mut self,
        place: Option<&PathBuf>,
        text: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        let Some(place) = place else { return Ok(()) };
        if is_stdout(place) {
            self.has_answered = true;
            return write_file(place, &text()?);
        }
        write_file(place, &text()?)?;
        print_note(&visible_line(&format!("written: {}", place.display())));
        Ok(())
    }

    /// Prints the table, unless another output took standard output.
    pub(super) fn finish(self, table: &str) -> Result<()> {
        if self.has_answered { Ok(()) } else { answer(&folded(table, shown_columns())) }
    }
}

fn is_stdout(place: &Path) -> bool {
    place.as_os_str() == Output::STDOUT
}
