//! Stops on signals.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::ERROR;

/// Sets `stop` on SIGINT, SIGTERM or SIGHUP.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The first signal asks to stop; a second one exits at once.
        let code = i32::from(ERROR);
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(stop)))
            .context("cannot install signal handlers")?;
    }
    Ok(())
}
