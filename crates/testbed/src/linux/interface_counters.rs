//! What the kernel counts at the interfaces of a network namespace.

use std::fs;

/// Frames dropped on the way out of the calling thread's namespace, from `/proc/net/dev`.
pub(crate) fn device_drops() -> u64 {
    let table = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    transmit_drops(&table, |name| name != "lo")
}

/// The sum of the column "transmit drop" over some interfaces.
pub(crate) fn transmit_drops(table: &str, counts: impl Fn(&str) -> bool) -> u64 {
    const TRANSMIT_DROP: usize = 11;
    table
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| counts(name.trim()))
        .filter_map(|(_, counters)| {
            counters.split_whitespace().nth(TRANSMIT_DROP)?.parse::<u64>().ok()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmit_drops_of_the_chosen_interfaces_are_summed() {
        let table = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    9    0     0          0         0        0       0    0    9    0     0       0          0
tcplab0:   100       2    0    7    0     0          0         0      200       3    0    5    0     0       0          0
";
        assert_eq!(transmit_drops(table, |name| name != "lo"), 5);
        assert_eq!(transmit_drops(table, |name| name == "lo"), 9);
    }
}
