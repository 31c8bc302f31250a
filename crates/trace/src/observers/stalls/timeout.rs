//! Why a timer had to run out, seen from how the loss was repaired.

use tcplab_units::{Instant, Offset, Span};

use crate::observers::event::{AckEvent, SendEvent};
use crate::{Range, StallCause};

/// Fewer segments than this in flight cannot cause three duplicate acknowledgements.
const FEW: u64 = 4;

/// What happens after a timer's sending until what was in flight then is acknowledged.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations, not a state")]
pub(crate) struct Repair {
    /// What the timer sent, and when.
    range: Range,
    at: Instant,
    /// It carried new data: what was in flight was not retransmitted.
    fresh: bool,
    /// The oldest byte in flight, and the end.
    oldest: Offset,
    high: Offset,
    /// How many bytes were.
    in_flight: u64,
    /// Fewer segments than it takes.
    few: bool,
    /// The receiver's window allowed no more.
    window_full: bool,
    /// Bytes retransmitted since.
    resent: u64,
    repaired: Option<Instant>,
    /// The sender had more to send.
    more: bool,
    /// The data had arrived.
    spurious: bool,
}

impl Repair {
    /// `in_flight`, `room`: before it was sent.
    pub(crate) fn new(
        sent: &SendEvent<'_>,
        in_flight: u64,
        full: u64,
        room: Option<u64>,
    ) -> Repair {
        let fresh = sent.range.start >= sent.high;
        Repair {
            range: sent.range,
            at: sent.packet.at,
            fresh,
            oldest: sent.una,
            high: sent.high,
            in_flight,
            few: in_flight < FEW * full,
            window_full: room.is_some_and(|room| room < full),
            resent: if fresh { 0 } else { sent.payload },
            repaired: None,
            more: fresh,
            spurious: false,
        }
    }

    /// A later sending of the direction. `limit`: how long a sender with data would not wait.
    pub(crate) fn sent(&mut self, sent: &SendEvent<'_>, limit: Span) {
        if sent.range.start >= sent.high {
            let soon = self.repaired.is_none_or(|at| sent.packet.at.since(at) <= limit / 2);
            self.more |= soon && sent.payload > 0;
        } else if sent.range.start < self.high {
            self.resent += sent.payload;
        }
    }

    /// `smoothed`: the round trip.
    pub(crate) fn heard(&mut self, heard: &AckEvent<'_>, smoothed: Span) {
        let at = heard.packet.at;
        // The oldest segment is what the timer retransmits in the end, if not at first.
        let again = |block: Range| {
            block.overlaps(self.range) || block.start <= self.oldest && self.oldest < block.end
        };
        self.spurious |= heard.dsack.is_some_and(again);
        if heard.ack > heard.before && heard.before <= self.range.start && !self.fresh {
            // Eifel (RFC 3522) by the clock: an answer so soon answers the original.
            self.spurious |= heard.ack >= self.range.end && at.since(self.at) < smoothed / 2;
        }
        if heard.ack >= self.high {
            self.repaired.get_or_insert(at);
        }
    }

    /// Whether the cause is final: a D-SACK takes a round trip, the sender's next data as long.
    pub(crate) fn is_certain(&self, at: Instant, limit: Span) -> bool {
        self.repaired.is_some_and(|repaired| at.since(repaired) > limit || self.spurious)
    }

    pub(crate) fn cause(&self) -> StallCause {
        if self.spurious {
            StallCause::AckLoss
        } else if self.resent == 0 && self.repaired.is_some() {
            StallCause::PacketDelay
        } else if self.few {
            match (self.window_full, self.more) {
                (true, _) => StallCause::SmallReceiveWindow,
                (false, false) => StallCause::TailLoss,
                (false, true) => StallCause::SmallWindow,
            }
        } else if self.resent >= self.in_flight {
            StallCause::ContinuousLoss
        } else if !self.more && self.repaired.is_some() {
            StallCause::TailLoss
        } else {
            StallCause::Timeout
        }
    }
}
