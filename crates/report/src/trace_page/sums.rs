//! What the page keeps of all connections.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tcplab_trace::{Connection, Sink};
use tcplab_units::{Bytes, Instant, Span};

use super::Row;
use crate::trace::Row as LossRow;

/// The most connections in the table.
const MOST_ROWS: usize = 1_000;

/// Orders connections as the terminal does: by lost time, then by data, most first, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(Reverse<Span>, Reverse<Bytes>, usize);

impl Rank {
    /// That of `connection`, whose number is `index`.
    pub fn new(index: usize, connection: &Connection) -> Rank {
        let data = connection.forward.totals.unique + connection.reverse.totals.unique;
        Rank(Reverse(LossRow::lost_by(connection)), Reverse(data), index)
    }
    /// The number of the connection.
    pub fn index(&self) -> usize {
        self.2
    }
}

/// Sums over all connections, and a row for each of the first by [rank](Rank): memory does not grow
/// with the number of connections.
#[derive(Debug, Default)]
pub struct CaptureSums {
    pub(super) connections: usize,
    pub(super) last: Instant,
    pub(super) data: Bytes,
    pub(super) retransmissions: u64,
    pub(super) segments: u64,
    /// Each with its packets.
    rows: BTreeMap<Rank, (Row, u64)>,
}

impl CaptureSums {
    /// Those of the connections of a trace.
    pub fn of(connections: &[Connection]) -> CaptureSums {
        let mut sums = CaptureSums::default();
        connections.iter().enumerate().for_each(|(index, it)| sums.add(index, it));
        sums
    }
    /// The number of connections.
    pub fn connections(&self) -> usize {
        self.connections
    }
    /// The first connections by rank, each with its number of packets.
    pub fn ranked(&self) -> impl Iterator<Item = (usize, u64)> {
        self.rows.iter().map(|(rank, (_, packets))| (rank.index(), *packets))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values().map(|(row, _)| row)
    }
    /// How many have no row.
    pub(super) fn left_out(&self) -> usize {
        self.connections - self.rows.len()
    }

    fn add(&mut self, index: usize, connection: &Connection) {
        self.connections += 1;
        self.last = self.last.max(connection.last);
        for flow in [&connection.forward, &connection.reverse] {
            self.data += flow.totals.unique;
            self.retransmissions += flow.causes.retransmissions();
            self.segments += flow.totals.wire_segments;
        }
        let rank = Rank::new(index, connection);
        let is_full = self.rows.len() >= MOST_ROWS;
        if is_full && self.rows.last_key_value().is_some_and(|(last, _)| *last < rank) {
            return;
        }
        self.rows.insert(rank, (Row::new(index, connection), connection.packets));
        if is_full {
            self.rows.pop_last();
        }
    }
}

impl Sink for CaptureSums {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.add(index, connection);
    }
}
