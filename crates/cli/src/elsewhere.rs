//! On a system that is not Linux: commands that need its kernel are refused.

use anyhow::Result;
use std::process::ExitCode;

use crate::arguments::Command;
use crate::remedied::Remedied;

/// What can be done about it.
const REMEDY: &str = "on a Linux machine; here `tcplab run --world sim` runs models";

/// Refuses a command that needs the kernel.
pub(crate) fn refuse(command: &Command) -> Result<ExitCode> {
    let name = match command {
        Command::Shell(_) => "shell",
        Command::Bench(_) => "bench",
        Command::Bridge(_) => "bridge",
        Command::Server(_) => "server",
        Command::Load(_) => "load",
        Command::Latency(_) => "latency",
        Command::Doctor(_) => "doctor",
        Command::Kernel(_) => "kernel",
        Command::Bisect(_) => "bisect",
        Command::Sockopts(_) => "sockopts",
        _ => "this command",
    };
    Err(needs_linux(name))
}

/// The error of something that needs the kernel.
pub(crate) fn needs_linux(what: &str) -> anyhow::Error {
    Remedied::error(format!("{what} needs Linux"), REMEDY)
}
