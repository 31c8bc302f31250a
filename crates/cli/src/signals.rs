//! Stops on signals.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::of_signal;

/// The signal that stopped this process; 0 if none did.
static STOPPED_BY: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Sets `stop` on SIGINT, SIGTERM or SIGHUP; [`exit_code`] then has the signal's code.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The first signal asks to stop; a second one exits at once.
        flag::register_conditional_shutdown(signal, of_signal(signal).into(), Arc::clone(stop))
            .and_then(|_| flag::register(signal, Arc::clone(stop)))
            .context("cannot install signal handlers")?;
        remember(signal)?;
    }
    Ok(())
}

/// From now on this signal does not end the process, but decides its [`exit_code`].
pub(crate) fn remember(signal: i32) -> Result<()> {
    flag::register_usize(signal, Arc::clone(&STOPPED_BY), signal.unsigned_abs() as usize)
        .map(drop)
        .context("cannot install signal handlers")
}

/// The exit code of a process that a signal stopped.
pub(crate) fn exit_code() -> Option<ExitCode> {
    let signal = STOPPED_BY.load(Ordering::Relaxed);
    (signal > 0).then(|| ExitCode::from(of_signal(signal as i32)))
}
