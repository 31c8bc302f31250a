//! Packets that leave when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcplab_units::Instant;

use crate::behaviour::Transit;

/// Packets that may overtake one another. Of two that are due at once, the one that came first goes
/// first.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// When each is due, how many came before it, and its seat. What is sorted is small, and
    /// packets stay where they are.
    due: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    /// How many have come.
    come: u64,
    seats: Vec<Option<Transit>>,
    /// The seats that are not taken.
    free: Vec<usize>,
}

impl Agenda {
    pub(super) fn push(&mut self, due: Instant, packet: Transit) {
        let seat = self.free.pop().unwrap_or_else(|| {
            self.seats.push(None);
            self.seats.len() - 1
        });
        self.seats[seat] = Some(packet);
        self.due.push(Reverse((due, self.come, seat)));
        self.come += 1;
    }

    pub(super) fn pop(&mut self) -> Option<Transit> {
        let Reverse((_, _, seat)) = self.due.pop()?;
        self.free.push(seat);
        self.seats[seat].take()
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((due, ..))| *due)
    }

    /// Next to leave first.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Transit> {
        let mut due: Vec<_> = self.due.iter().map(|Reverse(due)| *due).collect();
        due.sort_unstable();
        due.into_iter().filter_map(|(_, _, seat)| self.seats[seat].as_ref())
    }
}
