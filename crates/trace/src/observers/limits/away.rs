//! What only a capture point away from the sender needs.

use tcplab_units::{Instant, Span};

use crate::fold::folded;

/// How packets arrive there, and the round trip to the sender with the queue of the moment.
#[derive(Debug, Default)]
pub(crate) struct Away {
    /// The time between the last two packets.
    last_passed: Span,
    /// A timestamp whose echo is awaited (RFC 7323 section 4.3), and when it passed.
    awaited: Option<(u32, Instant)>,
    /// How long the latest echo took.
    round_trip: Span,
}
folded! { Away { last_passed, awaited, round_trip } }

impl Away {
    /// A packet with this timestamp passes towards the sender.
    pub(crate) fn asks(&mut self, value: u32, at: Instant) {
        self.awaited.get_or_insert((value, at));
    }

    /// A packet of the sender passes, so long after the one before. Returns that one's wait.
    pub(crate) fn arrives(&mut self, echo: Option<u32>, at: Instant, passed: Span) -> Span {
        if let Some((echo, (value, since))) = echo.zip(self.awaited) {
            let newer = echo.wrapping_sub(value) as i32;
            self.awaited.take_if(|_| newer >= 0);
            if newer == 0 {
                self.round_trip = at.since(since);
            }
        }
        std::mem::replace(&mut self.last_passed, passed)
    }

    pub(crate) fn round_trip(&self) -> Span {
        self.round_trip
    }
}
