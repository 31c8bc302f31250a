//! Timestamps, and segments that are too old (RFC 7323).

use tcplab_units::{Instant, Span};

/// A timestamp is not older than the last if it is this much less (`TCP_PAWS_WINDOW`): duplicate
/// acknowledgements may be reordered.
const REPLAY: i32 = 1;

/// After so long the peer's clock may have wrapped (`TCP_PAWS_24DAYS`, RFC 7323 section 5.5).
const OUTDATED: Span = Span::from_secs(24 * 86_400);

/// The own clock, and the peer's as received.
#[derive(Debug)]
pub(crate) struct Timestamps {
    /// Nanoseconds of a tick.
    tick: u64,
    offset: u32,
    /// The peer's clock, to be echoed, and when it was received (`ts_recent`).
    recent: Option<(u32, Instant)>,
}

impl Timestamps {
    pub(crate) fn new(tick: Span, offset: u32) -> Timestamps {
        Timestamps { tick: tick.as_nanos().max(1), offset, recent: None }
    }

    /// The clock, without its offset.
    pub(crate) fn clock(&self, now: Instant) -> u32 {
        (now.as_nanos() / self.tick) as u32
    }

    /// What the option says now: the own clock, and the echo.
    pub(crate) fn option(&self, now: Instant) -> (u32, u32) {
        let value = self.clock(now).wrapping_add(self.offset);
        (value, self.recent.map_or(0, |(recent, _)| recent))
    }

    /// An echo as time of the own clock; zero says nothing.
    pub(crate) fn echoed(&self, echo: u32) -> Option<u32> {
        (echo != 0).then(|| echo.wrapping_sub(self.offset))
    }

    /// How long ago the own clock stood at `echoed`, in its ticks (`tcp_rtt_tsopt_us`); `None`
    /// for what cannot be.
    pub(crate) fn ago(&self, now: Instant, echoed: u32) -> Option<Span> {
        let ticks = self.clock(now).wrapping_sub(echoed);
        (ticks < 1 << 31).then(|| Span::from_nanos(u64::from(ticks) * self.tick))
    }

    /// An accepted segment carried `value`.
    pub(crate) fn hear(&mut self, now: Instant, value: u32) {
        self.recent = Some((value, now));
    }

    /// Whether `value` is not older than the last (`tcp_paws_check` with `replay` of 0 or
    /// [`REPLAY`]).
    fn is_fresh(&self, now: Instant, value: u32, replay: i32) -> bool {
        let Some((recent, at)) = self.recent else { return true };
        recent == 0 || recent.wrapping_sub(value) as i32 <= replay || now.since(at) >= OUTDATED
    }

    /// Whether a segment with `value` is to be believed (RFC 7323 section 5.3, R1).
    pub(crate) fn accepts(&self, now: Instant, value: u32) -> bool {
        self.is_fresh(now, value, REPLAY)
    }

    /// Whether `value` is to be echoed from now on.
    pub(crate) fn advances(&self, now: Instant, value: u32) -> bool {
        self.is_fresh(now, value, 0)
    }

    /// By how much `value` is older than the last, in the peer's ticks.
    pub(crate) fn behind(&self, value: u32) -> i32 {
        self.recent.map_or(0, |(recent, _)| recent.wrapping_sub(value) as i32)
    }
}
