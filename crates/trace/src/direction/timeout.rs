//! A retransmission timeout until it is repaired.

use tcplab_units::Offset;

use super::scoreboard::Scoreboard;
use crate::Range;
use crate::fold::folded;
use crate::observers::AckEffect;
use crate::ranges::Ranges;

#[derive(Debug)]
pub(super) struct Timeout {
    /// Recovery ends when this is acknowledged.
    pub(super) point: Offset,
    /// Later transmissions have at least this order.
    pub(super) order: u64,
    /// Data SACKed then or retransmitted since: other data acknowledged below `point` came by the
    /// original, so the timeout was spurious (F-RTO, RFC 5682; Linux's `FLAG_ORIG_SACK_ACKED`).
    pub(super) known: Ranges,
    /// F-RTO is still undecided.
    pub(super) in_doubt: bool,
}
folded! { Timeout { point, order, known, in_doubt } }

impl Timeout {
    /// Whether an ACK shows that an original arrived.
    pub(super) fn was_spurious(
        &mut self,
        effect: AckEffect,
        before: Offset,
        board: &Scoreboard,
    ) -> bool {
        if !self.in_doubt {
            return false;
        }
        let newly = Range { start: before, end: board.una.min(self.point) };
        if effect.advanced && !newly.is_empty() && !self.known.missing(newly).is_empty() {
            return true;
        }
        if effect.sacked {
            let original = |order: u64| {
                order < self.order && board.log.get(order).is_some_and(|sent| !sent.repeat)
            };
            if effect.earliest_sacked.is_some_and(original) {
                return true;
            }
            // RFC 5682 section 3.1, step 3: data sent after the timeout arrived first.
            self.in_doubt = false;
        }
        false
    }
}
