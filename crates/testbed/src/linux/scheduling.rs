//! How threads that must be prompt are scheduled.

use std::fs::{File, OpenOptions};
use std::io::Write;

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

/// Makes the calling thread as prompt as this process may: its sleeps end as exactly as the kernel
/// can (prctl(2), PR_SET_TIMERSLACK; the default allows 50 µs more), and it runs soon after.
pub(crate) fn be_prompt(real_time: bool) -> Scheduling {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if real_time && sys::run_in_real_time().is_ok() {
        Scheduling::RealTime
    } else if sys::run_in_short_slices().is_ok() {
        Scheduling::ShortSlices
    } else {
        Scheduling::Ordinary
    }
}

/// As [`be_prompt`], for the one thread of a trial that hardly sleeps. Linux gives ordinary threads
/// their share of a processor from one of [`Scheduling::RealTime`] in one piece, up to 50 ms each
/// second (`fair_server` in kernel/sched/deadline.c, since 6.12); from one with deadlines, in
/// pieces below a millisecond.
pub(crate) fn be_prompt_throughout(real_time: bool) -> Scheduling {
    let scheduling = be_prompt(real_time);
    if scheduling == Scheduling::RealTime && sys::run_by_deadlines().is_ok() {
        return Scheduling::Deadline;
    }
    scheduling
}

/// Keeps the processors from sleep so deep that waking takes long, until it is dropped
/// (Documentation/power/pm_qos_interface.rst). Root only: for others there is none.
pub(crate) fn stay_awake() -> Option<File> {
    let mut request = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    request.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(request)
}
