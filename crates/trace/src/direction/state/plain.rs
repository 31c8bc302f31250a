//! The fast path through a direction: data in order, or an ACK of data sent once and in order.
//!
//! Each function equals [`DirectionState::sent`] or [`DirectionState::answered`] for a case without
//! anything to classify. The observers are the same, compiled once more for the case.

use tcplab_units::{Bytes, Offset};

use super::wanted::{acknowledgement, repetition, transmitted};
use super::{DirectionState, heard_in};
use crate::direction::transmissions::Transmission;
use crate::observers::AckEvent;
use crate::packet::Packet;
use crate::{Ack, Range, Segment};

/// The acknowledgement in a plain packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlainAck {
    /// The same as several before: no effect at all.
    Still,
    /// The same as the previous one.
    Again,
    /// Everything before this arrived: data sent once and in order.
    Arrived(Offset),
}

impl DirectionState {
    /// Whether nothing that it sent is outstanding.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.board.una >= self.board.high
    }

    /// Whether a plain packet continues the stream and is plainly new data or a bare ACK. Then
    /// [`DirectionState::go_on`] equals [`DirectionState::sent`].
    #[inline]
    pub(crate) fn goes_on(&self, packet: &Packet) -> bool {
        let Some(positions) = &self.positions else { return false };
        let high = self.board.high;
        if positions.position(packet.seq) != high.as_u64() as i64 {
            return false;
        }
        if packet.payload == 0 {
            // It cannot be a probe below the acknowledged data.
            return !self.classifier.send_order.repeats(packet);
        }
        // It may be a zero-window probe, a timer's, or a retransmission.
        self.last_window != Some(0)
            && (self.board.una >= high || self.sender_model.has_just_sent(packet.at))
            && self.classifier.is_next()
            && !self.board.log.is_full()
    }

    /// Follows a packet that [continues](DirectionState::goes_on); its data, if a sink wants them.
    #[inline]
    pub(crate) fn go_on(&mut self, packet: &Packet) -> Option<Box<Segment>> {
        if let Some(positions) = &mut self.positions {
            positions.advance(packet.seq);
        }
        if packet.payload == 0 {
            self.classifier.passed(packet, None);
            None
        } else {
            self.send(packet)
        }
    }

    #[inline(never)]
    fn send(&mut self, packet: &Packet) -> Option<Box<Segment>> {
        self.settled = None;
        let payload = u64::from(packet.payload);
        let start = self.board.high;
        let range = Range { start, end: start + Bytes::new(payload) };
        if self.ends_small(payload) {
            self.sender_model.sends_small(range, self.board.una);
        }
        let classification = self.sender_model.sends(packet.at, packet.frame);
        let timer = classification.timer;
        self.board.high = range.end;
        self.board.log.push(Transmission { timer, ..Transmission::of(packet, range, payload) });
        self.classifier.passed(packet, Some(range));
        self.totals.unique += Bytes::new(payload);
        let sent = self.count(packet, range, payload, start, classification);
        self.observers.on_send_plain(&sent);
        packet.wanted.then(|| transmitted(sent))
    }

    /// The acknowledgement in a plain packet of the opposite direction, if the fast path handles
    /// it: [`DirectionState::on_plain_ack`] then equals [`DirectionState::answered`].
    #[inline]
    pub(crate) fn plain_ack(&self, packet: &Packet, window: Option<Bytes>) -> Option<PlainAck> {
        let (positions, number) = (self.positions.as_ref()?, packet.ack?);
        if self.settled == Some((number, packet.window)) && packet.payload > 0 {
            return Some(PlainAck::Still);
        }
        let ack = positions.position(number);
        let board = &self.board;
        let (una, high) = (board.una.as_u64() as i64, board.high.as_u64() as i64);
        if ack > una {
            let calm = ack <= high
                && board.is_plain()
                && self.recovery.is_none()
                && self.spurious_detector.are_below(board.una, packet.at)
                && self.classifier.gaps.is_empty();
            return calm.then_some(PlainAck::Arrived(Offset::new(ack as u64)));
        }
        let again = ack == una && self.is_repeated(packet, board.una, window);
        again.then_some(PlainAck::Again)
    }

    /// Follows such an acknowledgement, which is returned if a sink wants it.
    #[inline]
    pub(crate) fn on_plain_ack(
        &mut self,
        ack: PlainAck,
        packet: &Packet,
        window: Option<Bytes>,
    ) -> Option<Box<Ack>> {
        self.hear_marks(packet, false);
        match ack {
            PlainAck::Still => {
                self.observers.on_still_ack(packet);
                self.sender_model.hears(heard_in(packet));
            }
            PlainAck::Again => self.heard_again(packet, window),
            PlainAck::Arrived(ack) => return self.arrived(ack, packet, window),
        }
        packet.wanted.then(|| repetition(packet, self.board.una, window, self.board.in_flight()))
    }

    /// Everything before `ack` arrived.
    #[inline(never)]
    fn arrived(&mut self, ack: Offset, packet: &Packet, window: Option<Bytes>) -> Option<Box<Ack>> {
        self.settled = None;
        let before = self.board.una;
        let effect = self.board.arrived(ack, packet.at);
        self.window_edge = window.map(|window| ack + window);
        let fresh = self.data_before(ack).saturating_sub(self.data_before(before));
        let heard = AckEvent {
            packet,
            ack,
            before,
            fresh,
            window,
            sack: &[],
            dsack: None,
            effect,
            duplicate: false,
            unread: false,
            copied: false,
            unsent: false,
            high: self.board.high,
            in_flight: self.board.high.since(ack).as_u64(),
        };
        self.observers.on_ack_plain(&heard);
        let wanted = packet.wanted.then(|| acknowledgement(heard));
        self.sender_model.heard(heard_in(packet), effect, before, false, &self.board);
        self.last_window = Some(packet.window);
        self.totals.pure_acks += u64::from(packet.payload == 0);
        self.totals.max_window = self.totals.max_window.max(window);
        wanted
    }
}
