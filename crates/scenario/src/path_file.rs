//! Path files and the built-in presets.

use std::collections::BTreeMap;

use serde::Deserialize;
use tcplab_path::{Backend, Direction, PathError, PathSpec};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::embedded::presets;
use crate::error::ScenarioError;
use crate::fault::Fault;
use crate::mistakes::{Faults, read_all};
use crate::problem::Problem;
use crate::schema::ReadAs;
use overrides::Override;

/// A path with its title and source.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct PathFile {
    /// The file's name without its extension.
    pub name: String,
    /// What it is, in a line.
    pub title: Option<String>,
    /// The source of its figures.
    pub reference: Option<String>,
    /// The complete path: preset resolved, files read.
    pub path: PathSpec,
}

/// Returns the content of a file that a path refers to, or why it cannot be read.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

impl PathFile {
    /// Reads a path file: the keys of a scenario's `[path]`, `title` and `reference` at its top. Of
    /// a scenario file it reads `[path]`.
    ///
    /// # Errors
    /// The mistakes in the file, with their lines and remedies.
    pub fn parse(
        source: &str,
        name: &str,
        read: &mut ReadFile<'_>,
    ) -> Result<PathFile, ScenarioError> {
        PathFile::parse_with(source, name, &[], read)
    }

    /// Reads a path file and overrides keys: each of `overrides` is a `KEY=VALUE` with a dotted key
    /// and a value as in the file, or without its quotes (`rate=5 Mbit/s`). A key for both
    /// directions replaces the file's keys of each direction, as it does beside a preset, and `rtt`
    /// its `delay`. Overrides stand beside one another as keys of a file do.
    ///
    /// # Errors
    /// As for [`PathFile::parse`]; a wrong override is shown below the file's lines.
    pub fn parse_with(
        source: &str,
        name: &str,
        overrides: &[String],
        read: &mut ReadFile<'_>,
    ) -> Result<PathFile, ScenarioError> {
        let (source, overriding) = overrides::appended(source, overrides);
        read_path_file(&source, &overriding, name, &mut Files::new(read))
            .map_err(|faults| ScenarioError::of(ReadAs::Path, faults, &source, name))
    }

    /// The preset with this name.
    pub fn preset(name: &str) -> Option<PathFile> {
        let (name, source) = presets().iter().find(|(known, _)| *known == name)?;
        Some(PathFile::parse(source, name, &mut no_files).expect("a test reads every preset"))
    }
}

fn read_path_file(
    source: &str,
    overriding: &[Override],
    name: &str,
    files: &mut Files<'_>,
) -> Result<PathFile, Faults> {
    let file = overriding.first().map_or(source.len(), |first| first.at);
    let mut document = DeTable::parse(&source[..file]).map_err(|error| Fault::syntax(&error))?;
    let title = text(&mut document, "title")?;
    let reference = text(&mut document, "reference")?;
    let is_scenario = document.get_ref().get("path").is_some_and(|path| path.get_ref().is_table());
    let mut table = if is_scenario {
        match document.get_mut().remove("path").map(|path| (path.span(), path.into_inner())) {
            Some((span, DeValue::Table(path))) => Spanned::new(span, path),
            _ => document,
        }
    } else {
        document
    };
    for one in overriding {
        one.put_over(&mut table, file)?;
    }
    let path = read_all(table, source, |table| read_path(&table, files))?;
    Ok(PathFile { name: name.into(), title, reference, path })
}

fn read_path(table: &Spanned<DeTable<'_>>, files: &mut Files<'_>) -> Result<PathSpec, Fault> {
    let path = PathSpec::deserialize(toml::de::Deserializer::from(table.clone()))
        .map_err(|error| Fault::reading(&error, table))?;
    let at = |(key, problem): (String, Problem)| Fault::at(&key, problem, table);
    let path = complete(path, files).map_err(at)?;
    if path.same_host {
        let what = "`same_host` has no path: name a file without it".into();
        let error = PathError { key: "same_host".into(), what };
        return Err(at((error.key.clone(), Problem::Path(error))));
    }
    check(&path).map_err(at)?;
    Ok(path)
}

/// Removes a text from the file.
fn text(document: &mut Spanned<DeTable<'_>>, key: &str) -> Result<Option<String>, Fault> {
    let Some(value) = document.get_mut().remove(key) else { return Ok(None) };
    let span = value.span();
    match value.into_inner() {
        DeValue::String(text) => Ok(Some(text.into_owned())),
        _ => Err(Fault::new(Problem::Value(format!("`{key}` must be a text")), span)),
    }
}

/// Resolves the preset and reads the files; an error comes with its key below the path.
pub(crate) fn complete(
    path: PathSpec,
    files: &mut Files<'_>,
) -> Result<PathSpec, (String, Problem)> {
    path.check_same_host().map_err(|error| (error.key.clone(), Problem::Path(error)))?;
    let asked = path.rtt;
    let mut path = path;
    path.halve_rtt().map_err(|error| (error.key.clone(), Problem::Path(error)))?;
    let mut path = match path.preset.clone() {
        None => path,
        Some(name) => {
            let Some(preset) = PathFile::preset(&name) else {
                let known = presets().iter().map(|(name, _)| (*name).into()).collect();
                return Err(("preset".into(), Problem::NoSuchPreset { name, known }));
            };
            path.over(preset.path)
        }
    };
    if let Some(rtt) = asked.filter(|rtt| path.round_trip() != (*rtt / 2) * 2) {
        let what = format!(
            "with the delays in `stages` the RTT is {}, not {rtt}: give `delay` instead",
            path.round_trip()
        );
        let error = PathError { key: "rtt".into(), what };
        return Err((error.key.clone(), Problem::Path(error)));
    }
    path.load(&mut |name| files.read(name))
        .map_err(|error| (error.key, Problem::File(error.what)))?;
    Ok(path)
}

/// Finds values that are well-formed and impossible.
pub(crate) fn check(path: &PathSpec) -> Result<(), (String, Problem)> {
    for direction in Direction::BOTH {
        path.link(direction).map_err(|error| (error.key.clone(), Problem::Path(error)))?;
    }
    if path.backend == Some(Backend::Netem)
        && let Err(refused) = path.tc()
        && let Some(mut first) = refused.first().cloned()
    {
        first.what = match refused.len() - 1 {
            0 => format!("with `backend = \"netem\"`: {}", first.what),
            others => format!(
                "with `backend = \"netem\"`: {} (and {others} more: `tcplab path tc` lists all)",
                first.what
            ),
        };
        return Err((first.key.clone(), Problem::Path(first)));
    }
    Ok(())
}

/// The files that a path refers to, each read once.
pub(crate) struct Files<'a> {
    read: &'a mut ReadFile<'a>,
    seen: BTreeMap<String, Vec<u8>>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(read: &'a mut ReadFile<'a>) -> Files<'a> {
        Files { read, seen: BTreeMap::new() }
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        if let Some(content) = self.seen.get(name) {
            return Ok(content.clone());
        }
        let content = (self.read)(name)?;
        self.seen.insert(name.into(), content.clone());
        Ok(content)
    }

    /// The bytes of all files that were read.
    pub(crate) fn len(&self) -> usize {
        self.seen.values().map(Vec::len).sum()
    }

    /// All files that were read.
    pub(crate) fn seen(self) -> BTreeMap<String, Vec<u8>> {
        self.seen
    }
}

/// For a source without other files.
pub(crate) fn no_files(name: &str) -> Result<Vec<u8>, String> {
    Err(format!("cannot read `{name}`: this path must not refer to files"))
}

mod overrides;
#[cfg(test)]
mod tests;
