//! What the sender knew when it sent a packet that is captured away from it.
//!
//! An ACK that passes the capture point takes the way to the sender, and the answer the way back.
//! Packets that pass meanwhile follow from what the sender knew before. The least round trip to the
//! sender, less a quarter for paths whose delay varies, bounds that time from below. The timestamp
//! that a packet echoes (RFC 7323 section 4.3) tells more: ACKs with a later one had not arrived.

use std::collections::VecDeque;

use tcplab_units::{Instant, Offset, Span};
use tcplab_wire::SeqNumber;

use super::scoreboard::Scoreboard;
use crate::LossRule;
use crate::fold::folded;

/// A shorter way to the sender and back is that of a packet through its host.
const LEAST: Span = Span::from_micros(200);
/// As many ACKs on their way are kept.
const MOST: usize = 512;
/// Duplicate ACKs that indicate a loss (RFC 5681 section 3.2, RFC 6675 section 2: `DupThresh`).
pub(super) const THRESHOLD: u64 = 3;

/// The ACKs received so far, as far as they prompt retransmissions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Knowledge {
    /// Everything before this is acknowledged.
    pub(super) una: Offset,
    /// Duplicate ACKs since the cumulative ACK advanced.
    pub(super) duplicates: u64,
    /// Fast recovery until this is acknowledged (RFC 6582 section 3.2, RFC 6675 section 5).
    pub(super) recovery: Option<Offset>,
    /// The highest byte sent when the last recovery began or timer expired (RFC 6582: `recover`).
    pub(super) recover: Offset,
    /// The end of the highest SACK block.
    pub(super) sacked: Option<Offset>,
    /// The ACK that revealed the loss of the segment at `una`, until that is retransmitted.
    pub(super) revealed: Option<Revealed>,
}
folded! { Knowledge { una, duplicates, recovery, recover, sacked, revealed } }

/// An ACK that reveals a loss by an RFC's rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Revealed {
    pub(super) by: LossRule,
    pub(super) ack: HeardAck,
    /// The end of the highest byte sent until then.
    pub(super) high: Offset,
}
folded! { Revealed { by, ack, high } }

/// An ACK: when it passed, in which frame, with which timestamp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeardAck {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) clock: Option<u32>,
    /// The sequence number after its data, if it has some.
    pub(crate) data_end: Option<SeqNumber>,
}
folded! { HeardAck { at, frame, clock, data_end } }

impl Knowledge {
    /// Less evidence of a loss than a rule asks for.
    pub(super) fn is_little(&self) -> bool {
        self.duplicates < THRESHOLD && self.revealed.is_none() && self.recovery.is_none()
    }

    /// Which rule now has the sender retransmit the segment at `una`. After a timeout only SACK
    /// tells of further losses (RFC 6675 section 5.1; RFC 6582 section 4.1: duplicate ACKs may
    /// answer the retransmissions).
    pub(super) fn rule(
        &self,
        advanced: bool,
        after_timeout: bool,
        board: &Scoreboard,
    ) -> Option<LossRule> {
        let byte = Offset::new(self.una.as_u64() + 1);
        if self.una >= board.high || self.una == Offset::ZERO {
            return None;
        }
        if !board.sacked.is_empty() {
            let len = board.oldest().map(|sent| sent.range.len());
            let above = board.sacked.above(byte);
            // RFC 6675 section 4, `IsLost`.
            let is_lost = above.ranges >= THRESHOLD
                || len.is_some_and(|len| above.bytes > (THRESHOLD - 1) * len);
            let enough = self.duplicates >= THRESHOLD && !after_timeout;
            return (is_lost || enough).then_some(LossRule::Sack);
        }
        if after_timeout {
            None
        } else if self.duplicates >= THRESHOLD && self.una > self.recover {
            // RFC 6582 section 3.2, step 2: not below `recover`.
            Some(LossRule::DuplicateAcks)
        } else {
            (advanced && self.recovery.is_some()).then_some(LossRule::PartialAck)
        }
    }
}

/// ACKs that passed the capture point and have not been answered yet.
#[derive(Debug, Default)]
pub(super) struct InTransit {
    /// The round trip from the capture point to the sender.
    beyond: Span,
    acks: VecDeque<(HeardAck, Knowledge)>,
}
folded! { InTransit { beyond, acks } }

impl InTransit {
    /// Until the first retransmission: the sender's reaction in the handshake.
    pub(super) fn opened(&mut self, beyond: Span) {
        self.beyond = beyond;
    }

    /// An ACK with news passed; `before`: what the sender knew without it.
    #[inline]
    pub(super) fn passed(&mut self, ack: HeardAck, before: Knowledge) {
        if self.beyond < LEAST {
            return;
        }
        if self.acks.len() >= MOST {
            self.acks.pop_front();
        }
        self.acks.push_back((ack, before));
        while self.acks.front().is_some_and(|(first, _)| first.at + self.beyond * 4 < ack.at) {
            self.acks.pop_front();
        }
    }

    /// What the sender knew when it sent a packet that passes `at` this time and echoes this
    /// timestamp: `now` where all ACKs had arrived. And when the latest ACK passed whose arrival
    /// the timestamp proves.
    pub(super) fn known(
        &mut self,
        (at, beyond): (Instant, Span),
        echo: Option<u32>,
        now: Knowledge,
    ) -> (Knowledge, Option<Instant>) {
        self.beyond = beyond;
        if beyond < LEAST {
            self.acks.clear();
            return (now, None);
        }
        let after = |clock: u32| echo.map(|echo| clock.wrapping_sub(echo) as i32);
        let is_proven = |ack: &HeardAck| ack.clock.and_then(after).is_some_and(|after| after <= 0);
        let had_arrived = |ack: &HeardAck| {
            let later = ack.clock.and_then(after).is_some_and(|after| after > 0);
            ack.at + beyond * 3 / 4 <= at && !later
        };
        let arrived = self.acks.iter().take_while(|(ack, _)| had_arrived(ack)).count();
        let known = self.acks.get(arrived).map_or(now, |&(_, before)| before);
        let proven = self.acks.range(..arrived).rev().find(|(ack, _)| is_proven(ack));
        (known, proven.map(|(ack, _)| ack.at))
    }

    /// What the sender did changes what prompts it next.
    pub(super) fn change(&mut self, mut change: impl FnMut(&mut Knowledge)) {
        self.acks.iter_mut().for_each(|(_, before)| change(before));
    }
}
