//! `--capture`: where each run is recorded.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tcplab_recording::{make_private_directory, room_for_files};
use tcplab_units::visible_line;

use crate::arguments::BenchArguments;
use crate::remedied::Remedied;

/// Letters of a path's name in that of its directory.
const NAMED: usize = 40;

/// The directory with the recordings.
pub(super) struct Recordings(PathBuf);

impl Recordings {
    /// Makes the directory, where one is asked for.
    ///
    /// # Errors
    /// When it cannot be made, or is not empty.
    pub(super) fn of(arguments: &BenchArguments) -> Result<Option<Recordings>> {
        let Some(place) = &arguments.capture else { return Ok(None) };
        if place.exists() {
            let mut entries = place
                .read_dir()
                .with_context(|| format!("cannot record into {}", place.display()))?;
            if entries.next().is_some() {
                let said = format!("{} is not empty", place.display());
                return Err(Remedied::error(said, "a new directory for --capture"));
            }
        } else {
            make(place)?;
        }
        Ok(Some(Recordings(place.clone())))
    }

    /// The place of a run of the command of this letter, behind the path of this index.
    ///
    /// # Errors
    /// When the directory above cannot be made.
    pub(super) fn place(
        &self,
        path: usize,
        description: &str,
        command: char,
        run: u32,
    ) -> Result<PathBuf> {
        let of_path = self.0.join(name(path, description));
        if !of_path.exists() {
            make(&of_path)?;
        }
        Ok(of_path.join(format!("{command}-{run}")))
    }

    pub(super) fn shown(&self) -> String {
        visible_line(&self.0.display().to_string()).into_owned()
    }
}

fn make(place: &Path) -> Result<()> {
    make_private_directory(place).map_err(|error| {
        let said = format!("cannot make {}: {error}", place.display());
        let remedy = room_for_files(&error, "--capture");
        Remedied::error(said, remedy.unwrap_or_else(|| "a new directory for --capture".into()))
    })
}

/// The name of the directory of a path: its number from 1, and its description as far as that is
/// fit for a file.
fn name(path: usize, description: &str) -> String {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "-_.=".contains(letter);
    let words = description.split(|letter| !is_fit(letter)).filter(|word| !word.is_empty());
    let name: String = words.collect::<Vec<_>>().join("-").chars().take(NAMED).collect();
    format!("{}-{name}", path + 1).trim_end_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_paths_are_fit_for_files() {
        for (description, expected) in [
            ("dsl-25", "1-dsl-25"),
            ("lte; delay=20 ms", "1-lte-delay=20-ms"),
            ("../../etc/passwd", "1-..-..-etc-passwd"),
            ("\u{1b}[2J ü", "1-2J"),
            ("", "1"),
        ] {
            assert_eq!(name(0, description), expected, "{description}");
        }
        assert!(name(15, &"x".repeat(5_000)).len() < 50);
    }
}
