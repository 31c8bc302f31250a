//! On Unix, a pipe tells a thread of signals.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::exit;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::thread;
use std::time::Instant;

use anyhow::Result;
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};
use tcplab_units::MORE_PROCESSES;

use super::stopping::{ALL, FirstRequest, code, end_by_itself, ends_by_itself, remember, set_on};
use crate::remedied::Remedied;

/// With any handler, writing past `ulimit -f` returns an error instead of killing the process
/// (setrlimit(2)).
pub(crate) fn survive_full_files() {
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// As [`stop_on_signals`](super::stop_on_signals), and calls `leave` before a second signal ends
/// the command.
pub(crate) fn stop_on_signals_then(stop: &Arc<AtomicBool>, leave: fn()) -> Result<()> {
    end_by_itself();
    let (mut heard, sender) = UnixStream::pair()?;
    let thread = thread::Builder::new().spawn(move || {
        let mut first = FirstRequest::default();
        while heard.read_exact(&mut [0]).is_ok() {
            if first.is_repeated(Instant::now()) {
                leave();
                exit(code());
            }
        }
    });
    thread.map_err(|error| {
        Remedied::error(format!("cannot start a thread: {error}"), MORE_PROCESSES)
    })?;
    for signal in ALL {
        set_on(signal, stop)?;
        remember(signal)?;
        pipe::register(signal, sender.try_clone()?)?;
    }
    Ok(())
}

/// Calls `leave` before SIGQUIT ends the command as it always does; only the first call counts.
pub(crate) fn leave_on_quit(leave: fn()) -> Result<()> {
    static ONCE: Once = Once::new();
    let mut result = Ok(());
    ONCE.call_once(|| result = quit_after(leave));
    result
}

fn quit_after(leave: fn()) -> Result<()> {
    let (mut heard, sender) = UnixStream::pair()?;
    thread::Builder::new().spawn(move || {
        if heard.read_exact(&mut [0]).is_ok() {
            leave();
            let _ = emulate_default_handler(SIGQUIT);
        }
    })?;
    pipe::register(SIGQUIT, sender)?;
    Ok(())
}

/// Calls `clean` as the last thing before SIGINT or SIGTERM ends a command that does not end by
/// itself; only the first call counts, and none where no thread can be made. SIGHUP stays as it is:
/// `nohup` ignores it.
pub(crate) fn clean_on_signals(clean: fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if !ends_by_itself() {
            let _ = watch(clean);
        }
    });
}

fn watch(clean: fn()) -> Result<()> {
    let (mut heard, sender) = UnixStream::pair()?;
    thread::Builder::new().spawn(move || {
        let is_signal = heard.read_exact(&mut [0]).is_ok();
        // It may have begun to capture meanwhile.
        if is_signal && !ends_by_itself() {
            clean();
            exit(code());
        }
    })?;
    for signal in [SIGINT, SIGTERM] {
        remember(signal)?;
        pipe::register(signal, sender.try_clone()?)?;
    }
    Ok(())
}
