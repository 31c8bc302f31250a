//! Finding a path by name or file.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use tcplab_path::{Direction, LinkPlan, Outlook};
use tcplab_scenario::{PathFile, Problem, presets};
use tcplab_units::{Instant, Span};

use crate::scenarios::{files_beside, read_text};

/// A path, by the name of a preset or a file, with these keys (`KEY=VALUE`) set otherwise.
///
/// # Errors
/// If the path does not exist or is impossible, with the line and the remedy.
pub fn find_path(given: &str, set: &[String]) -> Result<PathFile> {
    let path = Path::new(given);
    let is_file = path.is_file();
    let looks_like_a_file =
        path.extension().is_some_and(|ending| ending == "toml") || given.contains('/') || is_file;
    if let Some(source) = preset(given).filter(|_| !looks_like_a_file) {
        // The keys of the one would hide those of the other.
        let is_preset =
            |one: &&String| one.split('=').next().is_some_and(|key| key.trim() == "preset");
        if let Some(other) = set.iter().find(is_preset) {
            bail!("`{given}` is a preset, and `{other}` is another: name one of them");
        }
        return read_path(source, given, given, set, Path::new(""));
    }
    if path.is_dir() {
        bail!("{given} is a directory: pass a path file (*.toml)");
    }
    if !looks_like_a_file && given.contains('=') {
        bail!("`{given}` is a key of a path: write `-s {given}`");
    }
    if !looks_like_a_file {
        return Err(unknown_path(given));
    }
    let source = read_text(path, given)?;
    let source =
        String::from_utf8(source).map_err(|_| anyhow!("{given} is not UTF-8: convert it"))?;
    let name = path.file_stem().map_or(given.into(), |stem| stem.to_string_lossy().into_owned());
    read_path(&source, &name, given, set, path)
}

/// The path in `source`, which refers to files beside `file`; one that is no file, to files in the
/// current directory (`file` is empty). Errors name it as `shown`.
///
/// # Errors
/// Its mistakes.
pub fn read_path(
    source: &str,
    name: &str,
    shown: &str,
    set: &[String],
    file: &Path,
) -> Result<PathFile> {
    Ok(PathFile::parse_with(source, name, set, &mut files_beside(file))
        .map_err(|error| error.in_file(shown))?)
}

/// The text of a preset.
pub fn preset(name: &str) -> Option<&'static str> {
    presets().iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

/// Why there is no preset of this name, and which could be meant.
pub fn unknown_path(name: &str) -> anyhow::Error {
    let known = presets().iter().map(|(name, _)| (*name).into()).collect();
    let problem = Problem::NoSuchPreset { name: name.into(), known };
    let help = problem.help().unwrap_or_default();
    anyhow!("{problem}, and no such file\n  {help}; your own files need the extension .toml")
}

/// Bounds of the time that is shown of a path where nobody says.
const SHOWN: [Span; 2] = [Span::from_secs(10), Span::from_secs(120)];
/// About two per pixel of a picture.
const POINTS: usize = 1_600;

/// What both directions of a path will do, and until when: so long as is asked for, or as shows it
/// all.
///
/// # Errors
/// If the path is impossible.
pub fn outlooks(file: &PathFile, asked: Option<Span>, seed: u64) -> Result<(Span, [Outlook; 2])> {
    let links = [file.path.link(Direction::Forward)?, file.path.link(Direction::Reverse)?];
    let [least, most] = SHOWN;
    let whole = links.iter().map(LinkPlan::time_to_show).fold(least, Span::max).min(most);
    let span = asked.unwrap_or(whole);
    Ok((span, links.map(|link| link.outlook(Instant::ZERO + span, seed, POINTS))))
}
