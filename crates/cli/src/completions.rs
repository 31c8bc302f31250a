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
        Shell::Zsh => generate(shells::Zsh, &mut command.clone(), name, &mut script),
        Shell::Fish => {
            generate(shells::Fish, &mut with_plain_flags(command), name, &mut script);
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

/// With the names of presets and experiments. Bash completes files where no name fits; other shells
/// would complete names alone.
fn with_names(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let named = |argument: Arg| {
        let has_path = ["bench", "advise", "rfc6349"].contains(&&*name);
        let names = match argument.get_id().as_str() {
            "path" | "paths" if argument.is_positional() || has_path => presets(),
            "scenario" | "scenarios" if argument.is_positional() => catalogue(),
            _ => return argument,
        };
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        argument.value_parser(PossibleValuesParser::new(names))
    };
    command.mut_args(named).mut_subcommands(with_names)
}
