//! The argument PATH.

use std::path::Path;

use anyhow::Result;
use tcplab_actions::{find_path, read_path};
use tcplab_scenario::PathFile;

use crate::arguments::PathChoice;

/// The path that was chosen on the command line, complete and checked.
///
/// # Errors
/// If the path does not exist or is impossible, with the line and the remedy.
pub(crate) fn find(choice: &PathChoice) -> Result<PathFile> {
    match choice.path.as_str() {
        "-" => read_path("", "command line", "the command line", &choice.set, Path::new("")),
        given => find_path(given, &choice.set),
    }
}

/// The chosen path in one line.
pub(crate) fn description(choice: &PathChoice) -> String {
    let name = Some(choice.path.as_str()).filter(|name| *name != "-");
    let parts: Vec<&str> = name.into_iter().chain(choice.set.iter().map(String::as_str)).collect();
    if parts.is_empty() { "empty".into() } else { parts.join(", ") }
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
