//! `--live`: what happens while it happens, on the whole screen or as a line a second.
//!
//! A view shares nothing with what it shows but a state that the command updates and the recording
//! that a trial leaves anyway ([`tcplab_watch`]), so a slow terminal slows nothing.

mod bars;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod load_pace;
#[cfg(target_os = "linux")]
mod load_picture;
#[cfg(target_os = "linux")]
mod load_screen;
mod plain;
mod run;
mod run_picture;
mod run_screen;
mod run_state;
mod screen;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;

#[cfg(target_os = "linux")]
pub(crate) use load::LiveLoad;
#[cfg(target_os = "linux")]
pub(crate) use load_pace::{LoadPace, LoadRates};
#[cfg(target_os = "linux")]
pub(crate) use load_picture::{LoadPicture, STEP};
#[cfg(target_os = "linux")]
pub(crate) use load_screen::{quantiles, waiting};
pub(crate) use run::LiveRun;

use crate::arguments::LiveMode;
use crate::output::{has_seen_notes, is_dumb, print_note};
use crate::signals;

/// What `--live` comes to here: without a terminal that can move its cursor, a line a second.
pub(crate) fn mode(asked: Option<LiveMode>) -> Option<LiveMode> {
    let why = match asked {
        Some(LiveMode::Screen) if !has_seen_notes() => "standard error is no terminal",
        Some(LiveMode::Screen) if is_dumb() => "the terminal has no control sequences (TERM=dumb)",
        _ => return asked,
    };
    print_note(&format!("--live: {why}, so it is a line a second"));
    Some(LiveMode::Plain)
}

/// Sets `stop` on signals; a second one restores the screen before it ends the command.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>, mode: Option<LiveMode>) -> Result<()> {
    match mode {
        Some(LiveMode::Screen) => {
            signals::leave_on_quit(screen::restore)?;
            signals::stop_on_signals_then(stop, screen::restore)
        }
        _ => signals::stop_on_signals(stop),
    }
}
