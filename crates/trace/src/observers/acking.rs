//! How the receiver acknowledges.

use std::mem::take;

use tcplab_units::{Bytes, Offset, Span};

use super::event::{AckEvent, SendEvent};
use crate::fold::folded;
use crate::{AckBehaviour, CapturePoint, Flow, Occurrences, SegmentKind};

/// An acknowledgement that comes later was held back on purpose.
const HELD_BACK: Span = Span::from_millis(10);

/// The acknowledgements of one direction's data.
#[derive(Debug, Default)]
pub(crate) struct Acking {
    acks: u64,
    duplicates: u64,
    unnecessary: u64,
    stretch: Occurrences,
    longest: u64,
    delayed: Occurrences,
    longest_delay: Span,
    /// The smallest age at which data were acknowledged.
    least_age: Option<Span>,
    /// Data arrived above a gap, which is not filled yet.
    hole: bool,
    /// Retransmitted or reordered segments that may each cause a duplicate ACK still to come. None
    /// of them was sent after `excused_until` was reached.
    excuses: u8,
    excused_until: Offset,
    sack: SackUse,
}
folded! {
    Acking {
        acks, duplicates, unnecessary, stretch, longest, delayed, longest_delay, least_age, hole,
        excuses, excused_until, sack
    }
}

/// Whether the receiver reports data above a gap (SACK).
#[derive(Debug, Default)]
struct SackUse {
    /// SYNs that offered it.
    offered_by_sender: bool,
    offered_by_receiver: bool,
    /// Blocks were seen.
    seen: bool,
    /// Blocks of data never sent.
    unsent: Occurrences,
}
folded! { SackUse { offered_by_sender, offered_by_receiver, seen, unsent } }

impl SackUse {
    fn is_certain(&self) -> bool {
        self.seen || (self.offered_by_sender && self.offered_by_receiver)
    }
}

impl Acking {
    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        if sent.kind != SegmentKind::New {
            self.excuses = self.excuses.saturating_add(1);
            self.excused_until = sent.high.max(sent.range.end);
        }
        self.sack.offered_by_sender |= sent.packet.sack_permitted;
    }

    /// A packet of the opposite direction; `full` is the size of a full segment.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>, full: Option<u64>) {
        if heard.ack > heard.before {
            self.advanced(heard, full);
        } else if heard.duplicate {
            self.duplicate(*heard);
        }
        self.sack.seen |= !heard.sack.is_empty();
        if heard.unsent && !heard.unread {
            self.sack.unsent.add(heard.packet.at, heard.packet.frame);
        }
        self.sack.offered_by_receiver |= heard.packet.sack_permitted;
        let una = heard.ack.max(heard.before);
        self.hole = heard.high.since(una).as_u64() != heard.in_flight;
    }

    /// A repeated ACK in a packet with data.
    pub(crate) fn on_repeated_ack(&mut self) {
        self.hole = false;
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        let mut habits = AckBehaviour {
            acks: self.acks,
            duplicates: self.duplicates,
            unnecessary: self.unnecessary,
            stretch: take(&mut self.stretch),
            longest: Bytes::new(self.longest),
            sack_unsent: take(&mut self.sack.unsent),
            ..AckBehaviour::default()
        };
        if flow.capture_point == CapturePoint::Receiver {
            habits.delayed = take(&mut self.delayed);
            habits.delay_max = self.longest_delay;
        }
        flow.acking = habits;
    }

    #[inline(always)]
    fn advanced(&mut self, heard: &AckEvent<'_>, full: Option<u64>) {
        let bare = heard.packet.is_bare();
        self.acks += u64::from(bare);
        // Data that waited above a gap are acknowledged with what filled it.
        let in_order = !self.hole && heard.before >= self.excused_until;
        if heard.before > self.excused_until {
            self.excuses = 0;
        }
        if !in_order {
            return;
        }
        let (at, frame) = (heard.packet.at, heard.packet.frame);
        let taken_in = heard.ack.since(heard.before).as_u64();
        self.longest = self.longest.max(taken_in);
        let Some(ages) = heard.effect.acked_ages else { return };
        let least = self.least_age.map_or(ages.last, |least| least.min(ages.last));
        self.least_age = Some(least);
        let Some(full) = full else { return };
        if taken_in > 2 * full {
            self.stretch.add(at, frame);
        } else if bare && taken_in <= full && ages.last > HELD_BACK && least <= HELD_BACK {
            self.delayed.add(at, frame);
            self.longest_delay = self.longest_delay.max(ages.last);
        }
    }

    /// A receiver that uses SACK names what it holds above a gap, and what it received twice (RFC
    /// 2018 section 4, RFC 2883): a duplicate without a block has no such reason, unless it was a
    /// retransmission and the receiver knows no D-SACK.
    #[inline(never)]
    fn duplicate(&mut self, heard: AckEvent<'_>) {
        self.duplicates += 1;
        // An answer to a probe is called for.
        let probed = heard.packet.window == 0;
        let has_news = !heard.packet.sack.is_empty() || heard.packet.options_cut;
        if probed || has_news || !self.sack.is_certain() {
            return;
        }
        if self.excuses > 0 {
            self.excuses -= 1;
        } else {
            self.unnecessary += 1;
        }
    }
}
