//! Why a timer had to run out, by what the receiver's packets prove.
//!
//! Before the timer: duplicate ACKs and SACK blocks say that data after a gap had arrived. After
//! it: a D-SACK or an echo of the original's timestamp says that nothing was missing; an ACK that
//! jumps beyond what was retransmitted says that the rest had arrived. Without any of these the
//! loss is known only beside the sender, where everything sent is captured.

use tcplab_units::{Instant, Offset, Span};

use crate::fold::folded;
use crate::observers::event::{AckEvent, SendEvent};
use crate::{Range, Sign, Spurious, StallCause};

/// Fewer segments than this in flight cannot cause three duplicate acknowledgements.
const FEW: u64 = 4;
/// As many of them reveal a loss (RFC 5681 section 3.2).
const THRESHOLD: u64 = 3;

/// What happens after a timer's sending until what was in flight then is acknowledged.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations, not a state")]
pub(crate) struct Repair {
    /// What the timer sent, and with which timestamp.
    range: Range,
    clock: Option<u32>,
    at: Instant,
    /// The smallest round trip from the capture point to the receiver.
    least: Option<Span>,
    before: Before,
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
    /// Sequence numbers retransmitted since: bytes, and a FIN.
    resent: u64,
    repaired: Option<Instant>,
    /// The sender had more to send.
    more: bool,
    /// The data had arrived.
    spurious: bool,
    /// The end of what was retransmitted since without a gap.
    resent_to: Offset,
    /// The first ACK since covered more than was retransmitted; of a probe with new data, it
    /// covered the probe and was an answer to it.
    jumped: Option<bool>,
    /// The receiver does not delay the ACK of so much (RFC 9293 section 3.8.6.3).
    at_once: bool,
    /// The end of the data had arrived.
    tail_arrived: bool,
}
folded! {
    Repair {
        range, clock, at, least, before, fresh, oldest, high, in_flight, few, window_full, resent,
        repaired, more, spurious, resent_to, jumped, at_once, tail_arrived
    }
}

/// What was known before the timer sent.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations, not a state")]
pub(crate) struct Before {
    /// The oldest segment had been retransmitted.
    pub(crate) resent: bool,
    /// ACKs that reached the sender had revealed the loss.
    pub(crate) ignored: bool,
    /// ACKs had revealed it that may have been lost behind the capture point.
    pub(crate) revealed: bool,
    /// Duplicate ACKs since the cumulative ACK advanced.
    pub(crate) duplicates: u64,
    /// Something above the oldest segment was SACKed.
    pub(crate) sacked: bool,
    /// Everything sent is captured.
    pub(crate) whole: bool,
    /// The receiver reports what arrives twice (D-SACK). Timestamps do not: the retransmission
    /// updates what is echoed (RFC 7323 section 4.3).
    pub(crate) reports: bool,
}
folded! { Before { resent, ignored, revealed, duplicates, sacked, whole, reports } }

impl Repair {
    /// The bytes in flight, of a full segment, and of the window's rest are those before it was
    /// sent.
    pub(crate) fn new(
        sent: &SendEvent<'_>,
        (in_flight, full, room): (u64, u64, Option<u64>),
        least: Option<Span>,
        before: Before,
    ) -> Repair {
        let fresh = sent.range.start >= sent.high;
        Repair {
            range: sent.range,
            clock: sent.packet.timestamps.map(|(value, _)| value),
            at: sent.packet.at,
            least,
            before: Before {
                ignored: sent.proof.by == Sign::IgnoredAcks,
                revealed: sent.was_revealed,
                whole: sent.whole,
                ..before
            },
            fresh,
            oldest: sent.una,
            high: sent.high,
            in_flight,
            few: sent.high.since(sent.una).as_u64() <= (FEW - 1) * full,
            window_full: room.is_some_and(|room| room < full),
            resent: if fresh { 0 } else { sent.range.len() },
            repaired: None,
            more: fresh,
            // The receiver's ACK of it had passed before.
            spurious: sent.proof.spurious == Some(Spurious::Acknowledged),
            resent_to: if fresh { sent.una } else { sent.range.end },
            jumped: None,
            at_once: in_flight >= 2 * full,
            tail_arrived: false,
        }
    }

    /// A later sending of the direction. `limit`: how long a sender with data would not wait.
    pub(crate) fn sent(&mut self, sent: &SendEvent<'_>, limit: Span) {
        if sent.range.start >= sent.high {
            let soon = self.repaired.is_none_or(|at| sent.packet.at.since(at) <= limit / 2);
            self.more |= soon && sent.payload > 0;
        } else if sent.range.start < self.high {
            self.resent += sent.range.len();
            if sent.range.start <= self.resent_to {
                self.resent_to = self.resent_to.max(sent.range.end);
            }
        }
    }

    pub(crate) fn heard(&mut self, heard: &AckEvent<'_>) {
        let at = heard.packet.at;
        // The oldest segment is what the timer retransmits in the end, if not at first.
        let again = |block: Range| {
            block.overlaps(self.range) || block.start <= self.oldest && self.oldest < block.end
        };
        self.spurious |= heard.dsack.is_some_and(again);
        let answers = heard.before <= self.range.start && heard.ack >= self.range.end;
        if heard.ack > heard.before && answers && !self.fresh {
            // Eifel (RFC 3522): the echo is of the original. Without timestamps the clock tells: so
            // soon an answer is one to the original.
            self.spurious |= match heard.packet.echo().zip(self.clock) {
                Some((echo, clock)) => (echo.wrapping_sub(clock) as i32) < 0,
                None => self.least.is_some_and(|least| at.since(self.at) < least * 3 / 4),
            };
            self.jumped.get_or_insert(heard.ack > self.resent_to);
        }
        if heard.ack > heard.before && self.fresh {
            let soon = self.least.is_some_and(|least| at.since(self.at) < least * 3 / 4);
            self.jumped.get_or_insert(heard.ack >= self.range.end && !soon);
        }
        if heard.ack >= self.high {
            self.tail_arrived |= self.repaired.is_none() && self.resent_to < self.high;
            self.repaired.get_or_insert(at);
        }
    }

    /// Whether the cause is final: a D-SACK takes a round trip, the sender's next data as long.
    pub(crate) fn is_certain(&self, at: Instant, limit: Span) -> bool {
        self.repaired.is_some_and(|repaired| at.since(repaired) > limit || self.spurious)
    }

    pub(crate) fn cause(&self) -> StallCause {
        let Before { resent, ignored, revealed, duplicates, sacked, whole, reports } = self.before;
        if self.spurious {
            StallCause::AckLoss
        } else if ignored {
            StallCause::IgnoredAcks
        } else if resent && reports {
            StallCause::DoubleLoss
        } else if revealed || duplicates >= THRESHOLD {
            // They may have been lost behind the capture point.
            StallCause::Undetermined
        } else if self.resent == 0 && self.repaired.is_some() {
            let lost = self.jumped == Some(true) && self.at_once;
            if lost { StallCause::AckLoss } else { StallCause::PacketDelay }
        } else if !whole || resent || self.is_ambiguous() {
            StallCause::Undetermined
        } else if self.few {
            match (self.window_full, self.more) {
                (true, _) => StallCause::SmallReceiveWindow,
                (false, false) if duplicates == 0 && !sacked => StallCause::TailLoss,
                (false, _) => StallCause::SmallWindow,
            }
        } else if self.nothing_arrived() {
            StallCause::ContinuousLoss
        } else if self.is_tail() {
            StallCause::TailLoss
        } else {
            StallCause::Timeout
        }
    }

    /// Without SACK and duplicate ACKs, what the ACK covers beyond the retransmission had arrived,
    /// and so may have the oldest segment: its ACK was lost, or the duplicate ACKs were. Of few
    /// segments the first may have arrived, too.
    fn is_ambiguous(&self) -> bool {
        let Before { duplicates, sacked, reports, .. } = self.before;
        let undecided = self.few || self.jumped == Some(true);
        duplicates == 0 && !sacked && !reports && undecided
    }

    /// Whether the last segments before a pause were lost, and nothing behind them arrived.
    fn is_tail(&self) -> bool {
        let Before { duplicates, sacked, .. } = self.before;
        let unheard = duplicates == 0 && !sacked && !self.tail_arrived;
        unheard && !self.more && self.repaired.is_some()
    }

    /// Whether everything in flight was lost: it was all retransmitted, and no ACK ran ahead of
    /// that.
    fn nothing_arrived(&self) -> bool {
        let Before { duplicates, sacked, .. } = self.before;
        let unheard = duplicates == 0 && !sacked && self.jumped != Some(true);
        unheard && self.resent >= self.in_flight && !self.tail_arrived
    }
}
