//! `tcplab trace`.

mod deep;
mod files;
mod folder;
mod frames;
mod input;
mod joined;
mod json;
mod live;
mod outputs;
mod overview;
mod progress;
mod span;
mod spool;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::TraceArguments;
use files::Files;
use input::Input;

pub(crate) use deep::only;
pub(crate) use input::{dropped_frames, is_stdin, open};

pub(crate) fn trace(arguments: &TraceArguments) -> Result<ExitCode> {
    if let (Some(client), Some(server)) = (&arguments.both.client, &arguments.both.server) {
        joined::show(client, server, &arguments.view)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let [directory] = &arguments.files[..]
        && let Some([client, server]) = input::ends_of(directory)
        && arguments.is_plain()
    {
        joined::show(&client, &server, &arguments.view)?;
        return Ok(ExitCode::SUCCESS);
    }
    let captures = input::captures(&arguments.files)?;
    let input = Input::new(&captures, &arguments.live, arguments.filter.as_ref(), arguments.memory);
    let view = &arguments.view;
    let outputs = &arguments.outputs;
    let files = Files::begin(&input, view, outputs)?;
    if let Some(place) = &view.json.place {
        json::whole(files, view.connection, place)?;
    } else if view.jsonl {
        json::lines(files, view.connection)?;
    } else if deep::is_asked_for(view, outputs) {
        deep::show(files, view, outputs)?;
    } else {
        overview::show(&input, files, view)?;
    }
    Ok(ExitCode::SUCCESS)
}
