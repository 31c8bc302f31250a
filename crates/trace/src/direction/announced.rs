//! Data that a packet without data announced, by its sequence number, before they came.

use std::cmp::Ordering;

use tcplab_units::Offset;

use super::classification::Classification;
use super::passed_packet::{Announced, SendStamp};
use super::retransmission::{Candidate, Classifier};
use super::scoreboard::Scoreboard;
use super::sender_model::{SHORTEST_TIMER, SenderModel};
use crate::packet::Packet;

impl Classifier {
    /// Remembers a packet without data above everything seen.
    pub(crate) fn announce(&mut self, next: Offset, packet: &Packet) {
        let stamp = SendStamp::of(packet);
        self.announced = Some(Announced { next, stamp, overtook: false });
    }

    /// The packet without data that overtook these data, by the sender's marks; of one that
    /// overtook several, once. Packets with data keep their order: some devices send ACKs first. At
    /// the sender the capture wrote it early.
    pub(crate) fn overtaken(&mut self, candidate: &Candidate<'_>) -> Option<SendStamp> {
        let beside = self.is_beside_sender(candidate.context);
        let announced = self.announced.filter(|it| candidate.range.start < it.next)?;
        let (order, _) = self.send_order.order(candidate.packet, &announced.stamp)?;
        if order != Ordering::Less || beside {
            return None;
        }
        self.counts.out_of_order += 1;
        self.announced = Some(Announced { overtook: true, ..announced });
        (!announced.overtook).then_some(announced.stamp)
    }

    /// Classifies data above everything captured that an earlier packet without data announced, if
    /// they are retransmitted, by the sender's marks or after an RTT.
    pub(crate) fn was_announced(
        &mut self,
        candidate: &Candidate<'_>,
        sender_model: &mut SenderModel,
        board: &Scoreboard,
    ) -> Option<Classification> {
        let Announced { next, stamp, .. } = self.announced?;
        if candidate.range.end >= next {
            self.announced = None;
        }
        if candidate.range.start >= next {
            return None;
        }
        let later = if let Some((order, _)) = self.send_order.order(candidate.packet, &stamp) {
            order == Ordering::Greater
        } else {
            // Without an RTT nothing separates it from one that was overtaken.
            let waited = candidate.packet.at.since(stamp.at);
            let least = candidate.context.distances.round_trip().or(board.min_round_trip)?;
            let prompted = sender_model.has_heard_since(&stamp) || waited >= SHORTEST_TIMER;
            waited > least * 3 / 4 && prompted
        };
        if !later {
            return None;
        }
        self.counts.not_captured += 1;
        let lost = (1, candidate.range.end >= next);
        Some(Classifier::retransmission(candidate, lost, sender_model, board))
    }
}
