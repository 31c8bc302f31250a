//! Interruptions: for a while, nothing passes.

use tcplab_units::{Instant, Span};

use crate::Cause;
use crate::element::{Behaviour, Outbox, Transit};

/// When a link is interrupted: during [`offset` + k·`every`, `offset` + k·`every` + `lasting`)
/// for k = 0, 1, 2...
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InterruptionPlan {
    /// From the start of one to the start of the next; above zero.
    pub every: Span,
    /// The length of each; less than `every`.
    pub lasting: Span,
    /// From the world's zero to the start of the first.
    pub offset: Span,
}

impl InterruptionPlan {
    /// The interruption that `now` lies in: its number, counted from 1, its start and its end.
    pub fn at(&self, now: Instant) -> Option<(u64, Instant, Instant)> {
        let first = Instant::ZERO + self.offset;
        if now < first {
            return None;
        }
        let index = now.since(first).as_nanos() / self.every.as_nanos();
        let (from, to) = self.window(first, index);
        (now < to).then_some((index + 1, from, to))
    }

    /// All that start before `until`, as start and end.
    pub fn windows(&self, until: Instant) -> impl Iterator<Item = (Instant, Instant)> {
        let plan = *self;
        let first = Instant::ZERO + plan.offset;
        (0..until.since(first).as_nanos().div_ceil(plan.every.as_nanos()))
            .map(move |index| plan.window(first, index))
    }

    fn window(&self, first: Instant, index: u64) -> (Instant, Instant) {
        let from = first + self.every * index;
        (from, from + self.lasting)
    }
}

/// Drops what comes to its place while that is interrupted, and holds nothing.
#[derive(Debug)]
pub(crate) struct Interruption {
    plan: InterruptionPlan,
}

impl Interruption {
    /// # Panics
    /// When `every` is zero.
    pub(crate) fn new(plan: InterruptionPlan) -> Interruption {
        assert!(!plan.every.is_zero(), "interruptions need a time between them");
        Interruption { plan }
    }
}

impl Behaviour for Interruption {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match self.plan.at(now) {
            Some((number, from, to)) => {
                out.drop(now, packet, Cause::Interruption { number, from, to });
            }
            None => out.pass(packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_belong_to_an_interruption_and_ends_do_not() {
        let plan = InterruptionPlan {
            every: Span::from_secs(5),
            lasting: Span::from_millis(200),
            offset: Span::from_secs(1),
        };
        let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
        for (now, number) in [
            (ms(0), None),
            (Instant::from_nanos(999_999_999), None),
            (ms(1000), Some(1)),
            (Instant::from_nanos(1_199_999_999), Some(1)),
            (ms(1200), None),
            (ms(5999), None),
            (ms(6000), Some(2)),
            (ms(11_100), Some(3)),
        ] {
            assert_eq!(plan.at(now).map(|(number, ..)| number), number, "{now:?}");
        }
        let until = |end| plan.windows(end).collect::<Vec<_>>();
        assert_eq!(until(ms(1000)), []);
        assert_eq!(until(ms(1001)), [(ms(1000), ms(1200))]);
        assert_eq!(until(ms(6001)), [(ms(1000), ms(1200)), (ms(6000), ms(6200))]);
    }

    #[test]
    fn far_times_do_not_overflow() {
        let plan = InterruptionPlan {
            every: Span::from_nanos(3),
            lasting: Span::from_nanos(2),
            offset: Span::MAX,
        };
        assert_eq!(plan.at(Instant::MAX), None, "the end of time has no length");
        assert_eq!(plan.windows(Instant::MAX).count(), 0);
    }
}
