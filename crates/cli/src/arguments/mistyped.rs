//! Hints beside what is wrong with the command line.

use std::path::Path;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use tcplab_path::tc::quoted;
use tcplab_scenario::{catalogue, nearest, presets};

use crate::mistaken::{Kind, kind_of};

/// What two captures are joined to, and how to get the rest.
const JOINED: &str = "--client and --server print text, or --json; pages, tables, graphs and packets \
                      are of one capture: pass the sender's alone, as `tcplab trace FILE --html PAGE`";

/// What `advise` takes in place of the RTT that it misses.
const ADVISED: &str = "or give a path, a capture or a run, as in `tcplab advise dsl-25`";

/// Adds what was probably meant to an error about these words, the name of `program` first.
pub(super) fn with_hints(mut error: Error, words: &[String], program: Command) -> Error {
    let (command, rest) = innermost(program, words);
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(typed) = rest.first() else { return error };
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            suggest(&mut error, ContextKind::SuggestedSubcommand, typed, &names);
            let tip = match command.get_name() {
                "tcplab" => command_for(typed),
                "path" => path_command_for(typed),
                _ => None,
            };
            if let Some(tip) = tip {
                add_tip(&mut error, tip);
            }
        }
        ErrorKind::UnknownArgument => {
            let Some(typed) = text(&error, ContextKind::InvalidArg) else { return error };
            let flags: Vec<String> = command
                .get_arguments()
                .filter_map(|argument| argument.get_long().map(|long| format!("--{long}")))
                .collect();
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            suggest(&mut error, ContextKind::SuggestedArg, &typed, &flags);
            // Clap's own, of `--` before what it takes for a value, is right for no command; its
            // usage has what it would have suggested.
            error.remove(ContextKind::Suggested);
            let usage = ContextValue::StyledStr(command.clone().render_usage());
            error.insert(ContextKind::Usage, usage);
            if let Some(tip) = argument_for(&command, &flags, rest, &typed) {
                error.remove(ContextKind::SuggestedArg);
                add_tip(&mut error, tip);
            }
        }
        ErrorKind::ArgumentConflict
            if command.get_name() == "trace"
                && rest.iter().any(|word| word.starts_with("--client")) =>
        {
            add_tip(&mut error, JOINED.into());
        }
        ErrorKind::InvalidValue => {
            let Some(typed) = text(&error, ContextKind::InvalidValue) else { return error };
            let known = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(known)) => known.clone(),
                _ => Vec::new(),
            };
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            suggest(&mut error, ContextKind::SuggestedValue, &typed, &known);
            if command.get_name() == "server" && typed == "http" {
                add_tip(&mut error, HTTP.into());
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let instead = (command.get_name() == "advise").then(|| ADVISED.to_owned());
            if let Some(tip) = swallowed(&command, rest).or(instead) {
                add_tip(&mut error, tip);
            }
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
        let inner =
            inner.bin_name(format!("{} {first}", command.get_bin_name().unwrap_or("tcplab")));
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

/// Suggests the most similar of the `known` words, and nothing that is less like it.
fn suggest(error: &mut Error, kind: ContextKind, typed: &str, known: &[&str]) {
    let Some(near) = nearest(typed, known.iter().copied()) else {
        if kind != ContextKind::SuggestedValue {
            error.remove(kind);
        }
        return;
    };
    if kind == ContextKind::SuggestedValue && error.get(kind).is_some() {
        return;
    }
    let value = match kind {
        ContextKind::SuggestedSubcommand => ContextValue::Strings(vec![near.to_owned()]),
        _ => ContextValue::String(near.to_owned()),
    };
    error.insert(kind, value);
}

fn add_tip(error: &mut Error, tip: String) {
    let tip = StyledStr::from(tip);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
}

/// How a server speaks HTTP.
const HTTP: &str = "HTTP serves a file or folder: write `--file PATH`";

/// What other programs call it.
const COMMANDS: [(&[&str], &str); 5] = [
    (&["annotate"], "`tcplab trace CAPTURE --annotate COPY`"),
    (&["analyse", "analyze", "explain", "read"], "`tcplab trace CAPTURE`"),
    (
        &["new", "init", "create"],
        "start with an example: `tcplab scenarios interruption > my.toml`",
    ),
    (&["list", "ls"], "`tcplab scenarios`, `tcplab path presets`, `tcplab metrics`"),
    (&["version"], "`tcplab --version`"),
];

/// What other programs call it, and what it may be called here; the first that a command has.
const FLAGS: [(&[&str], &[&str]); 8] = [
    (&["-o", "--out", "--output", "--dir"], &["--runs", "--html"]),
    (&["-c", "--stream", "--clients", "--concurrency", "-P"], &["--connection", "--connections"]),
    (&["-n", "--count", "--repeat", "--repetitions"], &["--trials", "--requests", "--packets"]),
    (&["-t", "-d", "--time", "--for", "--seconds"], &["--duration"]),
    (&["--host", "--bind", "--listen"], &["--address"]),
    (&["-p"], &["--port"]),
    (&["-v"], &["--verbose"]),
    (&["-q"], &["--quiet"]),
];

/// Keys of a path that people take for flags.
const PATH_KEYS: [&str; 8] =
    ["rate", "delay", "rtt", "loss", "queue", "jitter", "reorder", "interruption"];

/// What an argument that the command does not know was probably meant to be.
fn argument_for(command: &Command, flags: &[&str], rest: &[String], typed: &str) -> Option<String> {
    let has = |flag: &str| flags.contains(&flag);
    let before = rest.iter().position(|word| word == typed).and_then(|at| at.checked_sub(1));
    if before.is_some_and(|at| rest[at] == "--json") && has("--json") {
        return Some(format!("write `--json={typed}`"));
    }
    let value = value_of(rest, typed);
    if let Some(key) = typed.strip_prefix("--").filter(|key| PATH_KEYS.contains(key))
        && has("--set")
    {
        return Some(format!("write `-s {key}={value}`"));
    }
    let known = FLAGS.iter().find(|(names, _)| names.contains(&typed));
    if let Some(flag) = known.and_then(|(_, flags)| flags.iter().find(|flag| has(flag))) {
        return Some(format!("write `{flag}`"));
    }
    match (command.get_name(), typed) {
        ("run", "-s" | "--set") => {
            return Some("an experiment's file says what its path is and what varies".into());
        }
        ("shell" | "show" | "verify" | "plot" | "tc", "--path") | ("trace", "-r" | "--read") => {
            return Some(format!("write `{value}` without a flag"));
        }
        _ if typed.starts_with('-') => return None,
        ("shell", _) if typed.contains('=') => {}
        ("shell", program) => return Some(format!("write `-- {program}`")),
        ("server", file) if Path::new(file).exists() => {
            return Some(format!("write `--file {file}`"));
        }
        ("server", "http") => return Some(HTTP.into()),
        _ => {}
    }
    if typed.contains('=') && has("--set") {
        return Some(format!("write `-s {typed}`"));
    }
    if is_path(typed) && has("--path") {
        return Some(format!("write `--path {typed}`"));
    }
    if command.get_name() == "bench" {
        return Some(format!("write `-- {} …`", quoted(typed)));
    }
    flag_with(command, typed).map(|flag| format!("write `{flag}`"))
}

/// Whether it is the name of a path, or of a file that may have one.
fn is_path(typed: &str) -> bool {
    presets().iter().any(|(name, _)| *name == typed)
        || Kind::by_name(Path::new(typed)) == Some(Kind::Scenario)
}

/// What stands behind a flag.
fn value_of<'a>(rest: &'a [String], flag: &str) -> &'a str {
    let joined = |word: &'a String| word.strip_prefix(flag)?.strip_prefix('=');
    let next = || rest.iter().skip_while(|word| *word != flag).nth(1).map(String::as_str);
    rest.iter().find_map(joined).or_else(next).unwrap_or("…")
}

/// The flag that took the only file for the one to write.
fn swallowed(command: &Command, rest: &[String]) -> Option<String> {
    let is_output = |flag: &str| ["--html", "--annotate", "--csv", "--ladder-svg"].contains(&flag);
    let pair = rest.windows(2).find(|pair| is_output(&pair[0]) && Path::new(&pair[1]).exists());
    pair.filter(|_| command.get_name() == "trace").map(|pair| {
        let file = quoted(&pair[1]);
        format!("`{}` takes the file to write: `tcplab trace {file} {0} FILE`", pair[0])
    })
}

/// The subcommand of `path` for a path that stands in its place.
fn path_command_for(typed: &str) -> Option<String> {
    if matches!(typed, "list" | "ls") {
        return Some("`tcplab path presets`".into());
    }
    is_path(typed).then(|| format!("`tcplab path show {}`", quoted(typed)))
}

/// The command for a file or name that stands where a command should.
fn command_for(typed: &str) -> Option<String> {
    if let Some((_, command)) = COMMANDS.iter().find(|(names, _)| names.contains(&typed)) {
        return Some((*command).into());
    }
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
    // A flag without a value has `true` and `false` among its own, which nobody can write.
    let mut takers = command.get_arguments().filter(|it| it.get_action().takes_values());
    takers.find_map(|argument| {
        let long = argument.get_long()?;
        let values = argument.get_possible_values();
        let near = nearest(typed, values.iter().map(clap::builder::PossibleValue::get_name))?;
        Some(format!("--{long} {near}"))
    })
}
