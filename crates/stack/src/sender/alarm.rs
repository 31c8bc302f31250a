//! The sender's one timer, and when timers of a machine really run out.

use tcplab_units::{Instant, Span};

use crate::config::Host;
use crate::jiffies::Jiffies;

/// What the timer is set for; there is one at a time (`icsk_pending`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Retransmission timeout.
    Retransmit,
    /// Tail loss probe.
    LossProbe,
    /// RACK waits for what may only be reordered.
    Reordering,
    /// A window that is closed is asked.
    WindowProbe,
}

/// The timer.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    set: Option<(Purpose, Instant)>,
}

impl Alarm {
    pub(super) fn set(&mut self, host: &Host, purpose: Purpose, now: Instant, span: Span) {
        self.set = Some((purpose, due(host, now, span)));
    }

    pub(super) fn clear(&mut self) {
        self.set = None;
    }

    pub(super) fn purpose(&self) -> Option<Purpose> {
        self.set.map(|set| set.0)
    }

    pub(super) fn at(&self) -> Option<Instant> {
        self.set.map(|set| set.1)
    }

    /// What it was set for, if it runs out by `now`; it is not set any more then.
    pub(super) fn ring(&mut self, now: Instant) -> Option<Purpose> {
        let (purpose, _) = self.set.filter(|set| set.1 <= now)?;
        self.set = None;
        Some(purpose)
    }
}

/// `span` in whole ticks of the machine, rounded up (`usecs_to_jiffies`).
pub(crate) fn in_ticks(host: &Host, span: Span) -> Span {
    Jiffies::new(host).round_up(span)
}

/// When a timer set at `now` for `span` runs out on this machine.
pub(crate) fn due(host: &Host, now: Instant, span: Span) -> Instant {
    Jiffies::new(host).deadline(now, span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(tick: u64, wheel: bool) -> Host {
        Host { tick: Span::from_millis(tick), wheel, ..Host::default() }
    }

    #[test]
    fn timers_run_out_on_ticks() {
        let at = |millis| Instant::ZERO + Span::from_millis(millis);
        for (tick, wheel, now, span, expected) in [
            (0, false, 7, 200, 207),
            (4, false, 7, 200, 208),
            // From the tick at 4 ms, 50 ticks on, and one for what has passed of the first.
            (4, true, 7, 200, 4 + 200 + 4),
            // 62 ticks are the most of the finest level; 63 are of the next, of eight ticks each.
            (4, true, 0, 248, 252),
            (4, true, 0, 252, 256),
            (4, true, 0, 256, 288),
            (4, true, 0, 1000, 1024),
            // 504 ticks: 64 each.
            (4, true, 0, 2012, 2016),
            (4, true, 0, 2016, 2048),
            (4, true, 0, 3000, 3072),
        ] {
            let due = due(&host(tick, wheel), at(now), Span::from_millis(span));
            assert_eq!(due, at(expected), "{tick} {wheel} {now} {span}");
        }
    }
}
