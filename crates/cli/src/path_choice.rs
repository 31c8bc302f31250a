//! The argument PATH.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use tcplab_scenario::{PathFile, Problem, presets};

use crate::arguments::PathChoice;
use crate::scenarios::{files_beside, read_text};

/// The path that was chosen on the command line, complete and checked.
///
/// # Errors
/// If the path does not exist or is impossible, with the line and the remedy.
pub(crate) fn find(choice: &PathChoice) -> Result<PathFile> {
    let given = choice.path.as_str();
    if given == "-" {
        return read("", "command line", "the command line", &choice.set, here());
    }
    let path = Path::new(given);
    let is_file = path.is_file();
    let looks_like_a_file =
        path.extension().is_some_and(|ending| ending == "toml") || given.contains('/') || is_file;
    if let Some(source) = preset(given).filter(|_| !looks_like_a_file) {
        return read(source, given, given, &choice.set, here());
    }
    if path.is_dir() {
        bail!("{given} is a directory: pass a path file (*.toml)");
    }
    if !looks_like_a_file && given.contains('=') {
        bail!("`{given}` is a key of a path: write `-s {given}`");
    }
    if !looks_like_a_file {
        return Err(unknown(given));
    }
    let source = read_text(path, given)?;
    let source =
        String::from_utf8(source).map_err(|_| anyhow!("{given} is not UTF-8: convert it"))?;
    let name = path.file_stem().map_or(given.into(), |stem| stem.to_string_lossy().into_owned());
    read(&source, &name, given, &choice.set, path)
}

/// The path in `source`, which refers to files beside `file`.
pub(crate) fn read(
    source: &str,
    name: &str,
    shown: &str,
    set: &[String],
    file: &Path,
) -> Result<PathFile> {
    Ok(PathFile::parse_with(source, name, set, &mut files_beside(file))
        .map_err(|error| error.in_file(shown))?)
}

/// A path that is not a file refers to files in the current directory.
pub(crate) fn here() -> &'static Path {
    Path::new("")
}

/// The chosen path in one line.
pub(crate) fn description(choice: &PathChoice) -> String {
    let name = Some(choice.path.as_str()).filter(|name| *name != "-");
    let parts: Vec<&str> = name.into_iter().chain(choice.set.iter().map(String::as_str)).collect();
    if parts.is_empty() { "empty".into() } else { parts.join(", ") }
}

pub(crate) fn preset(name: &str) -> Option<&'static str> {
    presets().iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

pub(crate) fn unknown(name: &str) -> anyhow::Error {
    let known = presets().iter().map(|(name, _)| (*name).into()).collect();
    let problem = Problem::NoSuchPreset { name: name.into(), known };
    let help = problem.help().unwrap_or_default();
    anyhow!("{problem}, and no such file\n  {help}; your own files need the extension .toml")
}

#[cfg(test)]
mod tests {
    use tcplab_path::Direction;

    use super::*;

    fn choice(path: &str, set: &[&str]) -> PathChoice {
        PathChoice { path: path.into(), set: set.iter().map(|&one| one.into()).collect() }
    }

    #[test]
    fn path_is_preset_file_or_empty() {
        let words = |path: &PathFile| path.path.link(Direction::Forward).unwrap().describe();
        let preset = find(&choice("dsl-25", &["delay=7 ms"])).unwrap();
        assert!(words(&preset).join(" ").ends_with("Delay 7 ms."), "{preset:?}");
        let bare = find(&choice("-", &["loss=1 %", "delay=\"2 ms\""])).unwrap();
        assert_eq!(words(&bare).len(), 2);
        assert_eq!(words(&find(&choice("-", &[])).unwrap()), ["Packets pass at once."]);
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("mine.toml");
        std::fs::write(&file, "rate = \"5 Mbit/s\"").unwrap();
        let read = find(&choice(file.to_str().unwrap(), &[])).unwrap();
        assert_eq!(read.name, "mine");
    }

    #[test]
    fn unknown_path_is_refused_with_suggestion() {
        let home = tempfile::tempdir().unwrap();
        for (given, said) in [
            ("dsl-26", "did you mean `dsl-25`?"),
            ("nothing-like-it", "`tcplab path presets` lists them"),
            ("missing.toml", "cannot read missing.toml"),
            (home.path().to_str().unwrap(), "is a directory"),
        ] {
            let error = format!("{:#}", find(&choice(given, &[])).unwrap_err());
            assert!(error.contains(said), "{given}: {error}");
        }
    }

    #[test]
    fn choice_is_described_in_one_line() {
        assert_eq!(
            description(&choice("lte", &["loss=1 %", "mtu=1400 B"])),
            "lte, loss=1 %, mtu=1400 B"
        );
        assert_eq!(description(&choice("-", &["loss=1 %"])), "loss=1 %");
        assert_eq!(description(&choice("-", &[])), "empty");
    }
}
