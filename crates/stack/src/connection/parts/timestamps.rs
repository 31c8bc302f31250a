//! Timestamps, and segments that are too old (RFC 7323).

use tcplab_units::{Instant, Span};

use crate::TimestampOrder;
use crate::config::Handshake;

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
    order: TimestampOrder,
    /// Whether old values are refused.
    paws: bool,
    /// The peer's clock, to be echoed, and when it was received (`ts_recent`).
    recent: Option<(u32, Instant)>,
}

impl Timestamps {
    pub(crate) fn new(tick: Span, offset: u32, rules: &Handshake) -> Timestamps {
        let (order, paws) = (rules.timestamp_order, rules.paws);
        Timestamps { tick: tick.as_nanos().max(1), offset, order, paws, recent: None }
    }

    /// The clock, without its offset.
    pub(crate) fn clock(&self, now: Instant) -> u32 {
        (now.as_nanos() / self.tick) as u32
    }

    /// What the option says now: the own clock, and the echo.
    pub(crate) fn option(&self, now: Instant) -> (u32, u32) {
        let value = self.order.of_own(self.clock(now).wrapping_add(self.offset));
        (value, self.recent.map_or(0, |(recent, _)| recent))
    }

    /// An echo as time of the own clock; zero says nothing.
    pub(crate) fn echoed(&self, echo: u32) -> Option<u32> {
        (echo != 0).then(|| self.order.of_own(echo).wrapping_sub(self.offset))
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
        recent == 0 || self.older_by(recent, value) <= replay || now.since(at) >= OUTDATED
    }

    /// Whether a segment with `value` is to be believed (RFC 7323 section 5.3, R1).
    pub(crate) fn accepts(&self, now: Instant, value: u32) -> bool {
        !self.paws || self.is_fresh(now, value, REPLAY)
    }

    /// Whether a segment with `value` is to be believed where the peer sends nothing that could
    /// be reordered.
    pub(crate) fn is_not_older(&self, now: Instant, value: u32) -> bool {
        !self.paws || self.is_fresh(now, value, 0)
    }

    /// Whether `value` is to be echoed from now on.
    pub(crate) fn advances(&self, now: Instant, value: u32) -> bool {
        self.is_fresh(now, value, 0)
    }

    /// By how much `value` is older than the last, in the peer's ticks.
    pub(crate) fn behind(&self, value: u32) -> i32 {
        self.recent.map_or(0, |(recent, _)| self.older_by(recent, value))
    }

    /// By how much `value` is older than `recent`.
    fn older_by(&self, recent: u32, value: u32) -> i32 {
        self.order.of_peer(recent).wrapping_sub(self.order.of_peer(value)) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamps(rules: &Handshake) -> Timestamps {
        Timestamps::new(Span::from_millis(1), 0, rules)
    }

    /// Which steps of the peer's clock PAWS accepts.
    #[test]
    fn read_unconverted_refuses_steps_of_128_to_255_ticks() {
        let order = TimestampOrder::ReadUnconverted;
        for (recent, step, accepted) in [
            (1_000, 0, true),
            (1_000, 127, true),
            (1_000, 128, false),
            (1_000, 204, false),
            (1_000, 255, false),
            (1_000, 256, true),
            (1_000, 383, true),
            (1_000, 404, false),
            (0xffff_ff00, 200, false),
        ] {
            let value = u32::wrapping_add(recent, step);
            for (order, accepts) in [(TimestampOrder::Network, true), (order, accepted)] {
                let mut stack =
                    timestamps(&Handshake { timestamp_order: order, ..Handshake::default() });
                stack.hear(Instant::ZERO, recent);
                assert_eq!(
                    stack.accepts(Instant::ZERO, value),
                    accepts,
                    "{order:?} {recent} + {step}"
                );
                // What is on the wire is right.
                assert_eq!(stack.option(Instant::ZERO).1, recent);
            }
        }
    }

    #[test]
    fn sent_unconverted_reverses_own_clock_and_reads_its_echo() {
        let order = TimestampOrder::SentUnconverted;
        let stack = timestamps(&Handshake { timestamp_order: order, ..Handshake::default() });
        let now = Instant::from_nanos(0x0102_0304 * 1_000_000);
        let (value, _) = stack.option(now);
        assert_eq!(value, 0x0403_0201);
        assert_eq!(stack.echoed(value), Some(0x0102_0304));
    }

    #[test]
    fn without_paws_old_timestamps_are_accepted() {
        for paws in [true, false] {
            let mut stack = timestamps(&Handshake { paws, ..Handshake::default() });
            stack.hear(Instant::ZERO, 1_000);
            assert_eq!(stack.accepts(Instant::ZERO, 900), !paws);
        }
    }
}
