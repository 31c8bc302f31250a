//! How long the sender had neither sent nor received anything.

use tcplab_units::{Instant, Span};
use tcplab_wire::SeqNumber;

use super::{Moment, PROMPT, SHORTEST_TIMER, SLACK, SenderModel};
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
    /// [`Knowledge`](crate::direction::knowledge), is how soon it has what passed here. What the
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
