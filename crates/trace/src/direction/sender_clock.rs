//! The clock of a sender, from its timestamps.

use tcplab_units::{Instant, Span};

use crate::fold::folded;
use crate::packet::Packet;

/// Nothing is captured for a day, or the packet is an old one.
const LONGEST_STEP: Span = Span::from_secs(86_400);

/// A step of the capture clock that times alone do not explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockStep {
    /// It may have been set ahead, or nothing was captured for some time.
    Ahead,
    /// It was set back: how much time passed meanwhile is unknown.
    Back,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OwnClock {
    first: Option<(u32, Instant)>,
    last: (u32, Instant),
}
folded! { OwnClock { first, last } }

impl OwnClock {
    #[inline]
    pub(crate) fn passed(&mut self, value: u32, at: Instant) {
        if self.first.is_none() && value == 0 {
            // A SYN-ACK may have an empty field before the clock is read.
            return;
        }
        self.first.get_or_insert((value, at));
        self.last = (value, at);
    }

    /// How far the capture clock was set ahead since this endpoint's last packet, by its clock: it
    /// ticked before, and now shows less than a second. A host that slept shows more, as it wakes
    /// now and then.
    pub(crate) fn set_ahead(&self, packet: &Packet) -> Option<Span> {
        const AWAKE: Span = Span::from_secs(1);
        let (gap, passed) = (packet.at.since(self.last.1), self.passed_before(packet)?);
        // Clocks are set by a second or more; half of it may be a badly measured tick.
        let set = gap.saturating_sub(passed);
        (set >= Span::from_secs(1) && passed < gap / 2 && passed < AWAKE).then_some(set)
    }

    /// How much more time than the capture clock shows passed since this endpoint's last packet, by
    /// its clock.
    pub(crate) fn missed(&self, packet: &Packet) -> Option<Span> {
        let shown = packet.at.since(self.last.1);
        let passed = self.passed_before(packet).filter(|passed| *passed < LONGEST_STEP)?;
        Some(passed.saturating_sub(shown))
    }

    /// The time since this endpoint's last packet, by its clock, if that ticked before.
    fn passed_before(&self, packet: &Packet) -> Option<Span> {
        /// Measure the tick over at least this time.
        const ENOUGH: Span = Span::from_millis(50);
        const TICKS: u32 = 10;
        let ((first, began), (last, since)) = (self.first?, self.last);
        let (value, _) = packet.timestamps?;
        let ticks = value.wrapping_sub(last);
        let (known, took) = (last.wrapping_sub(first), since.since(began));
        if known < TICKS || took < ENOUGH {
            return None;
        }
        let passed = u128::from(took.as_nanos()) * u128::from(ticks) / u128::from(known);
        u64::try_from(passed).ok().map(Span::from_nanos)
    }
}
