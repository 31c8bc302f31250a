//! Undoing a reduction that was spurious: Eifel (RFC 3522), D-SACK (RFC 3708), F-RTO (RFC 5682),
//! and BSD's bad retransmission.

use tcplab_units::{Instant, Span};

use super::Sender;
use super::facts::Facts;
use super::parts::BadRetransmit;
use crate::congestion::State;

impl Sender {
    /// A reduction begins (`tcp_init_undo`).
    pub(super) fn begin_undo(&mut self) {
        self.undo.marker = Some(self.window.una);
        // Retransmissions in flight, a loss probe too, can bring D-SACKs later.
        let probe = &self.recovery.loss_probe;
        let probes = u32::from(probe.high.is_some() && probe.retransmits);
        let in_flight = self.scoreboard.retrans_out + probes;
        self.undo.retransmitted = (in_flight > 0).then_some(in_flight);
    }

    /// Whether the echoed timestamp is older than the first retransmission, or there was none
    /// (`tcp_packet_delayed`).
    fn was_delayed(&self) -> bool {
        match self.undo.stamp {
            Some(stamp) => self.peer.echoes_before(stamp),
            None => self.agreed.sack || self.window.una < self.recovery.high,
        }
    }

    fn may_undo(&self) -> bool {
        self.config.recovery.undo
            && self.undo.marker.is_some()
            && (self.undo.all_spurious() || self.was_delayed())
    }

    /// `tcp_undo_cwnd_reduction`.
    fn undo_reduction(&mut self, now: Instant, forget_losses: bool) {
        if forget_losses {
            self.scoreboard.forget_losses(false);
        }
        if self.undo.prior_ssthresh > 0 {
            self.refresh();
            let cwnd = self.congestion.control.undo(&self.window);
            self.set_cwnd(cwnd);
            if self.undo.prior_ssthresh > self.window.ssthresh {
                self.window.ssthresh = self.undo.prior_ssthresh;
                self.output.cwr_queued = false;
            }
        }
        self.congestion.usage.since = now;
        self.undo.marker = None;
        self.undo.count += 1;
        self.recovery.method.undone();
    }

    /// Without SACK, recovery holds until something above `high` is acknowledged, or false fast
    /// retransmits would follow (RFC 6582 section 4.1).
    fn must_hold(&mut self) -> bool {
        let holds = self.window.una == self.recovery.high && !self.agreed.sack;
        if holds {
            self.forget_stamp();
        }
        holds
    }

    /// All of the window is acknowledged (`tcp_try_undo_recovery`). `true`: the state holds.
    pub(super) fn try_undo_recovery(&mut self, now: Instant) -> bool {
        if self.may_undo() {
            self.undo_reduction(now, false);
        } else {
            self.recovery.method.recovered();
        }
        if self.must_hold() {
            return true;
        }
        self.open(now);
        false
    }

    fn open(&mut self, now: Instant) {
        self.set_state(now, State::Open);
        self.recovery.reneged = false;
    }

    /// Undoes a recovery that D-SACKs showed to be spurious (`tcp_try_undo_dsack`).
    pub(super) fn try_undo_dsack(&mut self, now: Instant) -> bool {
        if !self.config.recovery.undo || self.undo.marker.is_none() || !self.undo.all_spurious() {
            return false;
        }
        self.recovery.method.was_spurious();
        self.undo_reduction(now, false);
        true
    }

    /// After a timeout, on progress or if F-RTO found it spurious (`tcp_try_undo_loss`).
    pub(super) fn try_undo_loss(&mut self, now: Instant, by_frto: bool) -> bool {
        if !by_frto && !self.may_undo() {
            return false;
        }
        self.undo_reduction(now, true);
        self.rto.in_a_row = 0;
        if self.must_hold() {
            return true;
        }
        if by_frto || self.agreed.sack {
            self.open(now);
        }
        true
    }

    /// After a partial ACK in fast recovery (`tcp_try_undo_partial`). `true`: no more segments may
    /// be marked lost now.
    pub(super) fn try_undo_partial(&mut self, now: Instant, facts: &Facts) -> bool {
        if !self.config.recovery.undo || self.undo.marker.is_none() || !self.was_delayed() {
            return false;
        }
        // A segment that was only late filled the hole.
        self.learn_reordering(facts.before.una);
        if self.scoreboard.retrans_out > 0 {
            return true;
        }
        self.forget_stamp();
        self.undo_reduction(now, true);
        self.try_keep_open(now);
        false
    }

    /// The first timeout in a row: remembers what to restore if it was spurious.
    pub(super) fn remember_before(&mut self, now: Instant) {
        let eighths = self.config.timeout.bad_retransmit_eighths;
        if eighths == 0 {
            return;
        }
        self.undo.before = (self.rto.in_a_row == 0).then(|| {
            let smoothed = self.rto.smoothed().unwrap_or(0);
            let within = Span::from_micros(smoothed * u64::from(eighths) / 8);
            BadRetransmit {
                until: now + within,
                cwnd: self.window.cwnd,
                ssthresh: self.window.ssthresh,
                high: self.recovery.high,
                state: self.window.state,
            }
        });
    }

    /// BSD's bad retransmission: the acknowledgement arrived too soon to answer the retransmission,
    /// so window and threshold are restored and sending continues after the highest byte sent, as
    /// if nothing else were lost (`t_badrxtwin` in xnu's `tcp_input`).
    pub(super) fn check_bad_retransmit(&mut self, now: Instant) {
        let Some(before) = self.undo.before.take() else { return };
        if now >= before.until {
            return;
        }
        self.scoreboard.forget_losses(true);
        self.set_cwnd(before.cwnd);
        self.window.ssthresh = before.ssthresh;
        self.recovery.high = before.high;
        self.undo.count += 1;
        let state = if before.state == State::Recovery { State::Recovery } else { State::Open };
        self.set_state(now, state);
        self.undo.clear();
        self.rto.in_a_row = 0;
        self.rto.restore();
    }
}
