//! Other programs, called.

use std::process::Command;

use anyhow::{Context as _, ensure};

/// Runs a command whose output is shown.
pub(super) fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| missing(&name))?;
    ensure!(status.success(), "{name} failed ({status})");
    Ok(())
}

/// Runs a command; returns what it prints.
pub(super) fn said(command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| missing(&name))?;
    let why = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed ({}): {}", output.status, why.trim());
    String::from_utf8(output.stdout).with_context(|| format!("what {name} prints"))
}

fn missing(name: &str) -> String {
    format!("cannot run {name} (`make dist` installs what is needed)")
}
