//! `tcplab sweep` and `tcplab archive`: the Python package does the work.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Result, anyhow};

use crate::arguments::ClusterArguments;
use crate::remedied::Remedied;

/// What the package's entry point is called.
const MODULE: &str = "tcplab.commands";
/// The environment variable that names the package the program `tcplab`.
const PROGRAM: &str = "TCPLAB";

/// Replaces this process by Python with the arguments of this command line, so that exit code and
/// signals are Python's.
///
/// # Errors
/// If there is no Python with the package.
pub(crate) fn in_python(arguments: &ClusterArguments) -> Result<ExitCode> {
    let python = pythons().into_iter().find(has_package).ok_or_else(|| {
        let extra = arguments.extra().map_or(String::new(), |it| format!("[{it}]"));
        Remedied::error(
            "this command needs the Python package tcplab, and python3 does not find it",
            format!(
                "make wheel && pip install \"$(ls target/wheels/*.whl){extra}\", in the source of \
                 tcplab and the Python environment that is active"
            ),
        )
    })?;
    let command = command(&python, env::var_os(PROGRAM));
    let cannot = format!("cannot start {}", PathBuf::from(python).display());
    become_it(command).map_err(|said| anyhow!(said).context(cannot))
}

/// This command line in Python, where this program runs trials on kernels unless another is named.
fn command(python: &OsString, program: Option<OsString>) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", MODULE]).args(env::args_os().skip(1));
    if let (None, Ok(own)) = (program.filter(|it| !it.is_empty()), env::current_exe()) {
        command.env(PROGRAM, own);
    }
    command
}

#[cfg(unix)]
fn become_it(mut command: Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    // Python would end with a traceback before the package can hear of it.
    tcplab_testbed::hold_interrupts()?;
    Err(command.exec())
}

/// No process becomes another program here, so this one waits.
#[cfg(not(unix))]
fn become_it(mut command: Command) -> io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(crate::exit::ERROR)))
}

/// Where Python may be: beside this program, as in a virtual environment, then on the PATH.
fn pythons() -> Vec<OsString> {
    let own = env::current_exe().ok().and_then(|program| Some(program.parent()?.join("python3")));
    let beside = own.filter(|python| python.is_file()).map(PathBuf::into_os_string);
    beside.into_iter().chain(["python3".into()]).collect()
}

fn has_package(python: &OsString) -> bool {
    Command::new(python)
        .args(["-c", &format!("import {MODULE}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_uses_this_program_unless_another_is_named() {
        let own = env::current_exe().unwrap().into_os_string();
        for (named, told) in [(None, Some(&own)), (Some(""), Some(&own)), (Some("tcplab-2"), None)]
        {
            let command = command(&"python3".into(), named.map(Into::into));
            let found = command.get_envs().find(|(name, _)| *name == PROGRAM);
            assert_eq!(found.and_then(|(_, value)| value), told.map(|it| &**it), "{named:?}");
        }
    }
}
