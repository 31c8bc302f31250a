//! Taking a reduction back that turned out needless: Eifel (RFC 3522) and D-SACK (RFC 3708).

use tcplab_units::Instant;

use super::Sender;
use super::ack::Facts;
use crate::congestion::State;

/// Most recoveries for which RACK keeps its wider window after a D-SACK
/// (`TCP_RACK_RECOVERY_THRESH`).
pub(super) const REORDERING_RECOVERIES: u8 = 16;

/// What is needed to take a reduction back.
#[derive(Debug, Default)]
pub(super) struct Undo {
    /// Where the first outstanding byte was when the window was reduced; `None`: nothing to take
    /// back (`undo_marker`).
    pub(super) marker: Option<u64>,
    /// Repetitions since, less those told of by D-SACK; `None`: there were none yet
    /// (`undo_retrans`).
    pub(super) repeated: Option<u32>,
    /// The threshold before; 0: the reduction stands.
    pub(super) prior_ssthresh: u32,
    /// The timestamp of the first repetition (`retrans_stamp`).
    pub(super) stamp: Option<u32>,
}

impl Undo {
    pub(super) fn clear(&mut self) {
        self.marker = None;
        self.stamp = None;
    }

    /// Whether each repetition was told to be needless.
    fn all_needless(&self) -> bool {
        self.repeated == Some(0)
    }
}

impl Sender {
    /// A reduction begins (`tcp_init_undo`).
    pub(super) fn begin_undo(&mut self) {
        self.undo.marker = Some(self.window.una);
        // Repetitions still under way can bring D-SACKs later, a loss probe too.
        let under_way = self.board.retrans_out + u32::from(self.probe.is_repetition());
        self.undo.repeated = (under_way > 0).then_some(under_way);
    }

    /// Whether the echoed timestamp is older than the first repetition, or there was none
    /// (`tcp_packet_delayed`).
    fn was_delayed(&self) -> bool {
        match self.undo.stamp {
            Some(stamp) => self.echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0),
            None => self.sack || self.window.una < self.high,
        }
    }

    fn may_undo(&self) -> bool {
        self.config.recovery.undo
            && self.undo.marker.is_some()
            && (self.undo.all_needless() || self.was_delayed())
    }

    /// Whether anything outstanding was sent again (`tcp_any_retrans_done`).
    pub(super) fn any_repeated(&self) -> bool {
        self.board.retrans_out > 0
            || self.board.head().is_some_and(super::scoreboard::Record::was_repeated)
    }

    /// `tcp_undo_cwnd_reduction`.
    fn undo_reduction(&mut self, now: Instant, forget_losses: bool) {
        if forget_losses {
            self.board.forget_losses(false);
        }
        if self.undo.prior_ssthresh > 0 {
            self.refresh();
            let cwnd = self.congestion.undo(&self.window);
            self.set_cwnd(cwnd);
            if self.undo.prior_ssthresh > self.window.ssthresh {
                self.window.ssthresh = self.undo.prior_ssthresh;
                self.cwr_queued = false;
            }
        }
        self.cwnd_since = now;
        self.undo.marker = None;
        self.undone += 1;
        self.rack.advanced = true;
    }

    /// Without SACK, recovery is held until something above `high` is acknowledged, or false fast
    /// retransmits would follow (RFC 6582 section 4.1).
    fn must_hold(&mut self) -> bool {
        if self.window.una != self.high || self.sack {
            return false;
        }
        if !self.any_repeated() {
            self.undo.stamp = None;
        }
        true
    }

    /// All of the window is acknowledged (`tcp_try_undo_recovery`). `true`: the state is held.
    pub(super) fn try_undo_recovery(&mut self, now: Instant) -> bool {
        if self.may_undo() {
            self.undo_reduction(now, false);
        } else {
            self.rack.persist = self.rack.persist.saturating_sub(1);
        }
        if self.must_hold() {
            return true;
        }
        self.set_state(now, State::Open);
        self.reneged = false;
        false
    }

    /// `tcp_try_undo_dsack`.
    pub(super) fn try_undo_dsack(&mut self, now: Instant) -> bool {
        if !self.config.recovery.undo || self.undo.marker.is_none() || !self.undo.all_needless() {
            return false;
        }
        self.rack.persist = (self.rack.persist + 1).min(REORDERING_RECOVERIES);
        self.undo_reduction(now, false);
        true
    }

    /// After a timeout, on progress or as F-RTO found (`tcp_try_undo_loss`).
    pub(super) fn try_undo_loss(&mut self, now: Instant, by_frto: bool) -> bool {
        if !by_frto && !self.may_undo() {
            return false;
        }
        self.undo_reduction(now, true);
        self.timeout.in_a_row = 0;
        if self.must_hold() {
            return true;
        }
        if by_frto || self.sack {
            self.set_state(now, State::Open);
            self.reneged = false;
        }
        true
    }

    /// After a partial acknowledgement in fast recovery (`tcp_try_undo_partial`). `true`: nothing
    /// more is to be held for lost now.
    pub(super) fn try_undo_partial(&mut self, now: Instant, facts: &Facts) -> bool {
        if !self.config.recovery.undo || self.undo.marker.is_none() || !self.was_delayed() {
            return false;
        }
        // The hole was filled by what was only late.
        self.learn_reordering(facts.prior_una);
        if self.board.retrans_out > 0 {
            return true;
        }
        if !self.any_repeated() {
            self.undo.stamp = None;
        }
        self.undo_reduction(now, true);
        self.try_keep_open(now);
        false
    }
}
