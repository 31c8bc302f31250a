//! Stops on signals, on a system that has SIGINT (Ctrl-C) and SIGTERM alone and no pipe that a
//! handler could write to: threads look for signals.

use std::process::{ExitCode, exit};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::of_signal;

/// The signal that stopped this process; 0 if none did.
static STOPPED_BY: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Whether the command ends by itself when a signal asks it to.
static ENDS_BY_ITSELF: AtomicBool = AtomicBool::new(false);

/// How often a thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// A file that is too long is an error of writing here.
pub(crate) fn survive_full_files() {}

/// Sets `stop` on SIGINT or SIGTERM; [`exit_code`] then has the signal's code.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    ENDS_BY_ITSELF.store(true, Ordering::Relaxed);
    for signal in [SIGINT, SIGTERM] {
        // The first signal asks to stop; a second one exits at once.
        flag::register_conditional_shutdown(signal, of_signal(signal).into(), Arc::clone(stop))
            .and_then(|_| flag::register(signal, Arc::clone(stop)))
            .context("cannot install signal handlers")?;
        remember(signal)?;
    }
    Ok(())
}

/// As [`stop_on_signals`], and calls `leave` before a second signal ends the command.
pub(crate) fn stop_on_signals_then(stop: &Arc<AtomicBool>, leave: fn()) -> Result<()> {
    ENDS_BY_ITSELF.store(true, Ordering::Relaxed);
    let stop = Arc::clone(stop);
    on_signal(move |code| {
        if stop.swap(true, Ordering::Relaxed) {
            leave();
            exit(code);
        }
    })
}

/// Calls `clean` as the last thing before a signal ends a command that does not end by itself; only
/// the first call counts, and none where no thread can be made.
pub(crate) fn clean_on_signals(clean: fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if !ENDS_BY_ITSELF.load(Ordering::Relaxed) {
            let _ = on_signal(move |code| {
                // It may have begun to capture meanwhile.
                if !ENDS_BY_ITSELF.load(Ordering::Relaxed) {
                    clean();
                    exit(code);
                }
            });
        }
    });
}

/// Calls `act` with the exit code of each signal, from a thread of its own.
fn on_signal(act: impl Fn(i32) + Send + 'static) -> Result<()> {
    let is_asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        remember(signal)?;
        flag::register(signal, Arc::clone(&is_asked)).context("cannot install signal handlers")?;
    }
    thread::Builder::new().spawn(move || {
        loop {
            if is_asked.swap(false, Ordering::Relaxed) {
                act(of_signal(STOPPED_BY.load(Ordering::Relaxed) as i32).into());
            }
            thread::sleep(LOOK);
        }
    })?;
    Ok(())
}

/// From now on this signal does not end the process, but decides its [`exit_code`].
fn remember(signal: i32) -> Result<()> {
    flag::register_usize(signal, Arc::clone(&STOPPED_BY), signal.unsigned_abs() as usize)
        .map(drop)
        .context("cannot install signal handlers")
}

/// The exit code of a process that a signal stopped.
pub(crate) fn exit_code() -> Option<ExitCode> {
    let signal = STOPPED_BY.load(Ordering::Relaxed);
    (signal > 0).then(|| ExitCode::from(of_signal(signal as i32)))
}
