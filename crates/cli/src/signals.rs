//! Stops on signals.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::{ExitCode, exit};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::thread;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::exit::of_signal;

/// The signal that stopped this process; 0 if none did.
static STOPPED_BY: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Whether the command ends by itself when a signal asks it to.
static ENDS_BY_ITSELF: AtomicBool = AtomicBool::new(false);

/// With any handler, writing past `ulimit -f` returns an error instead of killing the process
/// (setrlimit(2)).
pub(crate) fn survive_full_files() {
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Sets `stop` on SIGINT, SIGTERM or SIGHUP; [`exit_code`] then has the signal's code.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    ENDS_BY_ITSELF.store(true, Ordering::Relaxed);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
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
    let (mut heard, sender) = UnixStream::pair()?;
    thread::Builder::new().spawn(move || {
        if heard.read_exact(&mut [0; 2]).is_ok() {
            leave();
            let signal = STOPPED_BY.load(Ordering::Relaxed);
            exit(of_signal(signal as i32).into());
        }
    })?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(stop)).context("cannot install signal handlers")?;
        remember(signal)?;
        pipe::register(signal, sender.try_clone()?)?;
    }
    Ok(())
}

/// Calls `clean` as the last thing before SIGINT or SIGTERM ends a command that does not end by
/// itself; only the first call counts, and none where no thread can be made. SIGHUP stays as it is:
/// `nohup` ignores it.
pub(crate) fn clean_on_signals(clean: fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if !ENDS_BY_ITSELF.load(Ordering::Relaxed) {
            let _ = watch(clean);
        }
    });
}

fn watch(clean: fn()) -> Result<()> {
    let (mut heard, sender) = UnixStream::pair()?;
    thread::Builder::new().spawn(move || {
        let is_signal = heard.read_exact(&mut [0]).is_ok();
        // It may have begun to capture meanwhile.
        if is_signal && !ENDS_BY_ITSELF.load(Ordering::Relaxed) {
            clean();
            let signal = STOPPED_BY.load(Ordering::Relaxed);
            exit(of_signal(signal as i32).into());
        }
    })?;
    for signal in [SIGINT, SIGTERM] {
        remember(signal)?;
        pipe::register(signal, sender.try_clone()?)?;
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
