//! What only a capture point away from the sender needs.

use tcplab_units::{Instant, Span};

use crate::fold::folded;

/// A sender that waits until it can send a large packet answers some of several acknowledgements.
const AWAITED: usize = 4;

/// How packets arrive there, and the round trip to the sender with the queue of the moment.
#[derive(Debug, Default)]
pub(crate) struct Away {
    /// The time between the last two packets.
    last_passed: Span,
    /// The latest timestamp towards the sender.
    latest: Option<u32>,
    /// Timestamps in a row whose echoes are awaited (RFC 7323 section 4.3), and when they passed.
    awaited: [Option<(u32, Instant)>; AWAITED],
    /// How long the latest echo took.
    round_trip: Span,
    /// How much of this was a queue.
    queue: Span,
}
folded! { Away { last_passed, latest, awaited, round_trip, queue } }

impl Away {
    /// A packet with this timestamp passes towards the sender. Of the packets of one tick of that
    /// clock the echo answers the first.
    pub(crate) fn asks(&mut self, value: u32, at: Instant) {
        if self.latest.replace(value) != Some(value)
            && let Some(free) = self.awaited.iter_mut().find(|awaited| awaited.is_none())
        {
            *free = Some((value, at));
        }
    }

    /// A packet of the sender passes, so long after the one before. Returns that one's wait, and
    /// how long an echo took that comes with this one.
    pub(crate) fn arrives(
        &mut self,
        echo: Option<u32>,
        at: Instant,
        passed: Span,
    ) -> (Span, Option<Span>) {
        let mut took = None;
        for awaited in &mut self.awaited {
            let (Some((value, asked)), Some(echo)) = (*awaited, echo) else { continue };
            let newer = echo.wrapping_sub(value) as i32;
            awaited.take_if(|_| newer >= 0);
            if newer == 0 {
                took = Some(at.since(asked));
            }
        }
        self.round_trip = took.unwrap_or(self.round_trip);
        (std::mem::replace(&mut self.last_passed, passed), took)
    }

    pub(crate) fn round_trip(&self) -> Span {
        self.round_trip
    }

    /// The latest echo took this much longer than the shortest round trip. After a pause it may
    /// have waited for the application, so no more than this waited on the way.
    pub(crate) fn exceeds(&mut self, least: Span, after_pause: bool) {
        let longer = self.round_trip.saturating_sub(least);
        self.queue = if after_pause { self.queue.min(longer) } else { longer };
    }

    /// How long the path's queue delays what passes now.
    pub(crate) fn queue(&self) -> Span {
        self.queue
    }
}
