//! One processor for a trial: a guest's kernel and its processes hand over to each other several
//! times a packet, which across processors takes ten times as long.

use std::io;

use rustix::process::getpid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Keeps the calling thread, and the guests that it starts from now on, on one of the processors
/// that it may use: another one for each `nth` of a process, and not always the first.
///
/// # Errors
/// When the kernel refuses it.
pub fn pin(nth: usize) -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    if all.len() < 2 {
        return Ok(());
    }
    let begin = getpid().as_raw_nonzero().get().cast_unsigned() as usize;
    let mut one = CpuSet::new();
    one.set(all[begin.wrapping_add(nth) % all.len()]);
    Ok(sched_setaffinity(None, &one)?)
}
