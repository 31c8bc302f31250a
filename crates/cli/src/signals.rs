//! Being asked to stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::ERROR;

/// Has `stop` set when the user, or whoever ends the session, asks for it.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The first asks to stop; the second, should that take too long, does.
        let code = i32::from(ERROR);
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(stop)))
            .context("cannot prepare for being stopped")?;
    }
    Ok(())
}
