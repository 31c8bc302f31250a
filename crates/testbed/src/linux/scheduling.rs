//! How threads that must be prompt are scheduled.

use std::fs::{File, OpenOptions};
use std::io::Write;

use crate::sys;

/// How a thread is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scheduling {
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

/// Keeps the processors from sleep so deep that waking takes long, until it is dropped
/// (Documentation/power/pm_qos_interface.rst). Root only: for others there is none.
pub(crate) fn stay_awake() -> Option<File> {
    let mut request = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    request.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(request)
}
