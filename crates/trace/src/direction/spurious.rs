//! Detects spurious retransmissions from the ACKs that follow.
//!
//! A D-SACK (RFC 2883) reports a segment received twice. An ACK that echoes a timestamp older than
//! the retransmission's shows that the original arrived (Eifel, RFC 3522).

use std::collections::VecDeque;

use tcplab_units::{Instant, Offset, Span};

use crate::fold::folded;
use crate::observers::AckEvent;
use crate::{Range, SegmentKind, Spurious, Timer};

/// The most retransmissions watched: more than most windows hold.
const MOST: usize = 256;
/// How long to wait for evidence after the acknowledgement.
const PATIENCE: Span = Span::from_secs(2);

/// Retransmissions whose evidence may still arrive.
#[derive(Debug, Default)]
pub(crate) struct SpuriousDetector {
    pending: VecDeque<PendingRetransmission>,
    /// Bounds of the pending ones: the earliest sent, the lowest end.
    earliest: Instant,
    lowest_end: Offset,
    /// None ends above.
    highest_end: Offset,
    /// How many at the front lie below the cumulative ACK: no echo concerns them.
    passed: usize,
    /// The cumulative ACK when they were counted.
    counted_at: Offset,
    /// D-SACKs of retransmitted data, and of data sent once: copies that the network made.
    repeats_reported: u32,
    copies_reported: u32,
}
folded! {
    SpuriousDetector {
        pending, earliest, lowest_end, highest_end, passed, counted_at, repeats_reported,
        copies_reported
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingRetransmission {
    pub(crate) range: Range,
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    /// Its timestamp, until evaluated.
    pub(crate) clock: Option<u32>,
    pub(crate) payload: u64,
    pub(crate) kind: SegmentKind,
    pub(crate) timer: Option<Timer>,
    /// It is known to be spurious.
    pub(crate) is_known: bool,
}
folded! { PendingRetransmission { range, at, frame, clock, payload, kind, timer, is_known } }

/// A retransmission that was found to be spurious.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundSpurious {
    /// `is_known` if it was found before.
    pub(crate) sent: PendingRetransmission,
    pub(crate) why: Spurious,
}

impl SpuriousDetector {
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether an ACK beyond `before` without D-SACK concerns none: all lie below and none expires.
    #[inline]
    pub(crate) fn are_below(&self, before: Offset, at: Instant) -> bool {
        self.is_empty() || self.highest_end <= before && at.since(self.earliest) < PATIENCE
    }

    pub(crate) fn sent(&mut self, repeat: PendingRetransmission) {
        if self.pending.len() == MOST {
            self.pending.pop_front();
            self.passed = self.passed.saturating_sub(1);
        }
        if self.pending.is_empty() {
            (self.earliest, self.lowest_end) = (repeat.at, repeat.range.end);
            self.highest_end = repeat.range.end;
        } else {
            self.earliest = self.earliest.min(repeat.at);
            self.lowest_end = self.lowest_end.min(repeat.range.end);
            self.highest_end = self.highest_end.max(repeat.range.end);
        }
        self.pending.push_back(repeat);
    }

    /// The retransmissions that an ACK shows to be spurious; `least`: the smallest RTT.
    pub(crate) fn on_ack(
        &mut self,
        heard: &AckEvent<'_>,
        least: Option<Span>,
    ) -> Vec<FoundSpurious> {
        if self.pending.is_empty() {
            self.copies_reported += u32::from(heard.dsack.is_some() && !heard.unread);
            return Vec::new();
        }
        let (at, frame) = (heard.packet.at, heard.packet.frame);
        let mut found = Vec::new();
        if let Some(dsack) = heard.dsack {
            let least = least.unwrap_or_default() * 3 / 4;
            // What is reported from behind its beginning on brought new data before.
            let can = |repeat: &PendingRetransmission| {
                let is_it = repeat.range.overlaps(dsack) && dsack.start <= repeat.range.start;
                is_it && at.since(repeat.at) >= least
            };
            if let Some(index) = self.pending.iter().rposition(can) {
                let repeat = self.pending.remove(index).expect("it was just found there");
                self.passed -= usize::from(index < self.passed);
                self.repeats_reported += 1;
                // Where the network makes copies, the report may be of one of these.
                if self.copies_reported <= self.repeats_reported {
                    found.push(FoundSpurious { sent: repeat, why: Spurious::DSack { frame } });
                }
            } else {
                self.copies_reported += u32::from(!heard.unread);
            }
        }
        let echo = heard.packet.echo();
        if heard.ack > heard.before
            && let Some(echo) = echo
        {
            self.echoed(heard.before, heard.ack, (echo, frame), &mut found);
        }
        if at.since(self.earliest) >= PATIENCE && self.lowest_end <= heard.ack {
            self.forget(heard.ack, at);
        }
        found
    }

    /// Drops acknowledged ones without expected evidence.
    #[cold]
    fn forget(&mut self, ack: Offset, now: Instant) {
        self.pending.retain(|repeat| repeat.range.end > ack || now.since(repeat.at) < PATIENCE);
        self.earliest = self.pending.iter().map(|repeat| repeat.at).min().unwrap_or_default();
        self.lowest_end = self.pending.iter().map(|r| r.range.end).min().unwrap_or_default();
        self.passed = 0;
    }

    /// The ACK passed these; the segment at the left edge set the echo (RFC 7323 section 4.3).
    fn echoed(
        &mut self,
        before: Offset,
        ack: Offset,
        (echo, frame): (u32, u64),
        found: &mut Vec<FoundSpurious>,
    ) {
        if before < self.counted_at {
            self.passed = 0;
        }
        self.counted_at = before;
        let behind = |repeat: &&PendingRetransmission| repeat.range.end <= before;
        self.passed += self.pending.range(self.passed..).take_while(behind).count();
        for repeat in self.pending.range_mut(self.passed..) {
            let at_edge = repeat.range.start <= before && repeat.range.end > before;
            let moved = at_edge && ack >= repeat.range.end;
            let older = |clock: u32| (echo.wrapping_sub(clock) as i32) < 0;
            // A D-SACK may still follow.
            if moved && repeat.clock.take().is_some_and(older) {
                found.push(FoundSpurious { sent: *repeat, why: Spurious::Echo { frame } });
                repeat.is_known = true;
            }
        }
    }
}
