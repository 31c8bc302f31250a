//! The latest packets of a trial, as its client's end sees them.

use std::collections::VecDeque;

use tcplab_trace::{Ack, FlowId, Segment};
use tcplab_units::Instant;

use crate::row::PacketRow;

/// Packets that are kept: what a page shows one below the other.
const KEPT: usize = 24;

/// What the analyser said of a packet.
#[derive(Debug)]
pub(crate) enum Packet {
    Segment(FlowId, Segment),
    Ack(FlowId, Ack),
}

/// The latest packets. They become rows when they are told, as most are not.
#[derive(Debug, Default)]
pub(crate) struct Latest {
    packets: VecDeque<(Instant, Packet)>,
    /// Counts packets.
    pub(crate) count: u64,
}

impl Latest {
    pub(crate) fn keep(&mut self, packet: Packet, at: Instant) {
        // A packet with data is one, and another for what it acknowledges.
        if self.packets.len() >= 2 * KEPT {
            self.packets.pop_front();
        }
        self.packets.push_back((at, packet));
        self.count += 1;
    }

    pub(crate) fn rows(&self) -> Vec<PacketRow> {
        let mut rows = Vec::new();
        for (at, packet) in &self.packets {
            match packet {
                Packet::Segment(flow, segment) => {
                    rows.push(PacketRow::of_segment(*flow, segment, *at));
                }
                Packet::Ack(flow, ack) => {
                    PacketRow::put(&mut rows, PacketRow::of_ack(*flow, ack, *at));
                }
            }
        }
        rows.sort_by_key(|row| row.frame);
        rows.drain(..rows.len().saturating_sub(KEPT));
        rows
    }
}
