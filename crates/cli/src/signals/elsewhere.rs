//! On a system that has SIGINT (Ctrl-C) and SIGTERM alone and no pipe that a handler could write
//! to: threads look for signals.

use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::stopping::{ALL, FirstRequest, code, end_by_itself, ends_by_itself, remember, set_on};

/// How often a thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// A file that is too long is an error of writing here.
pub(crate) fn survive_full_files() {}

/// As [`stop_on_signals`](super::stop_on_signals), and calls `leave` before a second signal ends
/// the command.
pub(crate) fn stop_on_signals_then(stop: &Arc<AtomicBool>, leave: fn()) -> Result<()> {
    end_by_itself();
    let (stop, mut first) = (Arc::clone(stop), FirstRequest::default());
    on_signal(move |code| {
        stop.store(true, Ordering::Relaxed);
        if first.is_repeated(Instant::now()) {
            leave();
            exit(code);
        }
    })
}

/// There is no SIGQUIT.
pub(crate) fn leave_on_quit(_leave: fn()) -> Result<()> {
    Ok(())
}

/// Calls `clean` as the last thing before a signal ends a command that does not end by itself; only
/// the first call counts, and none where no thread can be made.
pub(crate) fn clean_on_signals(clean: fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if !ends_by_itself() {
            let _ = on_signal(move |code| {
                // It may have begun to capture meanwhile.
                if !ends_by_itself() {
                    clean();
                    exit(code);
                }
            });
        }
    });
}

/// Calls `act` with the exit code of each signal, from a thread of its own.
fn on_signal(mut act: impl FnMut(i32) + Send + 'static) -> Result<()> {
    let is_asked = Arc::new(AtomicBool::new(false));
    for signal in ALL {
        remember(signal)?;
        set_on(signal, &is_asked)?;
    }
    thread::Builder::new().spawn(move || {
        loop {
            if is_asked.swap(false, Ordering::Relaxed) {
                act(code());
            }
            thread::sleep(LOOK);
        }
    })?;
    Ok(())
}
