//! RACK: lost is what was sent long enough before something that was delivered (RFC 8985 section 6,
//! `tcp_recovery.c`).

use tcplab_units::{Instant, Span};

use crate::congestion::State;
use crate::sender::alarm::Purpose;
use crate::sender::scoreboard::Record;
use crate::sender::undo::REORDERING_RECOVERIES;
use crate::sender::{Sender, micros};

/// Added to RACK's timer, so that it does not run out before its time (`TCP_TIMEOUT_MIN_US`).
const SLACK: u64 = 2_000;

/// The segment sent last of those delivered, and the reordering window.
#[derive(Debug, Default)]
pub(in crate::sender) struct Rack {
    /// Which transmission it was. Linux compares times, and ends where these are equal; in a world
    /// where much happens at one time the order itself is what is meant.
    order: u64,
    /// Its round trip, µs.
    rtt: u64,
    /// Whether something was delivered since losses were looked for.
    pub(in crate::sender) advanced: bool,
    /// A D-SACK came since the window was adapted.
    pub(in crate::sender) dsack_seen: bool,
    /// The window in quarters of the shortest round trip, less one.
    more_steps: u8,
    /// Recoveries for which it stays.
    pub(in crate::sender) persist: u8,
    /// `delivered` when it was adapted.
    adapted_at: u64,
}

impl Sender {
    /// Something was delivered (`tcp_rack_advance`).
    pub(in crate::sender) fn advance_rack(&mut self, now: u64, record: &Record) {
        let rtt = now.saturating_sub(record.sent);
        // Faster than any round trip: it is the original that arrived, not the repetition.
        if record.was_repeated() && self.trip.shortest().is_none_or(|least| rtt < least) {
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt = rtt;
        self.rack.order = self.rack.order.max(record.order);
    }

    /// How long a record may still take with that reordering window, µs (`tcp_rack_skb_timeout`).
    pub(in crate::sender) fn rack_remaining(&self, now: u64, number: u64, window: u64) -> i64 {
        let sent = self.board.get(number).sent;
        (self.rack.rtt + window) as i64 - now.saturating_sub(sent) as i64
    }

    /// `tcp_rack_reo_wnd`, µs.
    fn reordering_window(&self) -> u64 {
        let unseen = self.counters.reorderings == 0;
        let sure = self.window.state >= State::Recovery || self.board.sacked_out >= self.reordering;
        if unseen && sure {
            return 0;
        }
        let quarter = self.trip.shortest().map_or(u64::MAX >> 9, |least| least >> 2);
        let steps = u64::from(self.rack.more_steps) + 1;
        (quarter * steps).min(self.trip.smoothed().unwrap_or(0))
    }

    /// Marks what is lost by now; sets the timer for what may yet be, and says whether it did.
    pub(super) fn rack_mark(&mut self, now: Instant) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait = self.rack_detect(micros(now));
        if wait == 0 {
            return false;
        }
        let span = Span::from_micros(wait + SLACK).min(self.timeout.now);
        self.set_alarm(now, Purpose::Reordering, span);
        true
    }

    /// In the order of sending, up to what was delivered (`tcp_rack_detect_loss`). Gives how long
    /// the last of those not yet lost may still take, µs.
    pub(in crate::sender) fn rack_detect(&mut self, now: u64) -> u64 {
        let window = self.reordering_window();
        let mut wait = 0;
        let mut at = self.board.oldest_sent();
        while let Some(number) = at {
            let record = self.board.get(number);
            if record.order >= self.rack.order {
                break;
            }
            at = self.board.sent_next(number);
            let remaining = self.rack_remaining(now, number, window);
            if remaining <= 0 {
                self.mark_lost(number);
            } else {
                wait = wait.max(remaining as u64);
            }
        }
        wait
    }

    /// D-SACKs widen the window, sixteen recoveries without make it as it was
    /// (`tcp_rack_update_reo_wnd`).
    pub(in crate::sender) fn adapt_reordering_window(&mut self, prior_delivered: u64) {
        if prior_delivered == 0 {
            return;
        }
        let rack = &mut self.rack;
        // Once for each round trip.
        if prior_delivered < rack.adapted_at {
            rack.dsack_seen = false;
        }
        if rack.dsack_seen {
            rack.more_steps = rack.more_steps.saturating_add(1).min(0xfe);
            rack.dsack_seen = false;
            rack.adapted_at = self.rate.delivered;
            rack.persist = REORDERING_RECOVERIES;
        } else if rack.persist == 0 {
            rack.more_steps = 0;
        }
    }
}
