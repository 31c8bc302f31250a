//! `tcplab trace`.

mod deep;
mod files;
mod folder;
mod frames;
mod hex;
mod input;
mod joined;
mod json;
mod listing;
#[cfg(target_os = "linux")]
mod live;
mod outputs;
mod overview;
mod span;
mod spool;

use std::process::ExitCode;

use anyhow::{Result, bail};

use tcplab_actions::{TwoPoints, find_two_points};
use tcplab_path::tc::quoted_path;

use crate::arguments::TraceArguments;
use crate::output::print_note;
use files::Files;
use input::Input;

pub(crate) use deep::only;
pub(crate) use outputs::look;

pub(crate) fn trace(arguments: &TraceArguments) -> Result<ExitCode> {
    if let (Some(client), Some(server)) = (&arguments.both.client, &arguments.both.server) {
        joined::show(client, server, &arguments.view)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let [directory] = &arguments.files[..]
        && let Some([client, server]) = tcplab_actions::ends_of(directory)
        && arguments.is_plain()
    {
        joined::show(&client, &server, &arguments.view)?;
        return Ok(ExitCode::SUCCESS);
    }
    let captures = tcplab_actions::captures(&arguments.files)?;
    if let Some(TwoPoints { client, server, is_certain }) = find_two_points(&captures) {
        if captures.len() == 2 && is_certain && arguments.is_plain() {
            print_note("the same packets at two capture points: joined as --client and --server");
            joined::show(client, server, &arguments.view)?;
            return Ok(ExitCode::SUCCESS);
        }
        bail!(
            "{} and {} hold the same packets, taken at two points: merged, each would look \
             duplicated. Join them (`tcplab trace --client {} --server {}`{}), or pass one of them",
            client.display(),
            server.display(),
            quoted_path(client),
            quoted_path(server),
            if is_certain { "" } else { ", or the other way round" },
        );
    }
    let TraceArguments { live, filter, memory, jobs, .. } = arguments;
    let view = &arguments.view;
    let outputs = &arguments.outputs;
    // The page has a row for each connection, and any frame can be shown as bytes.
    let is_alone = outputs.html.is_none() && view.hex.is_empty();
    let indexed = view.connection.filter(|_| is_alone && !arguments.no_index);
    let input = Input::new(&captures, live, filter.as_ref(), *memory, *jobs)
        .checking(arguments.checksums)
        .indexed(indexed);
    let files = Files::begin(&input, view, outputs)?;
    if !view.hex.is_empty() {
        hex::show(&input, files, view, outputs)?;
    } else if view.is_of_fields() {
        listing::fields(&input, files, view)?;
    } else if let Some(place) = &view.json.place {
        json::whole(files, view.connection, place)?;
    } else if view.jsonl {
        json::lines(files, view.connection)?;
    } else if deep::is_asked_for(view, outputs) {
        deep::show(&input, files, view, outputs)?;
    } else if view.is_listing() {
        listing::show(&input, files, view, outputs)?;
    } else {
        overview::show(&input, files, view)?;
    }
    Ok(ExitCode::SUCCESS)
}
