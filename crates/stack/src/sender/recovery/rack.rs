//! RACK: a segment is lost if it was sent long enough before one that was delivered (RFC 8985
//! section 6, `tcp_recovery.c`).

use tcplab_units::Span;

use super::{Evidence, LossRecovery};
use crate::SendCause;
use crate::congestion::State;
use crate::sender::scoreboard::Record;

/// Added to RACK's timer, so that it does not expire early (`TCP_TIMEOUT_MIN_US`), µs.
const SLACK: u64 = 2_000;

/// Recoveries for which a wider window stays after a D-SACK (`TCP_RACK_RECOVERY_THRESH`).
const RECOVERIES: u8 = 16;

/// The segment sent last of those delivered, and the reordering window.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// Which transmission it was. Linux compares times, and ends where these are equal; in virtual
    /// time much happens at once, so this compares the order itself.
    order: u64,
    /// Its RTT, µs.
    rtt: u64,
    /// Whether something was delivered since losses were looked for.
    advanced: bool,
    /// A D-SACK arrived since the window was adapted.
    dsack_seen: bool,
    /// The window in quarters of the RTT minimum, less one.
    more_steps: u8,
    /// Recoveries for which the window stays.
    persist: u8,
    /// `delivered` when it was adapted.
    adapted_at: u64,
}

impl LossRecovery for Rack {
    fn mark_losses(&mut self, evidence: &mut Evidence<'_>, _advanced: bool) -> Option<Span> {
        if !std::mem::take(&mut self.advanced) {
            return None;
        }
        let wait = self.mark_overdue(evidence);
        (wait > 0).then(|| Span::from_micros(wait + SLACK).min(evidence.rto.current))
    }

    fn is_due(&self, evidence: &Evidence<'_>) -> bool {
        evidence.scoreboard.lost_out > 0
    }

    /// Marks segments lost in the order of sending, up to the one delivered
    /// (`tcp_rack_detect_loss`). Returns how long the others may still take at most, µs.
    fn mark_overdue(&self, evidence: &mut Evidence<'_>) -> u64 {
        let window = self.window(evidence);
        let mut wait = 0;
        let mut at = evidence.scoreboard.oldest_sent();
        while let Some(number) = at {
            if evidence.scoreboard.get(number).order >= self.order {
                break;
            }
            at = evidence.scoreboard.sent_next(number);
            let remaining = self.remaining(evidence, number, window);
            if remaining <= 0 {
                evidence.scoreboard.mark_overdue(number);
            } else {
                wait = wait.max(remaining as u64);
            }
        }
        wait
    }

    /// A segment was delivered (`tcp_rack_advance`).
    fn deliver(&mut self, now: u64, record: &Record, min_rtt: Option<u64>) {
        let rtt = now.saturating_sub(record.sent);
        // Faster than any round trip: the original arrived, not the retransmission.
        if record.was_retransmitted() && min_rtt.is_none_or(|least| rtt < least) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.order = self.order.max(record.order);
    }

    /// D-SACKs widen the window; sixteen recoveries without one reset it
    /// (`tcp_rack_update_reo_wnd`).
    fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered == 0 {
            return;
        }
        // Once per RTT.
        if prior_delivered < self.adapted_at {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.more_steps = self.more_steps.saturating_add(1).min(0xfe);
            self.dsack_seen = false;
            self.adapted_at = delivered;
            self.persist = RECOVERIES;
        } else if self.persist == 0 {
            self.more_steps = 0;
        }
    }

    fn hear_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// The window stays for one recovery less.
    fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    fn was_spurious(&mut self) {
        self.persist = (self.persist + 1).min(RECOVERIES);
    }

    fn undone(&mut self) {
        self.advanced = true;
    }

    fn spares(&self, evidence: &Evidence<'_>, number: u64) -> bool {
        self.remaining(evidence, number, 0) > 0
    }

    fn cause(&self) -> SendCause {
        SendCause::Rack
    }
}

impl Rack {
    /// How long a segment may still take with that reordering window, µs (`tcp_rack_skb_timeout`).
    fn remaining(&self, evidence: &Evidence<'_>, number: u64, window: u64) -> i64 {
        let sent = evidence.scoreboard.get(number).sent;
        (self.rtt + window) as i64 - evidence.now.saturating_sub(sent) as i64
    }

    /// The reordering window, µs (`tcp_rack_reo_wnd`).
    fn window(&self, evidence: &Evidence<'_>) -> u64 {
        let unseen = evidence.reordering.events == 0;
        let sure = evidence.state >= State::Recovery || evidence.reaches_threshold();
        if unseen && sure {
            return 0;
        }
        let quarter = evidence.rto.min_rtt().map_or(u64::MAX >> 9, |least| least >> 2);
        let steps = u64::from(self.more_steps) + 1;
        (quarter * steps).min(evidence.rto.smoothed().unwrap_or(0))
    }
}
