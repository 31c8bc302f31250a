//! Who used the processors.

use std::fs;
use std::time::Instant;

/// Processor time of the machine and of this process, from here on.
pub(crate) struct Usage {
    began: Instant,
    machine: f64,
    own: f64,
}

/// `USER_HZ`, which is 100 on every architecture that Linux runs this on.
const TICKS: f64 = 100.0;

impl Usage {
    pub(crate) fn start() -> Usage {
        Usage { began: Instant::now(), machine: machine(), own: own() }
    }

    /// Processors that others kept busy, on average.
    pub(crate) fn foreign(&self) -> f64 {
        let busy = (machine() - self.machine) - (own() - self.own);
        (busy / self.began.elapsed().as_secs_f64()).max(0.0)
    }
}

/// Seconds that all processors were not idle: proc(5), `/proc/stat`.
fn machine() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let mut fields = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let mut ticks = |index: usize| -> f64 {
        fields.nth(index).and_then(|field| field.parse().ok()).unwrap_or_default()
    };
    // user, nice, system; then irq, softirq, and steal behind idle and iowait.
    let work = ticks(0) + ticks(0) + ticks(0);
    (work + ticks(2) + ticks(0) + ticks(0)) / TICKS
}

/// Seconds that this process used: proc(5), `/proc/pid/stat`, fields 14 and 15.
fn own() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS
}

/// The middle one, and the least and greatest.
pub(crate) fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    (at(sorted.len() / 2), at(0), at(sorted.len().saturating_sub(1)))
}
