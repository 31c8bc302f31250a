//! Stops on signals.

#[cfg(not(unix))]
mod elsewhere;
mod stopping;
#[cfg(unix)]
mod unix;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;

#[cfg(not(unix))]
pub(crate) use elsewhere::{
    clean_on_signals, leave_on_quit, stop_on_signals_then, survive_full_files,
};
pub(crate) use stopping::exit_code;
#[cfg(target_os = "linux")]
pub(crate) use stopping::remember;
#[cfg(unix)]
pub(crate) use unix::{clean_on_signals, leave_on_quit, stop_on_signals_then, survive_full_files};

/// Sets `stop` on SIGINT, SIGTERM or, on Unix, SIGHUP; [`exit_code`] then has the signal's code. A
/// second signal ends the command, unless both come together.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    stop_on_signals_then(stop, || ())
}
