//! Where the answers go.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::arguments::CompareArguments;
use crate::output::{Output, answer, tell, write_file};

/// What is written beside the table on standard output, or in its place.
pub(super) struct Outputs<'a> {
    /// All that was asked for.
    places: Vec<&'a PathBuf>,
    /// What took standard output.
    has_answered: bool,
}

impl<'a> Outputs<'a> {
    pub(super) fn of(arguments: &'a CompareArguments) -> Outputs<'a> {
        let CompareArguments { json, markdown, junit, html, .. } = arguments;
        let places = [&json.place, markdown, junit, html].into_iter().flatten().collect();
        Outputs { places, has_answered: false }
    }

    /// Writes what `text` gives, if it was asked for.
    pub(super) fn add(
        &mut self,
        place: Option<&PathBuf>,
        text: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        let Some(place) = place else { return Ok(()) };
        if is_stdout(place) {
            if self.places.iter().filter(|place| is_stdout(place)).count() > 1 {
                bail!("standard output (`-`) can take one of them only");
            }
            self.has_answered = true;
            return answer(&text()?);
        }
        write_file(place, &text()?)?;
        tell(&format!("written: {}", place.display()));
        Ok(())
    }

    /// Prints the table, where nothing else took its place.
    pub(super) fn finish(self, table: &str) -> Result<()> {
        if self.has_answered { Ok(()) } else { answer(table) }
    }
}

fn is_stdout(place: &Path) -> bool {
    place.as_os_str() == Output::STDOUT
}
