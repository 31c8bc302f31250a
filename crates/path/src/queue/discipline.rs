//! The calls that a bottleneck makes to its queue.

use std::fmt;

use tcplab_units::Instant;

use super::fifo::Queued;
use crate::behaviour::{Outbox, Transit};

/// What a queueing discipline does. Time never goes backwards between calls.
pub(crate) trait Discipline: fmt::Debug + Send {
    /// Takes a packet that arrives now, or drops it or others to make room.
    fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox);

    /// The packet to send when one arrives while nothing waits and the transmitter is ready: as
    /// [`push`](Self::push) and [`pop`](Self::pop) in one, but there is always room. Nothing if the
    /// packet was dropped.
    fn pass(&mut self, now: Instant, packet: Transit, _out: &mut Outbox) -> Option<Queued> {
        Some((now, packet))
    }

    /// The packet to send now, and since when it has waited; may drop others on the way. Nothing
    /// only when nothing is left.
    fn pop(&mut self, now: Instant, out: &mut Outbox) -> Option<Queued>;

    /// What waits, roughly next to be sent first.
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_>;

    /// Lets go of all that waits, in the order of [`held`](Self::held).
    fn release(&mut self, into: &mut Vec<Transit>);
}
