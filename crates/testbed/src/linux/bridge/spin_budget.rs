//! How long the bridge may busy-wait.

use tcplab_units::{Instant, Span};

/// The bridge sleeps one part in so many of its time, unless it has work all the time: others get
/// the processor in small pieces before the kernel takes it away, and a path whose packets are
/// never further apart than [`Tuning::spin`](crate::Tuning::spin) would otherwise be busy-waited
/// for only: at 200 Mbit/s, full packets are 61 µs apart.
const PARTS: u64 = 8;

/// The largest budget: so long others wait, at most, for what sleep leaves them.
const MOST: Span = Span::from_millis(1);

/// Time for busy-waiting, earned by sleep.
pub(super) struct SpinBudget {
    left: Span,
    /// The time up to which it is accounted.
    until: Instant,
}

impl SpinBudget {
    pub(super) fn new(now: Instant) -> SpinBudget {
        SpinBudget { left: MOST, until: now }
    }

    /// Whether the bridge may busy-wait. It has been awake since the last call of this or of
    /// [`slept`](Self::slept).
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        self.left = self.left.saturating_sub(now.since(self.until));
        self.until = now;
        !self.left.is_zero()
    }

    /// The bridge fell asleep at the last call of [`allows`](Self::allows), and woke now.
    pub(super) fn slept(&mut self, now: Instant) {
        self.left = MOST.min(self.left + now.since(self.until) * (PARTS - 1));
        self.until = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spin_budget_leaves_an_eighth_for_sleep() {
        let mut now = Instant::ZERO;
        let mut budget = SpinBudget::new(now);
        let (mut asleep, mut longest, mut awake) = (Span::ZERO, Span::ZERO, Span::ZERO);
        // Something is due each 60 µs, and waking takes no time.
        for _ in 0..100_000 {
            let stays = budget.allows(now);
            now += Span::from_micros(60);
            if stays {
                awake += Span::from_micros(60);
                longest = longest.max(awake);
            } else {
                budget.slept(now);
                asleep += Span::from_micros(60);
                awake = Span::ZERO;
            }
        }
        let share = now.since(Instant::ZERO).as_secs_f64() / asleep.as_secs_f64();
        assert!((share - PARTS as f64).abs() < 0.1, "{share}");
        assert!(longest <= MOST + Span::from_micros(60), "{longest}");
    }

    #[test]
    fn long_sleep_does_not_extend_spin_budget() {
        let mut budget = SpinBudget::new(Instant::ZERO);
        assert!(budget.allows(Instant::ZERO));
        let woke = Instant::ZERO + Span::from_secs(3600);
        budget.slept(woke);
        assert!(budget.allows(woke + MOST - Span::from_nanos(1)));
        assert!(!budget.allows(woke + MOST));
    }
}
