//! How old a timestamp is, by the clock of who wrote it.

use tcplab_units::{Instant, Span};

use crate::fold::folded;
use crate::packet::Packet;

/// The ticks needed to estimate their length.
const ENOUGH: u32 = 16;

/// The clock that a sender writes into its timestamp option: its first reading and its last.
#[derive(Debug, Default)]
pub(crate) struct Timestamps {
    readings: Option<[(Instant, u32); 2]>,
}
folded! { Timestamps { readings } }

impl Timestamps {
    #[inline(always)]
    pub(crate) fn sent(&mut self, packet: &Packet) {
        let Some((value, _)) = packet.timestamps else { return };
        let reading = (packet.at, value);
        match &mut self.readings {
            Some([_, last]) => *last = reading,
            // A SYN-ACK may have an empty field before the clock is read.
            None if value != 0 => self.readings = Some([reading, reading]),
            None => {}
        }
    }

    /// How long before `at` the clock showed `value`, to the tick, and one tick at least; `None`
    /// before it is known how long a tick takes, for a value that lies ahead, and for one from
    /// before the first reading.
    pub(crate) fn age(&self, value: u32, at: Instant) -> Option<Span> {
        let [first, last] = self.readings?;
        let ticks = last.1.wrapping_sub(first.1);
        if !(ENOUGH..u32::MAX / 2).contains(&ticks) {
            return None;
        }
        let tick = last.0.since(first.0) / u64::from(ticks);
        let behind = last.1.wrapping_sub(value);
        if behind > ticks {
            return None;
        }
        Some((at.since(last.0) + tick * u64::from(behind)).max(tick))
    }
}
