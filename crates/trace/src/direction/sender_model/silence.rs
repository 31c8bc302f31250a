//! How long the sender had neither sent nor received anything.

use tcplab_units::{Instant, Span};
use tcplab_wire::SeqNumber;

use super::{Moment, PROMPT, SHORTEST_TIMER, SLACK, SenderModel};
use crate::direction::classification::RetransmittedPacket;
use crate::direction::knowledge::Knowledge;
use crate::direction::scoreboard::Scoreboard;
use crate::{Proof, Sign};

impl SenderModel {
    /// How long both sides had been silent from the sender's view, and since which frame: `last`.
    pub(super) fn silence(at: Instant, last: Option<Moment>) -> Proof {
        Proof {
            by: Sign::Silence,
            frame: last.map(|last| last.frame),
            waited: last.map_or(Span::ZERO, |last| at.since(last.at)),
            ..Proof::default()
        }
    }
    /// [`SenderModel::silence`] before a packet that may acknowledge anything.
    pub(super) fn silence_before(&self, at: Instant, beyond: Span) -> Proof {
        SenderModel::silence(at, self.last_before(at, beyond, None))
    }

    /// The sender's last transmission or reception before the packet that passes at `at` and
    /// acknowledges `acked`. What follows an ACK within [`PROMPT`] answers it: a timer would expire
    /// just then by chance. The least round trip to the sender, less a quarter as in
    /// [`Knowledge`], is how soon it has what passed here. What the
    /// packet itself acknowledges it had in any case.
    pub(super) fn last_before(
        &self,
        at: Instant,
        beyond: Span,
        acked: Option<SeqNumber>,
    ) -> Option<Moment> {
        let beyond = if beyond > PROMPT { beyond } else { Span::ZERO };
        let shifted = |heard: Moment| Moment { at: (heard.at + beyond).min(at), ..heard };
        let had = |heard: &Moment| heard.at + beyond * 3 / 4 <= at;
        let read = self.heard_data.filter(|heard| {
            heard.moment.at <= at && acked.is_some_and(|ack| ack.distance_from(heard.end) >= 0)
        });
        let heard = self.last_heard.filter(had).or_else(|| self.heard_before.filter(had));
        let heard = heard.max(read.map(|heard| heard.moment)).map(shifted);
        heard.max(self.last_sent)
    }

    /// [`SenderModel::last_before`] and the silence before a retransmission; the sender is `proven`
    /// to have had the ACK that passed then.
    pub(super) fn silence_of(
        &self,
        again: &RetransmittedPacket,
        proven: Option<Instant>,
    ) -> (Option<Moment>, Proof) {
        let &RetransmittedPacket { at, beyond, ack, .. } = again;
        let moved = self.advanced.filter(|moved| proven == Some(moved.at) && moved.at <= at);
        let moved = moved.map(|moved| Moment { at: (moved.at + beyond).min(at), ..moved });
        let last = self.last_before(at, beyond, ack).max(moved);
        (last, SenderModel::silence(at, last))
    }

    /// Whether the packet shows that the sender had the last cumulative ACK, which by its least
    /// reaction it did not (`known`): without it, a timer or a first report of a loss would have it
    /// repeat what that covers. A probe repeats the newest data.
    pub(super) fn must_have_heard(
        &self,
        again: &RetransmittedPacket,
        known: &Knowledge,
        board: &Scoreboard,
    ) -> bool {
        let is_head = known.una < board.una && again.range.start == board.una;
        let is_first = known.sacked.is_none() && known.recovery.is_none() && known.duplicates == 0;
        // The reaction to the SYN-ACK may have been slow, but no more than half of it is waiting.
        let can_be = self.advanced.is_some_and(|ack| ack.at + again.beyond / 2 <= again.at);
        is_head && is_first && can_be && again.range.end < board.high && self.timeout.is_none()
    }

    /// Whether the frame that began the silence was sent, not received.
    pub(super) fn has_sent_last(&self, silent_since: Option<u64>) -> bool {
        silent_since.is_some() && self.last_sent.map(|last| last.frame) == silent_since
    }

    /// Whether both sides were silent, since `last`, for longer than anything but a timer explains.
    pub(super) fn is_silent(&self, at: Instant, beyond: Span, last: Option<Moment>) -> bool {
        let Some(last) = last else { return false };
        let quiet = at.since(last.at);
        quiet > SLACK && {
            let limit = (self.round_trip.unwrap_or_default() + beyond) / 2 + SLACK;
            quiet > limit.min(SHORTEST_TIMER)
        }
    }
}
