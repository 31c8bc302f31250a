//! `tcplab completions`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap_complete::{generate, shells};

use crate::arguments::{CompletionsArguments, Shell, definition};
use crate::output::{Output, write_file};

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<ExitCode> {
    write_file(Path::new(Output::STDOUT), &script(arguments.shell)?)?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> Result<String> {
    let (mut command, mut script) = (definition(), Vec::new());
    let name = command.get_name().to_owned();
    match shell {
        Shell::Bash => generate(shells::Bash, &mut command, name, &mut script),
        Shell::Zsh => generate(shells::Zsh, &mut command, name, &mut script),
        Shell::Fish => generate(shells::Fish, &mut command, name, &mut script),
        Shell::Powershell => generate(shells::PowerShell, &mut command, name, &mut script),
    }
    Ok(String::from_utf8(script)?)
}
