//! The first signal asks to stop; which one it was decides the exit code.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::of_signal;

const UNINSTALLED: &str = "cannot install signal handlers";

/// Those that ask to stop.
#[cfg(unix)]
pub(super) const ALL: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Those that ask to stop, on a system that is no Unix.
#[cfg(not(unix))]
pub(super) const ALL: [i32; 2] = [SIGINT, SIGTERM];

/// Signals this soon after the first are the same request: timeout(1) signals its command, and then
/// the group that this is in.
const TOGETHER: Duration = Duration::from_millis(300);

/// The signal that stopped this process; 0 if none did.
static STOPPED_BY: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Whether the command ends by itself when a signal asks it to.
static ENDS_BY_ITSELF: AtomicBool = AtomicBool::new(false);

/// When a command was first asked to stop.
#[derive(Debug, Default)]
pub(super) struct FirstRequest(Option<Instant>);

impl FirstRequest {
    /// A signal came at `now`; says whether it asks a second time.
    pub(super) fn is_repeated(&mut self, now: Instant) -> bool {
        now.saturating_duration_since(*self.0.get_or_insert(now)) >= TOGETHER
    }
}

/// From now on the command ends by itself when a signal asks it to.
pub(super) fn end_by_itself() {
    ENDS_BY_ITSELF.store(true, Ordering::Relaxed);
}

/// Whether it does.
pub(super) fn ends_by_itself() -> bool {
    ENDS_BY_ITSELF.load(Ordering::Relaxed)
}

/// Sets `asked` on this signal.
pub(super) fn set_on(signal: i32, asked: &Arc<AtomicBool>) -> Result<()> {
    flag::register(signal, Arc::clone(asked)).map(drop).context(UNINSTALLED)
}

/// From now on this signal does not end the process, but decides its [`exit_code`].
pub(crate) fn remember(signal: i32) -> Result<()> {
    flag::register_usize(signal, Arc::clone(&STOPPED_BY), signal.unsigned_abs() as usize)
        .map(drop)
        .context(UNINSTALLED)
}

/// The exit code of a process that a signal stopped.
pub(crate) fn exit_code() -> Option<ExitCode> {
    let signal = STOPPED_BY.load(Ordering::Relaxed);
    (signal > 0).then(|| ExitCode::from(of_signal(signal as i32)))
}

/// The exit code once a signal was heard.
pub(super) fn code() -> i32 {
    of_signal(STOPPED_BY.load(Ordering::Relaxed) as i32).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_come_together_are_one_request() {
        let (mut first, began) = (FirstRequest::default(), Instant::now());
        let mut asks_again = |ms| first.is_repeated(began + Duration::from_millis(ms));
        assert_eq!([0, 0, 1, 299, 300].map(&mut asks_again), [false, false, false, false, true]);
    }
}
