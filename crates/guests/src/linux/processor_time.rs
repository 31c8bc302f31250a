//! The processor time of a group of processes.

use std::fs;
use std::time::Duration;

use rustix::param::clock_ticks_per_second;

/// The processor time of the processes of a group, and of those that they waited for, to 10 ms;
/// none where `/proc` does not tell.
pub(crate) fn of_group(group: u32) -> Option<Duration> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let texts = processes.filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
    let ticks = texts.filter_map(|text| ticks_in(&text, group)).reduce(|one, other| one + other)?;
    Some(Duration::from_secs(ticks) / u32::try_from(clock_ticks_per_second()).ok()?)
}

/// The ticks in the text of `/proc/PID/stat` (proc(5)), if the process is of this group.
fn ticks_in(text: &str, group: u32) -> Option<u64> {
    // The name is in parentheses and may have blanks and parentheses itself.
    let behind_name = text.rsplit_once(')')?.1;
    let fields: Vec<&str> = behind_name.split_ascii_whitespace().collect();
    // `pgrp` is behind the state and the parent; then `utime`, `stime`, `cutime` and `cstime`.
    let number = |nth: usize| fields.get(nth)?.parse::<u64>().ok();
    let ticks = (11..15).map(number).sum::<Option<u64>>()?;
    (number(2)? == u64::from(group)).then_some(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_may_look_like_fields() {
        let text = "7 (a) S 1 9 b) R 3 42 42 0 -1 4194560 9 9 0 0 120 34 5 6 20 0 1 0 88";
        assert_eq!(ticks_in(text, 42), Some(165));
        assert_eq!(ticks_in(text, 9), None);
        assert_eq!(ticks_in("7 (a) S 1", 1), None);
    }

    #[test]
    fn no_group_has_no_time() {
        assert_eq!(of_group(u32::MAX), None);
    }
}
