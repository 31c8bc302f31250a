//! What stands between TCP and the wire: nothing, or a queue that lets packets go when TCP says.

use std::collections::VecDeque;

use tcplab_stack::{Connection, Transmit};
use tcplab_units::{Instant, Rate, Span};

use crate::packet::Packet;

/// The number of initial segments that are not paced (`tcp_update_skb_after_send`).
const FREE_SEGMENTS: u64 = 10;

/// `tc qdisc replace dev tun0 root fq`: each packet leaves no earlier than TCP's pace has it.
#[derive(Default)]
pub(super) struct PacedQueue {
    waiting: VecDeque<(Instant, Packet)>,
}

impl PacedQueue {
    pub(super) fn push(&mut self, departure: Instant, packet: Packet) {
        self.waiting.push_back((departure, packet));
    }

    /// What leaves until `now`.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Packet> {
        let (departure, _) = self.waiting.front()?;
        if *departure > now { None } else { self.waiting.pop_front().map(|(_, packet)| packet) }
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        self.waiting.front().map(|(departure, _)| *departure)
    }
}

/// When the next packet of a connection may leave (`tcp_wstamp_ns`).
#[derive(Default)]
pub(super) struct Departure {
    next: Instant,
    /// Segments with data so far.
    segments: u64,
}

impl Departure {
    /// A burst is handed down `now`: when it leaves. Half of what has passed since the last makes
    /// up for being late.
    pub(super) fn of(
        &mut self,
        now: Instant,
        connection: &Connection,
        burst: &Transmit,
    ) -> Instant {
        let before = self.next;
        let departure = before.max(now);
        self.next = departure;
        let len = burst.segment.len();
        self.segments += if len > 0 { u64::from(burst.segments()) } else { 0 };
        let rate = connection.info(now).pacing_rate.map_or(0, Rate::bits_per_second);
        if len > 0 && rate > 0 && self.segments >= FREE_SEGMENTS {
            let nanos = u128::from(len) * 8_000_000_000 / u128::from(rate);
            let nanos = u64::try_from(nanos).unwrap_or(u64::MAX >> 1);
            let credit = departure.since(before).as_nanos();
            self.next += Span::from_nanos(nanos - credit.min(nanos / 2));
        }
        departure
    }
}
