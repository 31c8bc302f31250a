//! Stops on signals.

#[cfg(not(unix))]
mod elsewhere;
mod stopping;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::{clean_on_signals, stop_on_signals_then, survive_full_files};
#[cfg(target_os = "linux")]
pub(crate) use stopping::remember;
pub(crate) use stopping::{exit_code, stop_on_signals};
#[cfg(unix)]
pub(crate) use unix::{clean_on_signals, stop_on_signals_then, survive_full_files};
