//! Hints beside what is wrong with the command line.

use std::path::Path;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use tcplab_scenario::{catalogue, nearest, presets};

use crate::mistaken::{Kind, kind_of};

/// Adds what was probably meant to an error about these words, the name of `program` first.
pub(super) fn with_hints(mut error: Error, words: &[String], program: Command) -> Error {
    let (command, rest) = innermost(program, words);
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(typed) = rest.first() else { return error };
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            suggest(&mut error, ContextKind::SuggestedSubcommand, typed, &names);
            if let Some(tip) = command_for(typed).filter(|_| command.get_name() == "tcplab") {
                add_tip(&mut error, tip);
            }
        }
        ErrorKind::UnknownArgument => {
            let Some(typed) = text(&error, ContextKind::InvalidArg) else { return error };
            let flags: Vec<String> = command
                .get_arguments()
                .filter_map(|argument| argument.get_long().map(|long| format!("--{long}")))
                .collect();
            if typed.starts_with("--") {
                let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
                suggest(&mut error, ContextKind::SuggestedArg, &typed, &flags);
            } else if let Some(flag) = flag_with(&command, &typed) {
                add_tip(&mut error, format!("write `{flag}`"));
            }
        }
        ErrorKind::InvalidValue => {
            let Some(typed) = text(&error, ContextKind::InvalidValue) else { return error };
            let known = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(known)) => known.clone(),
                _ => Vec::new(),
            };
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            suggest(&mut error, ContextKind::SuggestedValue, &typed, &known);
        }
        _ => {}
    }
    error
}

/// The command that the words name, and the words behind its name.
fn innermost(program: Command, words: &[String]) -> (Command, &[String]) {
    let mut command = program;
    let mut rest = words.get(1..).unwrap_or_default();
    while let Some((first, behind)) = rest.split_first() {
        if first == "help" {
            rest = behind;
            continue;
        }
        let Some(inner) = command.find_subcommand(first).cloned() else { break };
        (command, rest) = (inner, behind);
    }
    (command, rest)
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

/// Suggests the most similar of the `known` words, where clap suggests none.
fn suggest(error: &mut Error, kind: ContextKind, typed: &str, known: &[&str]) {
    if error.get(kind).is_none()
        && let Some(near) = nearest(typed, known.iter().copied())
    {
        let value = match kind {
            ContextKind::SuggestedSubcommand => ContextValue::Strings(vec![near.to_owned()]),
            _ => ContextValue::String(near.to_owned()),
        };
        error.insert(kind, value);
    }
}

fn add_tip(error: &mut Error, tip: String) {
    let tip = StyledStr::from(tip);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
}

/// The command for a file or name that stands where a command should.
fn command_for(typed: &str) -> Option<String> {
    let path = Path::new(typed);
    if let Some(kind) = kind_of(path).or_else(|| Kind::by_name(path)) {
        return Some(format!("for {}: {}", kind.name(), kind.usage(typed)));
    }
    let is_in = |(name, _): &(&str, &str)| {
        *name == typed
            || name.rsplit('/').next() == Some(typed)
            || name.starts_with(&format!("{typed}/"))
    };
    if let Some((name, _)) = catalogue().iter().find(|it| is_in(it)) {
        let name = if name.starts_with(&format!("{typed}/")) { typed } else { *name };
        return Some(format!("for an experiment: `tcplab run {name}`"));
    }
    let preset = presets().iter().any(|(name, _)| *name == typed);
    preset.then(|| format!("for a path: `tcplab path show {typed}` or `tcplab shell {typed}`"))
}

/// The flag that takes this value.
fn flag_with(command: &Command, typed: &str) -> Option<String> {
    command.get_arguments().find_map(|argument| {
        let long = argument.get_long()?;
        let values = argument.get_possible_values();
        let near = nearest(typed, values.iter().map(clap::builder::PossibleValue::get_name))?;
        Some(format!("--{long} {near}"))
    })
}
