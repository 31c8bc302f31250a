//! `tcplab states`.

#[cfg(target_os = "linux")]
mod live;
mod walk;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::StatesArguments;

pub(crate) fn states(arguments: &StatesArguments) -> Result<ExitCode> {
    match &arguments.place {
        Some(place) => walk::show(place, arguments)?,
        #[cfg(not(target_os = "linux"))]
        None => return Err(crate::elsewhere::needs_linux("listing this machine's connections")),
        #[cfg(target_os = "linux")]
        None => live::show(&arguments.filter, &arguments.json)?,
    }
    Ok(ExitCode::SUCCESS)
}
