//! The best of what was measured of late: an RTT minimum, a maximum of bandwidth.

/// Kathleen Nichols' windowed filter (`lib/win_minmax.c`): the three best of a window, each younger
/// than the one before, in constant room and time. What it gives is almost always the true best.
/// The best value is the largest; of [`std::cmp::Reverse`], the smallest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BestOfLate<V> {
    /// When each was measured, and what.
    best: Option<[(u64, V); 3]>,
}

impl<V> Default for BestOfLate<V> {
    fn default() -> BestOfLate<V> {
        BestOfLate { best: None }
    }
}

impl<V: Copy + Ord> BestOfLate<V> {
    pub(crate) fn best(&self) -> Option<V> {
        self.best.map(|[(_, value), ..]| value)
    }

    /// `value` was measured at `time`; older than `length` does not count.
    pub(crate) fn add(&mut self, length: u64, time: u64, value: V) {
        let sample = (time, value);
        let [first, second, third] = match self.best {
            Some(best) if value < best[0].1 && time - best[2].0 <= length => best,
            _ => [sample; 3],
        };
        let best = if value >= second.1 {
            [first, sample, sample]
        } else if value >= third.1 {
            [first, second, sample]
        } else {
            [first, second, third]
        };
        self.best = Some(aged(best, length, sample));
    }
}

/// Drops samples that are too old; takes the second best from the second quarter and the third best
/// from the second half, so that they are recent when they become the best.
fn aged<V: Copy>(
    [first, second, third]: [(u64, V); 3],
    length: u64,
    sample: (u64, V),
) -> [(u64, V); 3] {
    let age = sample.0 - first.0;
    if age > length && sample.0 - second.0 > length {
        [third, sample, sample]
    } else if age > length {
        [second, third, sample]
    } else if second.0 == first.0 && age > length / 4 {
        [first, sample, sample]
    } else if third.0 == second.0 && age > length / 2 {
        [first, second, sample]
    } else {
        [first, second, third]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Never more than the true maximum of the window, never less than the newest.
        #[test]
        fn best_of_late_gives_recent_maximum(values in prop::collection::vec(0_u64..50, 1..80)) {
            let mut filter = BestOfLate::default();
            for (time, &value) in values.iter().enumerate() {
                filter.add(10, time as u64, value);
                let window = &values[time.saturating_sub(10)..=time];
                let true_max = *window.iter().max().expect("one at least");
                let best = filter.best().expect("one at least");
                prop_assert!(best >= value && best <= true_max && window.contains(&best));
            }
        }
    }

    #[test]
    fn best_of_late_after_window_is_forgotten() {
        let mut filter = BestOfLate::default();
        filter.add(10, 0, 100);
        let seen: Vec<u64> = (1..=12)
            .map(|time| {
                filter.add(10, time, 50);
                filter.best().unwrap()
            })
            .collect();
        assert_eq!(seen, [100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 50, 50]);
    }
}
