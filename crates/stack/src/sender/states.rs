//! The states of loss recovery: when the sender enters and leaves each (`tcp_fastretrans_alert`).

use tcplab_units::{Instant, Span};

use super::Sender;
use super::facts::Facts;
use super::interface::Stream;
use super::parts::{Purpose, Retransmit};
use super::recovery::News;
use crate::config::{Reduction, TimeoutAction};
use crate::congestion::State;

/// A peer that seems to have discarded SACKed data has at least this long to show that it has not
/// (`tcp_check_sack_reneging`).
const RENEGING: Span = Span::from_millis(10);

impl Sender {
    /// Whether go-back-N is in progress from the first byte on; SACK is ignored then.
    pub(super) fn is_going_back(&self) -> bool {
        self.window.state == State::Loss && self.config.timeout.action == TimeoutAction::GoBack
    }

    /// An acknowledgement that is more than progress. `duplicates`: as how many duplicate ACKs it
    /// counts.
    pub(super) fn fast_alert(
        &mut self,
        now: Instant,
        duplicates: u32,
        stream: &Stream,
        facts: &mut Facts,
    ) {
        let duplicates = if self.recovery.method.heeds_duplicates() { duplicates } else { 0 };
        if self.scoreboard.is_empty() {
            self.scoreboard.sacked_out = 0;
        }
        // Congestion is proven, so the reduction stands (RFC 3168 section 6.1.2).
        if facts.segment.ece {
            self.undo.prior_ssthresh = 0;
        }
        if facts.reneging && facts.advanced {
            let half = Span::from_micros(self.rto.smoothed().unwrap_or(0) / 2);
            self.set_alarm(now, Purpose::Retransmit, half.max(RENEGING));
            facts.set_timer = false;
            return;
        }
        if self.window.state == State::Open {
            self.undo.stamp = None;
        } else if self.ends_here(now, facts) {
            return;
        }
        let begins = match self.window.state {
            State::Recovery => self.go_on_recovering(now, duplicates, facts),
            State::Loss => {
                self.process_loss(now, duplicates, stream, facts);
                self.identify_losses(now, facts);
                if self.window.state != State::Open && !facts.lost_retransmission {
                    return;
                }
                self.watch(now, duplicates, facts)
            }
            _ => self.watch(now, duplicates, facts),
        };
        let Some(begins) = begins else { return };
        let news =
            News { is_duplicate: duplicates > 0, is_progress: facts.sack.any || facts.advanced };
        let (method, mut evidence) = self.evidence(now);
        method.mark_more(&mut evidence, news, begins);
        self.output.retransmit = Retransmit::Lost;
    }

    /// Leaves the state if its window is acknowledged. `true`: nothing else is done.
    fn ends_here(&mut self, now: Instant, facts: &Facts) -> bool {
        let all = self.window.una >= self.recovery.high;
        match self.window.state {
            // Held until something above is acknowledged, so that CWR has arrived.
            State::Cwr if all && self.window.una != self.recovery.high => {
                self.end_reduction(now);
                self.set_state(now, State::Open);
            }
            State::Recovery if all => {
                if !self.agreed.sack {
                    self.scoreboard.sacked_out = 0;
                }
                if self.try_undo_recovery(now) {
                    return true;
                }
                self.end_reduction(now);
            }
            State::Recovery if facts.advanced && self.recovery.method.ends_with_progress() => {
                self.scoreboard.sacked_out = 0;
                self.end_reduction(now);
                self.set_state(now, State::Open);
            }
            _ => {}
        }
        false
    }

    /// In fast recovery. `Some`: losses may be marked, and whether a recovery just began; `None`:
    /// this acknowledgement causes no retransmission.
    fn go_on_recovering(
        &mut self,
        now: Instant,
        duplicates: u32,
        facts: &mut Facts,
    ) -> Option<bool> {
        if !facts.advanced {
            if !self.agreed.sack {
                self.add_duplicates(duplicates);
            }
        } else if self.try_undo_partial(now, facts) {
            return None;
        }
        if self.try_undo_dsack(now) {
            self.try_to_open(now, facts);
        }
        self.identify_losses(now, facts);
        if self.window.state == State::Recovery {
            return Some(false);
        }
        if !self.is_recovery_due(now) {
            return None;
        }
        self.enter_recovery(now, facts.segment.ece);
        Some(false)
    }

    /// In all other states: looks for a loss.
    fn watch(&mut self, now: Instant, duplicates: u32, facts: &mut Facts) -> Option<bool> {
        if !self.agreed.sack {
            if facts.advanced {
                self.scoreboard.sacked_out = 0;
            }
            self.add_duplicates(duplicates);
        }
        if self.window.state <= State::Disorder {
            self.try_undo_dsack(now);
        }
        self.identify_losses(now, facts);
        if !self.is_recovery_due(now) {
            self.try_to_open(now, facts);
            return None;
        }
        self.enter_recovery(now, facts.segment.ece);
        Some(true)
    }

    /// Fast recovery begins (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, now: Instant, ece: bool) {
        if self.config.recovery.reduction == Reduction::OneSegment && !self.agreed.sack {
            self.restart_from_first(now);
            return;
        }
        self.forget_stamp();
        self.undo.prior_ssthresh = 0;
        self.begin_undo();
        if !self.is_reducing() {
            if !ece {
                self.undo.prior_ssthresh = self.window.current_ssthresh();
            }
            self.begin_reduction(now);
        }
        self.set_state(now, State::Recovery);
    }

    /// Tahoe: slow start from the first byte.
    fn restart_from_first(&mut self, now: Instant) {
        self.window.prior_cwnd = self.window.cwnd;
        self.window.ssthresh = self.ask_ssthresh(now);
        self.undo.marker = None;
        self.scoreboard.forget_sacks();
        for number in self.scoreboard.first()..self.scoreboard.behind() {
            self.scoreboard.mark_lost(number);
        }
        self.set_cwnd(1);
        self.window.count = 0;
        self.recovery.frto = false;
        self.recovery.high = self.window.nxt;
        self.recovery.loss_probe.high = None;
        self.queue_cwr();
        self.set_state(now, State::Loss);
    }

    /// ECN demands a reduction (`tcp_enter_cwr`).
    fn enter_cwr(&mut self, now: Instant) {
        self.undo.prior_ssthresh = 0;
        if self.window.state < State::Cwr {
            self.undo.marker = None;
            self.begin_reduction(now);
            self.set_state(now, State::Cwr);
        }
    }

    /// No loss: the state returns to normal, or nearly (`tcp_try_to_open`).
    fn try_to_open(&mut self, now: Instant, facts: &Facts) {
        self.forget_stamp();
        if facts.segment.ece {
            self.enter_cwr(now);
        }
        if self.window.state != State::Cwr {
            self.try_keep_open(now);
        }
    }

    /// Open, or Disorder while something is SACKed or was retransmitted (`tcp_try_keep_open`).
    pub(super) fn try_keep_open(&mut self, now: Instant) {
        let disorder = self.scoreboard.left_out() > 0 || self.any_retransmitted();
        let state = if disorder { State::Disorder } else { State::Open };
        if self.window.state != state {
            self.set_state(now, state);
            self.recovery.high = self.window.nxt;
        }
    }
}
