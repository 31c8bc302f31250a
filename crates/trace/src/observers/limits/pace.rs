//! Pacing, as it shows in the times between sendings.

use tcplab_units::Span;

use crate::fold::folded;

/// Whether sendings follow one another as a pacing timer would have it: each after a time that
/// is proportional to what was sent before (`tcp_update_skb_after_send`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    /// Nanoseconds for 1,024 bytes, and how many waits in a row were about as long.
    nanos: u64,
    kept: u8,
}
folded! { Pace { nanos, kept } }

impl Pace {
    /// As many make a pace.
    const ENOUGH: u8 = 4;

    /// Adds a wait; returns whether they keep a pace: within an eighth at first, then within a
    /// half, since probing senders change it by a quarter and timers may be late.
    pub(crate) fn is_kept(&mut self, waited: Span, burst: u64) -> bool {
        let nanos = (waited.as_nanos().saturating_mul(1_024)).checked_div(burst).unwrap_or(0);
        let known = self.kept >= Pace::ENOUGH;
        if nanos.abs_diff(self.nanos) <= self.nanos / if known { 2 } else { 8 } {
            self.kept = (self.kept + 1).min(Pace::ENOUGH * 2);
            self.nanos = (self.nanos.saturating_mul(7).saturating_add(nanos)) / 8;
            return self.kept >= Pace::ENOUGH;
        }
        self.kept = self.kept.saturating_sub(1);
        if self.kept == 0 {
            *self = Pace { nanos, kept: 1 };
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(waits: &[(u64, u64)]) -> Vec<bool> {
        let mut pace = Pace::default();
        waits.iter().map(|&(us, burst)| pace.is_kept(Span::from_micros(us), burst)).collect()
    }

    #[test]
    fn waits_proportional_to_data_are_pacing() {
        let waits = [(1_000, 2_896), (1_010, 2_896), (500, 1_448), (990, 2_896), (1_250, 2_896)];
        assert_eq!(kept(&waits), [false, false, false, true, true]);
    }

    #[test]
    fn waits_of_centuries_do_not_overflow() {
        let mut pace = Pace::default();
        for _ in 0..20 {
            pace.is_kept(Span::MAX, 1);
        }
    }

    #[test]
    fn irregular_waits_are_not_pacing() {
        let waits: Vec<(u64, u64)> = (0..40).map(|i| (1_000 + i * i * 37 % 1_900, 2_896)).collect();
        assert!(kept(&waits).iter().filter(|&&kept| kept).count() < 8);
    }
}
