//! Signs of loss: a direction between the first of them and the repair.

use std::mem::take;

use tcplab_units::{Bytes, Instant, Offset};
use tcplab_wire::QuotedSegment;

use super::DirectionState;
use super::sack::offset;
use crate::direction::episodes::AckMark;
use crate::direction::recovery::RecoveryTracker;
use crate::observers::AckEffect;
use crate::packet::Packet;
use crate::{Episode, MergedReport, Range, TooBigReport};

impl DirectionState {
    pub(super) fn mark(
        &self,
        packet: &Packet,
        effect: &AckEffect,
        bare_duplicate: bool,
    ) -> AckMark {
        AckMark {
            at: packet.at,
            frame: packet.frame,
            una: self.board.una,
            position: self.board.log.next(),
            sacked: effect.earliest_sacked,
            bare_duplicate,
            too_big: false,
        }
    }

    /// ICMP reported a segment of this direction as too big for a path MTU of `mtu` bytes.
    #[cold]
    pub(crate) fn on_too_big(
        &mut self,
        (at, frame): (Instant, u64),
        quoted: &QuotedSegment,
        mtu: u32,
    ) {
        let Some(positions) = self.positions else { return };
        let (una, high) = (self.board.una, self.board.high);
        let position = positions.position(quoted.seq);
        if position < 0 || !(una..high).contains(&offset(position)) {
            return;
        }
        self.settled = None;
        if let Some(sent) = self.sent_smaller(offset(position), quoted).filter(|&len| len <= mtu) {
            let report = TooBigReport { at, frame, mtu };
            self.observers.on_merged(MergedReport { report, len: quoted.len, sent });
            return;
        }
        if !self.sender_model.on_too_big(at, frame, mtu, &self.board) {
            return;
        }
        self.observers.on_too_big(TooBigReport { at, frame, mtu });
        let position = self.board.log.next();
        let mark = AckMark {
            at,
            frame,
            una,
            position,
            sacked: None,
            bare_duplicate: false,
            too_big: true,
        };
        let recovery =
            self.recovery.get_or_insert_with(|| Box::new(RecoveryTracker::open(mark, &self.board)));
        recovery.on_icmp(mark, &self.board);
    }

    /// The length of the packet that the sender sent here, if that quoted has more data: something
    /// on the path merged it with others.
    fn sent_smaller(&self, start: Offset, quoted: &QuotedSegment) -> Option<u32> {
        let log = &self.board.log;
        let first = Range { start, end: start + Bytes::new(1) };
        let sent = log.overlapping(first).into_iter().filter_map(|order| log.get(order));
        let sent = sent.filter(|sent| sent.range.start == start).map(|sent| sent.payload).max()?;
        let (sent, data) = (u32::try_from(sent).ok()?, quoted.data?);
        (sent < data).then(|| quoted.len - data + sent)
    }

    pub(super) fn start_recovery(&mut self, packet: &Packet) {
        if self.recovery.is_none() {
            let mark = self.mark(packet, &AckEffect::default(), false);
            self.recovery = Some(Box::new(RecoveryTracker::open(mark, &self.board)));
        }
    }

    /// Follows an ACK during recovery; returns finished episodes.
    #[inline(never)]
    pub(super) fn track_recovery(
        &mut self,
        packet: &Packet,
        effect: &AckEffect,
        bare_duplicate: bool,
    ) -> Vec<Episode> {
        self.gave_up |= take(&mut self.board.sacked.gave_up);
        self.start_recovery(packet);
        let mark = self.mark(packet, effect, bare_duplicate);
        let Some(recovery) = &mut self.recovery else { return Vec::new() };
        if bare_duplicate {
            recovery.suspect(&self.board);
        }
        let (episodes, calm) = recovery.on_ack(mark, &mut self.board);
        self.gave_up |= take(&mut self.board.log.gave_up);
        if calm {
            self.recovery = None;
            self.board.forget_acknowledged();
        }
        episodes
    }
}
