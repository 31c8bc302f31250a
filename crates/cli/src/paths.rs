//! The argument PATH, and `tcplab path`.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;
use tcplab_path::{Direction, LinkPlan};
use tcplab_scenario::{PathFile, Problem, presets};

use crate::arguments::{PathArguments, PathChoice, PathCommand, PresetsArguments, ShowArguments};
use crate::output::answer;
use crate::scenarios::files_beside;
use crate::{picture, tc, verify};

pub(crate) fn path(arguments: &PathArguments) -> Result<ExitCode> {
    let text = match &arguments.command {
        PathCommand::Presets(arguments) => list(arguments)?,
        PathCommand::Show(arguments) => show(arguments)?,
        PathCommand::Plot(arguments) => return picture::plot(arguments),
        PathCommand::Verify(arguments) => return verify::verify(arguments),
        PathCommand::Tc(arguments) => tc::tc(arguments)?,
    };
    answer(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The path that was chosen on the command line, complete and checked.
///
/// # Errors
/// When there is no such path, or it makes no sense, with the place and what would be right.
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
        bail!("{given} is a directory: name a path file (*.toml)");
    }
    if !looks_like_a_file {
        return Err(unknown(given));
    }
    let source = std::fs::read(path).with_context(|| format!("cannot read {given}"))?;
    let source = String::from_utf8(source)
        .map_err(|_| anyhow!("{given} is not UTF-8: save the file in that encoding"))?;
    let name = path.file_stem().map_or(given.into(), |stem| stem.to_string_lossy().into_owned());
    read(&source, &name, given, &choice.set, path)
}

/// The path in `source`, which refers to files beside `file`.
fn read(source: &str, name: &str, shown: &str, set: &[String], file: &Path) -> Result<PathFile> {
    Ok(PathFile::parse_with(source, name, set, &mut files_beside(file))
        .map_err(|error| error.in_file(shown))?)
}

/// For a path that is no file: beside it is where we are.
fn here() -> &'static Path {
    Path::new("")
}

/// A path in a line: what was chosen.
pub(crate) fn description(choice: &PathChoice) -> String {
    let name = Some(choice.path.as_str()).filter(|name| *name != "-");
    let parts: Vec<&str> = name.into_iter().chain(choice.set.iter().map(String::as_str)).collect();
    if parts.is_empty() { "without any key".into() } else { parts.join(", ") }
}

fn preset(name: &str) -> Option<&'static str> {
    presets().iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

fn unknown(name: &str) -> anyhow::Error {
    let known = presets().iter().map(|(name, _)| (*name).into()).collect();
    let problem = Problem::NoSuchPreset { name: name.into(), known };
    let help = problem.help().unwrap_or_default();
    anyhow!("{problem}, and there is no such file\n  {help}; a file of your own ends in .toml")
}

fn list(arguments: &PresetsArguments) -> Result<String> {
    if let Some(name) = &arguments.name {
        return Ok(preset(name).ok_or_else(|| unknown(name))?.to_owned());
    }
    let all = presets()
        .iter()
        .map(|(name, source)| read(source, name, name, &[], here()))
        .collect::<Result<Vec<PathFile>>>()?;
    if arguments.json {
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    let width = all.iter().map(|preset| preset.name.len()).max().unwrap_or_default();
    let columns = env::var("COLUMNS").ok().and_then(|it| it.parse().ok()).unwrap_or(100_usize);
    let mut text = String::new();
    for PathFile { name, title, reference, .. } in &all {
        text += &format!("{name:width$}  {}\n", title.as_deref().unwrap_or_default());
        let reference = reference.as_deref().unwrap_or_default();
        for line in wrapped(reference, columns.saturating_sub(width + 4).max(40)) {
            text += &format!("{:width$}    {line}\n", "");
        }
    }
    text += "\n`tcplab path presets NAME` prints one, as a start for your own; \
             `tcplab path show NAME` says what it does.\n";
    Ok(text)
}

/// The text in lines of at most `width` characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is one from the start");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn show(arguments: &ShowArguments) -> Result<String> {
    let file = find(&arguments.choice)?;
    let round_trip = file.path.round_trip();
    let ways = Direction::BOTH
        .map(|direction| file.path.link(direction).map(|plan| (direction, plan)))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    // What fills the path in one round trip, without the time in queues.
    let bdp = |plan: &LinkPlan| plan.rate().map(|rate| rate.bytes_in(round_trip));
    if arguments.json {
        let mut shown = serde_json::to_value(&file)?;
        shown["round_trip"] = json!(round_trip);
        for (direction, plan) in &ways {
            shown[direction.name()] = json!({
                "elements": plan,
                "words": plan.describe(),
                "delay": plan.delay(),
                "rate": plan.rate(),
                "bdp": bdp(plan),
            });
        }
        return Ok(serde_json::to_string_pretty(&shown)? + "\n");
    }
    let mut text = format!("{}\n", file.title.as_deref().unwrap_or(&file.name));
    if let Some(reference) = &file.reference {
        for line in wrapped(reference, 96) {
            text += &format!("  {line}\n");
        }
    }
    for (direction, plan) in &ways {
        text += &format!(
            "\n{}\n",
            match direction {
                Direction::Forward => "forward (client to server, near to far)",
                Direction::Reverse => "reverse",
            }
        );
        for sentence in plan.describe() {
            text += &format!("  {sentence}\n");
        }
        if let Some(bdp) = bdp(plan) {
            text += &format!("  Bandwidth-delay product: {bdp}.\n");
        }
    }
    text += &format!("\nround trip: {round_trip}, beside waiting and being sent\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(path: &str, set: &[&str]) -> PathChoice {
        PathChoice { path: path.into(), set: set.iter().map(|&one| one.into()).collect() }
    }

    #[test]
    fn a_path_is_a_preset_a_file_or_nothing() {
        let words = |path: &PathFile| path.path.link(Direction::Forward).unwrap().describe();
        let preset = find(&choice("dsl-25", &["delay=7 ms"])).unwrap();
        assert!(words(&preset).join(" ").ends_with("Each packet takes 7 ms."), "{preset:?}");
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
    fn what_is_no_path_is_told_with_what_would_be() {
        let home = tempfile::tempdir().unwrap();
        for (given, said) in [
            ("dsl-26", "did you mean `dsl-25`?"),
            ("nothing-like-it", "the presets are `3g`"),
            ("missing.toml", "cannot read missing.toml"),
            (home.path().to_str().unwrap(), "is a directory"),
        ] {
            let error = format!("{:#}", find(&choice(given, &[])).unwrap_err());
            assert!(error.contains(said), "{given}: {error}");
        }
    }

    #[test]
    fn a_choice_is_told_in_a_line() {
        assert_eq!(
            description(&choice("lte", &["loss=1 %", "mtu=1400 B"])),
            "lte, loss=1 %, mtu=1400 B"
        );
        assert_eq!(description(&choice("-", &["loss=1 %"])), "loss=1 %");
        assert_eq!(description(&choice("-", &[])), "without any key");
    }

    #[test]
    fn lines_are_wrapped_between_words() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("extraordinary", 5), ["extraordinary"]);
        assert_eq!(wrapped("", 5), [""; 0]);
    }
}
