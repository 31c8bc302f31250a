//! `tcplab states`.

mod live;
mod walk;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::StatesArguments;

pub(crate) fn states(arguments: &StatesArguments) -> Result<ExitCode> {
    match &arguments.place {
        Some(place) => walk::show(place, arguments)?,
        None => live::show(&arguments.filter, &arguments.json)?,
    }
    Ok(ExitCode::SUCCESS)
}
