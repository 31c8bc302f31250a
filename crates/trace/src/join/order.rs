//! Reordering (RFC 4737).

use std::collections::VecDeque;

/// The most packets looked back for the extent.
pub(crate) const FARTHEST: usize = 4_096;

/// The order in which packets arrive, by the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct Order {
    arrivals: u64,
    /// Arrivals that were sent later than all before them: the sender's order, the receiver's.
    leading: VecDeque<(u64, u64)>,
    /// The latest that left this list, by the sender's order.
    gone: Option<u64>,
}

impl Order {
    /// Packet number `sent` arrives. If out of order, returns the reordering extent (RFC 4737
    /// section 4.2.2): arrivals since the first one sent later, at least 1.
    pub(crate) fn arrived(&mut self, sent: u64) -> Option<u64> {
        let place = self.arrivals;
        self.arrivals += 1;
        if self.leading.back().is_none_or(|&(latest, _)| latest < sent) {
            self.leading.push_back((sent, place));
            if self.leading.len() > FARTHEST {
                self.gone = self.leading.pop_front().map(|(sent, _)| sent);
            }
            return None;
        }
        if self.gone.is_some_and(|gone| gone > sent) {
            return Some(FARTHEST as u64);
        }
        let first = self.leading.partition_point(|&(other, _)| other < sent);
        self.leading.get(first).map(|&(_, at)| (place - at).min(FARTHEST as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, word by word: e = i - j for the least j with s\[j\] > s\[i\].
    fn by_definition(sent: &[u64]) -> Vec<Option<u64>> {
        (0..sent.len())
            .map(|i| (0..i).find(|&j| sent[j] > sent[i]).map(|j| (i - j) as u64))
            .collect()
    }

    proptest::proptest! {
        #[test]
        fn extents_are_those_of_the_rfc(seed in proptest::collection::vec(0_u64..1_000, 0..200)) {
            let mut sent = seed;
            sent.sort_unstable();
            sent.dedup();
            // Each a little off its place.
            let mut shuffled: Vec<(u64, u64)> =
                sent.iter().enumerate().map(|(i, &s)| (i as u64 + s * 7 % 13, s)).collect();
            shuffled.sort_unstable();
            let arrivals: Vec<u64> = shuffled.into_iter().map(|(_, s)| s).collect();
            let mut order = Order::default();
            let found: Vec<Option<u64>> = arrivals.iter().map(|s| order.arrived(*s)).collect();
            proptest::prop_assert_eq!(found, by_definition(&arrivals));
        }
    }
}
