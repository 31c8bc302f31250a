//! `tcplab states`.

mod live;
mod walk;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::StatesArguments;
use crate::output::answer;

pub(crate) fn states(arguments: &StatesArguments) -> Result<ExitCode> {
    let text = match &arguments.place {
        Some(place) => walk::show(place, arguments)?,
        None => live::show(&arguments.filter, arguments.json)?,
    };
    answer(&text)?;
    Ok(ExitCode::SUCCESS)
}
