//! The sender's one timer.

use tcplab_units::{Instant, Span};

use crate::jiffies::Jiffies;

/// What the timer is set for; there is one at a time (`icsk_pending`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Retransmission timeout.
    Retransmit,
    /// Tail loss probe.
    LossProbe,
    /// RACK waits for segments that may only be reordered.
    Reordering,
    /// Zero window probe.
    WindowProbe,
}

/// The timer.
#[derive(Debug)]
pub(crate) struct Alarm {
    jiffies: Jiffies,
    set: Option<(Purpose, Instant)>,
}

impl Alarm {
    pub(crate) fn new(jiffies: Jiffies) -> Alarm {
        Alarm { jiffies, set: None }
    }

    /// Expires after `span`, on a tick of the machine.
    pub(crate) fn set(&mut self, purpose: Purpose, now: Instant, span: Span) {
        self.set = Some((purpose, self.jiffies.deadline(now, span)));
    }

    pub(crate) fn clear(&mut self) {
        self.set = None;
    }

    pub(crate) fn purpose(&self) -> Option<Purpose> {
        self.set.map(|(purpose, _)| purpose)
    }

    pub(crate) fn at(&self) -> Option<Instant> {
        self.set.map(|(_, at)| at)
    }

    /// Its purpose, if it expires by `now`; it is not set any more then.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<Purpose> {
        let (purpose, _) = self.set.filter(|&(_, at)| at <= now)?;
        self.set = None;
        Some(purpose)
    }

    /// `span` in whole ticks of the machine (`usecs_to_jiffies`).
    pub(crate) fn round_up(&self, span: Span) -> Span {
        self.jiffies.round_up(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Host;

    fn host(tick: u64, wheel: bool) -> Host {
        Host { tick: Span::from_millis(tick), wheel, ..Host::default() }
    }

    #[test]
    fn timer_on_machine_with_ticks_expires_on_tick() {
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
            let mut alarm = Alarm::new(Jiffies::new(&host(tick, wheel)));
            alarm.set(Purpose::Retransmit, at(now), Span::from_millis(span));
            assert_eq!(alarm.at(), Some(at(expected)), "{tick} {wheel} {now} {span}");
        }
    }
}
