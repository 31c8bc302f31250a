//! How threads that must be prompt are scheduled.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::num::NonZeroU64;

use rustix::thread::set_current_timer_slack;

use crate::sys;

/// How a thread is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scheduling {
    /// Before all others, for nearly all of each few milliseconds.
    Deadline,
    /// Before all ordinary threads.
    RealTime,
    /// In short slices, sooner than others.
    ShortSlices,
    /// As any other.
    Ordinary,
}

/// Makes the calling thread as prompt as this process may: its sleeps end exactly, and it runs soon
/// after.
pub(crate) fn be_prompt(real_time: bool) -> Scheduling {
    wake_exactly();
    if real_time && sys::run_in_real_time().is_ok() {
        Scheduling::RealTime
    } else if sys::run_in_short_slices().is_ok() {
        Scheduling::ShortSlices
    } else {
        Scheduling::Ordinary
    }
}

/// From now on, sleeps of the calling thread end as exactly as the kernel can (prctl(2),
/// PR_SET_TIMERSLACK; the default allows 50 µs more).
fn wake_exactly() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Waits in the calling thread, exactly, whose other sleeps and threads stay as programs have them.
pub(crate) fn exactly<T>(wait: impl FnOnce() -> T) -> T {
    wake_exactly();
    let waited = wait();
    // The default.
    let _ = set_current_timer_slack(None);
    waited
}

/// As [`be_prompt`], for the one thread of a trial that hardly sleeps. Linux gives ordinary threads
/// their share of a processor from one of [`Scheduling::RealTime`] in one piece, up to 50 ms each
/// second (`fair_server` in kernel/sched/deadline.c, since 6.12); from one with deadlines, in
/// pieces below a millisecond. Before 6.12 nothing would take the processor from the latter: the
/// kernel's own threads there, for which the rest of it waits, would stand still for a trial.
pub(crate) fn be_prompt_throughout(real_time: bool) -> Scheduling {
    let scheduling = be_prompt(real_time);
    let is_safe = || has_fair_server(&rustix::system::uname().release().to_string_lossy());
    if scheduling == Scheduling::RealTime && is_safe() && sys::run_by_deadlines().is_ok() {
        return Scheduling::Deadline;
    }
    scheduling
}

/// Whether a kernel of this release (uname(2)) gives ordinary threads their share beside threads
/// with deadlines.
fn has_fair_server(release: &str) -> bool {
    let mut numbers = release.split(|it: char| !it.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (6, 12),
        _ => false,
    }
}

/// Keeps the processors from sleep so deep that waking takes long, until it is dropped
/// (Documentation/power/pm_qos_interface.rst). Root only: for others there is none.
pub(crate) fn stay_awake() -> Option<File> {
    let mut request = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    request.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_with_a_fair_server_begin_with_6_12() {
        for has in ["6.12.0", "6.18.5-fc", "7.0-rc1", "10.1"] {
            assert!(has_fair_server(has), "{has}");
        }
        for has_not in ["6.11.9-amd64", "6.1.0-18-amd64", "5.15.0-91-generic", "4.19", "6", ""] {
            assert!(!has_fair_server(has_not), "{has_not}");
        }
    }
}
