//! Data sent in turn: each end speaks when all that the other one said has arrived.
//!
//! Such an exchange costs a round trip, however little is said. Whoever is nearer to the capture
//! point, two conditions tell it from data that merely flow in both directions: nothing of either
//! end is outstanding when one speaks, and it speaks no sooner than the other's data can have
//! reached it.

use std::mem::take;

use tcplab_units::{Instant, Span};
use tcplab_wire::SeqNumber;

use super::event::{SendEvent, Way};
use crate::fold::folded;
use crate::{Flow, Occurrences, SegmentKind};

/// Whoever waited for an answer goes on within half a round trip, or within this time.
const AT_ONCE: Span = Span::from_millis(1);

/// The turns of one direction's sender.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    all: Occurrences,
    prompt: u64,
    /// Its latest data, and their end.
    latest: Option<(Instant, SeqNumber)>,
    /// The other end's latest data.
    heard: Option<(Instant, SeqNumber)>,
    /// The end of those that its latest data followed.
    answered: Option<SeqNumber>,
}
folded! { Turns { all, prompt, latest, heard, answered } }

impl Turns {
    /// The other end's latest data.
    #[inline(always)]
    pub(crate) fn learn(&mut self, other: &Turns) {
        self.heard = other.latest;
    }

    /// A packet of the direction; `way`: how far its sender is.
    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>, way: impl FnOnce() -> Way) {
        if sent.kind != SegmentKind::New || sent.payload == 0 {
            return;
        }
        let packet = sent.packet;
        if let Some((spoke, end)) = self.heard
            && self.answered != Some(end)
        {
            self.answered = Some(end);
            let is_alone = sent.in_flight == packet.sequence_len();
            if is_alone && packet.ack == Some(end) {
                self.turn(packet.at.since(spoke), (packet.at, packet.frame), way());
            }
        }
        self.latest = Some((packet.at, packet.end()));
    }

    /// It speaks so long after the other end.
    fn turn(&mut self, after: Span, (at, frame): (Instant, u64), way: Way) {
        // The least round trip is that of a small packet, perhaps rounded.
        if after < way.distance * 7 / 8 {
            return;
        }
        self.all.add(at, frame);
        let waited_for = (way.round_trip / 2).max(AT_ONCE);
        self.prompt += u64::from(after.saturating_sub(way.distance) <= waited_for);
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        flow.marks.turns = take(&mut self.all);
        flow.marks.prompt_turns = self.prompt;
    }
}
