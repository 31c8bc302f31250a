//! The largest of what was measured of late.

/// Kathleen Nichols' windowed maximum (`lib/win_minmax.c`): the three best of a window, each
/// younger than the one before, in constant room and time. What it gives is almost always the true
/// maximum.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MaxFilter {
    best: [Sample; 3],
}

#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    time: u64,
    value: u64,
}

impl MaxFilter {
    /// The largest.
    pub(super) fn max(&self) -> u64 {
        self.best[0].value
    }

    /// `value` was measured at `time`; older than `length` does not count.
    pub(super) fn add(&mut self, length: u64, time: u64, value: u64) {
        let sample = Sample { time, value };
        if value >= self.best[0].value || time - self.best[2].time > length {
            self.best = [sample; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value >= self.best[2].value {
            self.best[2] = sample;
        }
        self.age(length, sample);
    }

    /// Lets go of what is too old; takes the second best from the second quarter and the third best
    /// from the second half, so that they are of some use when it is their turn.
    fn age(&mut self, length: u64, sample: Sample) {
        let age = sample.time - self.best[0].time;
        if age > length {
            self.drop_first(sample);
            if sample.time - self.best[0].time > length {
                self.drop_first(sample);
            }
        } else if self.best[1].time == self.best[0].time && age > length / 4 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].time == self.best[1].time && age > length / 2 {
            self.best[2] = sample;
        }
    }

    fn drop_first(&mut self, sample: Sample) {
        self.best = [self.best[1], self.best[2], sample];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Never more than the true maximum of the window, never less than the newest.
        #[test]
        fn max_filter_gives_recent_maximum(values in prop::collection::vec(0_u64..50, 1..80)) {
            let mut filter = MaxFilter::default();
            for (time, &value) in values.iter().enumerate() {
                filter.add(10, time as u64, value);
                let window = &values[time.saturating_sub(10)..=time];
                let true_max = *window.iter().max().expect("one at least");
                prop_assert!(filter.max() >= value && filter.max() <= true_max);
                prop_assert!(window.contains(&filter.max()));
            }
        }
    }

    #[test]
    fn max_filter_after_window_forgets_maximum() {
        let mut filter = MaxFilter::default();
        filter.add(10, 0, 100);
        let seen: Vec<u64> = (1..=12)
            .map(|time| {
                filter.add(10, time, 50);
                filter.max()
            })
            .collect();
        assert_eq!(seen, [100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 50, 50]);
    }
}
