//! Finding a scenario by name or file.

use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use anyhow::{Context, Result, anyhow, bail};
use tcplab_lab::name_of_kept;
use tcplab_scenario::{Scenario, catalogue, nearest};
use tcplab_units::visible_line;

use crate::files::{NAMED_MAX, TEXT_MAX, beside, read_regular};

/// The scenario `given`: a file if it looks like one, else a built-in experiment.
///
/// # Errors
/// If there is none of this name, it cannot be read, or has mistakes.
pub fn find(given: &str) -> Result<Scenario> {
    let path = Path::new(given);
    // A built-in name with a folder takes precedence over a directory.
    if path.extension().is_none()
        && given.contains('/')
        && let Some(source) = embedded(given)
    {
        return Ok(Scenario::parse(source, &given.replace('/', "-"))?);
    }
    let looks_like_a_file = path.extension().is_some() || given.contains('/') || path.is_file();
    if !looks_like_a_file && let Some(source) = embedded(given) {
        return Ok(Scenario::parse(source, given)?);
    }
    if path.is_dir() {
        bail!(not_a_file(path, given));
    }
    if !looks_like_a_file {
        bail!(unknown(given));
    }
    let source = read_text(path, given)?;
    let source = String::from_utf8(source).map_err(|error| not_utf8(given, &error))?;
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name_of_kept(path).or_else(stem);
    let scenario = Scenario::parse_with_files(
        &source,
        &name.unwrap_or_else(|| given.into()),
        &mut files_beside(path),
    );
    Ok(scenario.map_err(|error| error.in_file(&visible_line(given)))?)
}

/// Why a directory is no scenario, and where scenarios are.
fn not_a_file(directory: &Path, given: &str) -> String {
    if has_scenarios(directory) {
        return format!("{given} is a directory: pass a scenario file (*.toml)");
    }
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.retain(|folder| has_scenarios(folder));
    folders.sort();
    let shown = folders.iter().map(|folder| folder.display().to_string());
    let shown = shown.take(FOLDERS_SHOWN).collect::<Vec<_>>().join(", ");
    match folders.len() {
        0 => format!("no scenario (*.toml) in {given}"),
        1..=FOLDERS_SHOWN => format!("no scenario (*.toml) in {given}, but in {shown}"),
        _ => format!("no scenario (*.toml) in {given}, but in {shown} and others"),
    }
}

/// The most folders with scenarios that an error names.
const FOLDERS_SHOWN: usize = 5;

fn has_scenarios(directory: &Path) -> bool {
    let mut entries = directory.read_dir().into_iter().flatten().flatten().map(|it| it.path());
    entries.any(|file| file.extension().is_some_and(|ending| ending == "toml") && file.is_file())
}

/// The bytes of a scenario or path file, called as it was `given`.
///
/// # Errors
/// If it cannot be read, is too large, or no regular file.
pub fn read_text(path: &Path, given: &str) -> Result<Vec<u8>> {
    read_regular(path, TEXT_MAX).with_context(|| format!("cannot read {given}"))
}

fn not_utf8(given: &str, error: &FromUtf8Error) -> anyhow::Error {
    let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = good.split(|byte| *byte == b'\n').count();
    anyhow!("{given} is not a scenario file: line {line} is not UTF-8 text")
}

/// The text of a built-in experiment.
pub fn embedded(name: &str) -> Option<&'static str> {
    catalogue().iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

/// Why there is no experiment of this name, and which could be meant.
pub fn unknown(name: &str) -> String {
    let known = || catalogue().iter().map(|(known, _)| *known);
    let last = |known: &'static str| known.rsplit('/').next().unwrap_or(known);
    let near = nearest(name, known()).or_else(|| {
        let near = nearest(name, known().map(last))?;
        known().find(|known| last(known) == near)
    });
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!(
        "unknown experiment `{name}`: {near}`tcplab scenarios` lists all; your own files need the \
         extension .toml"
    )
}

/// Reads the files that a file refers to, by names relative to it: see [`beside`]. What the
/// command line itself refers to (`file` is empty) may lie anywhere. A run directory keeps them as
/// they were at its start.
pub fn files_beside(file: &Path) -> impl FnMut(&str) -> Result<Vec<u8>, String> {
    let directory = file.parent().map(Path::to_owned).unwrap_or_default();
    let is_of_user = file.as_os_str().is_empty();
    move |name| {
        let kept = || tcplab_lab::kept_files(&directory).ok()?.remove(name);
        if let Some(content) = kept() {
            return Ok(content.into_bytes());
        }
        let is_of_user = is_of_user.then(|| Ok(PathBuf::from(name)));
        let path = is_of_user.unwrap_or_else(|| beside(&directory, name))?;
        read_regular(&path, NAMED_MAX).map_err(|why| format!("cannot read {name}: {why}"))
    }
}
