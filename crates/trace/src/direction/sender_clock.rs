//! The clock of a sender, as its timestamps show it.

use tcplab_units::{Instant, Span};

use crate::packet::Packet;

/// What the timestamps of an end show of its clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OwnClock {
    first: Option<(u32, Instant)>,
    last: (u32, Instant),
}

impl OwnClock {
    /// A packet of the end.
    #[inline]
    pub(crate) fn passed(&mut self, value: u32, at: Instant) {
        self.first.get_or_insert((value, at));
        self.last = (value, at);
    }

    /// By how much the capture's clock was set ahead since this end's last packet, if the end's own
    /// clock shows that it was.
    pub(crate) fn set_ahead(&self, packet: &Packet) -> Option<Span> {
        /// Ticks in so many nanoseconds say how long one takes.
        const ENOUGH: Span = Span::from_millis(50);
        const TICKS: u32 = 10;
        /// No tick is longer.
        const LONGEST: Span = Span::from_secs(1);
        let ((first, began), (last, since)) = (self.first?, self.last);
        let (value, _) = packet.timestamps?;
        let gap = packet.at.since(since);
        let ticks = value.wrapping_sub(last);
        let (known, took) = (last.wrapping_sub(first), since.since(began));
        let passed = if known >= TICKS && took >= ENOUGH {
            u128::from(took.as_nanos()) * u128::from(ticks) / u128::from(known)
        } else {
            u128::from(LONGEST.as_nanos()) * u128::from(ticks)
        };
        let passed = Span::from_nanos(u64::try_from(passed).ok()?);
        // A clock is set by a second or more; what is half as long may be a tick ill measured.
        let set = gap.saturating_sub(passed);
        (set >= Span::from_secs(1) && passed < gap / 2).then_some(set)
    }
}
