//! `tcplab completions`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};
use clap_complete::{generate, shells};
use tcplab_scenario::{catalogue, presets};

use crate::arguments::{CompletionsArguments, Shell, definition};
use crate::output::{Output, write_file};

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<ExitCode> {
    write_file(Path::new(Output::STDOUT), &script(arguments.shell)?)?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> Result<String> {
    let (command, mut script) = (shown(&definition()), Vec::new());
    let name = command.get_name().to_owned();
    match shell {
        Shell::Bash => {
            let mut command = with_names(with_plain_flags(command));
            generate(shells::Bash, &mut command, name, &mut script);
            return Ok(with_joined_values(&String::from_utf8(script)?));
        }
        // It knows what stands behind `=`.
        Shell::Zsh => {
            let mut command = with_values(command, &|names| vec![names.list()]);
            generate(shells::Zsh, &mut command, name, &mut script);
            return Ok(with_lists(&String::from_utf8(script)?));
        }
        Shell::Fish => {
            let named = with_names_of_fish(&command, &[]);
            generate(shells::Fish, &mut with_plain_flags(command), name, &mut script);
            return Ok(String::from_utf8(script)? + &named);
        }
        Shell::Powershell => {
            generate(shells::PowerShell, &mut with_plain_flags(command), name, &mut script);
        }
    }
    Ok(String::from_utf8(script)?)
}

/// Bash takes `--flag=va` for three words: the value belongs to the flag, not to `=`.
fn with_joined_values(script: &str) -> String {
    const BEFORE: &str = "    prev=\"$3\"\n";
    const FLAG: &str = "    if [[ \"${prev}\" == \"=\" && COMP_CWORD -ge 2 ]]; then\n        \
                        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n    fi\n";
    script.replacen(BEFORE, &format!("{BEFORE}{FLAG}"), 1)
}

/// Without hidden subcommands, which the generators do not leave out.
fn shown(tcplab: &Command) -> Command {
    let shown = tcplab.get_subcommands().filter(|it| !it.is_hide_set()).cloned();
    Command::new("tcplab")
        .version(env!("CARGO_PKG_VERSION"))
        .args(tcplab.get_arguments().cloned())
        .subcommands(shown)
}

/// Without the values of flags that need `=`: the generators offer them as the next word.
fn with_plain_flags(command: Command) -> Command {
    let plain = |flag: Arg| {
        if !flag.is_require_equals_set() {
            return flag;
        }
        let none: [&str; 0] = [];
        let flag = flag.num_args(0).require_equals(false).value_names(none);
        let flag = flag.default_missing_values(none).value_parser(value_parser!(bool));
        flag.action(ArgAction::SetTrue)
    };
    command.mut_args(plain).mut_subcommands(with_plain_flags)
}

/// What a name may be of, where files are taken as well.
#[derive(Clone, Copy)]
enum Names {
    Presets,
    Experiments,
}

impl Names {
    /// Those that an argument of this command takes.
    fn of(command: &str, argument: &Arg) -> Option<Names> {
        let has_path = ["bench", "advise", "rfc6349"].contains(&command);
        match argument.get_id().as_str() {
            "path" | "paths" if argument.is_positional() || has_path => Some(Names::Presets),
            "name" if command == "scenarios" => Some(Names::Experiments),
            "scenario" | "scenarios" if argument.is_positional() => Some(Names::Experiments),
            _ => None,
        }
    }

    fn all(self) -> Vec<&'static str> {
        let names = match self {
            Names::Presets => presets(),
            Names::Experiments => catalogue(),
        };
        names.iter().map(|(name, _)| *name).collect()
    }

    /// The function of zsh's script that offers them and files.
    fn list(self) -> &'static str {
        match self {
            Names::Presets => "_tcplab_presets",
            Names::Experiments => "_tcplab_experiments",
        }
    }
}

/// With the names of presets and experiments, of which bash completes files where none fits.
fn with_names(command: Command) -> Command {
    with_values(command, &Names::all)
}

fn with_values(command: Command, values: &dyn Fn(Names) -> Vec<&'static str>) -> Command {
    let name = command.get_name().to_owned();
    let named = |argument: Arg| match Names::of(&name, &argument) {
        Some(names) => argument.value_parser(PossibleValuesParser::new(values(names))),
        None => argument,
    };
    command.mut_args(named).mut_subcommands(|it| with_values(it, values))
}

/// With the functions whose names stand where zsh would offer names alone.
fn with_lists(script: &str) -> String {
    let (head, rest) = script.split_once("\n\n").unwrap_or((script, ""));
    let (mut rest, mut functions) = (rest.to_owned(), String::new());
    for names in [Names::Presets, Names::Experiments] {
        let (list, words) = (names.list(), names.all().join(" "));
        rest = rest.replace(&format!(":({list})"), &format!(":{list}"));
        functions += &format!(
            "{list}() {{\n    _alternative 'names:name:({words})' 'files:file:_files'\n}}\n\n"
        );
    }
    format!("{head}\n\n{functions}{rest}")
}

/// Lines that offer names to fish, which adds them to files; `above`: the commands above this one.
fn with_names_of_fish(command: &Command, above: &[&str]) -> String {
    let mut lines = String::new();
    let path: Vec<&str> = match above {
        [] if command.get_name() == "tcplab" => Vec::new(),
        _ => above.iter().copied().chain([command.get_name()]).collect(),
    };
    for argument in command.get_arguments() {
        let Some(names) = Names::of(command.get_name(), argument) else { continue };
        let words = names.all().join(" ");
        let seen: Vec<String> =
            path.iter().map(|word| format!("__fish_seen_subcommand_from {word}")).collect();
        let flag = match argument.get_long() {
            Some(long) => format!(" -l {long} -r"),
            None => String::new(),
        };
        lines += &format!("complete -c tcplab -n '{}'{flag} -a '{words}'\n", seen.join("; and "));
    }
    let below = command.get_subcommands().map(|it| with_names_of_fish(it, &path));
    lines + &below.collect::<String>()
}
