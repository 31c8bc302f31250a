//! Tail loss probes (RFC 8985 section 7; `tcp_schedule_loss_probe`, `tcp_send_loss_probe`).

use tcplab_units::{Instant, Span};

use super::facts::Facts;
use super::interface::Stream;
use super::parts::Purpose;
use super::{Sender, micros};
use crate::SendCause;
use crate::congestion::State;

/// Added to two RTTs (`TCP_TIMEOUT_MIN_US`), µs.
const SLACK: u64 = 2_000;
/// Before any RTT is known (`TCP_TIMEOUT_INIT`).
const UNMEASURED: Span = Span::from_secs(1);

impl Sender {
    /// Sets the timer for a probe, if one may be sent (RFC 8985 section 7.2). `restarts`: whether
    /// the timeout would run from now on.
    pub(super) fn schedule_loss_probe(&mut self, now: Instant, restarts: bool) -> bool {
        if !self.config.recovery.tail_loss_probe
            || !self.agreed.sack
            || !matches!(self.window.state, State::Open | State::Cwr)
        {
            return false;
        }
        let Some(head) = self.scoreboard.head() else { return false };
        let mut span = match self.rto.smoothed8() {
            0 => UNMEASURED,
            smoothed8 => {
                // One segment alone may wait for a delayed acknowledgement.
                let alone = self.scoreboard.packets_out() == 1;
                let more = if alone { self.rto.least.as_micros() } else { SLACK };
                self.alarm.round_up(Span::from_micros((smoothed8 >> 2) + more))
            }
        };
        // A timeout that is due earlier brings the probe forward.
        let left = if restarts {
            self.rto.current
        } else {
            let at = head.sent + self.rto.current.as_micros();
            Span::from_micros(at.saturating_sub(micros(now)))
        };
        if !left.is_zero() {
            span = span.min(self.alarm.round_up(left));
        }
        self.set_alarm(now, Purpose::LossProbe, span);
        true
    }

    /// The timer expired: new data if there is any, else the last segment (section 7.3).
    pub(super) fn send_loss_probe(&mut self, now: Instant, stream: &Stream) {
        if self.recovery.loss_probe.high.is_none() {
            self.recovery.loss_probe.retransmits = false;
            if self.can_send_new(stream) {
                self.output.waiting = Some(self.send_probing(now, stream));
            } else if !self.scoreboard.is_empty() {
                let last = self.scoreboard.behind() - 1;
                self.output.waiting =
                    self.retransmit(now, stream, last, 1, SendCause::TailLossProbe);
                self.recovery.loss_probe.retransmits = self.output.waiting.is_some();
            }
            if self.output.waiting.is_some() {
                self.recovery.loss_probe.high = Some(self.window.nxt);
            }
        }
        let waited = self.output.waiting.is_none();
        self.rearm(now, waited);
    }

    /// Whether an acknowledgement answers the probe (section 7.4; `tcp_process_tlp_ack`).
    pub(super) fn process_probe_ack(&mut self, now: Instant, position: u64, facts: &Facts) {
        let probe = &self.recovery.loss_probe;
        let Some(high) = probe.high.filter(|&high| position >= high) else { return };
        let plain_duplicate = !facts.advanced
            && !facts.acked
            && !facts.segment.carries_data
            && !facts.segment.window_update
            && !facts.sack.any;
        if !probe.retransmits || facts.sack.dsack_of_probe {
            self.recovery.loss_probe.high = None;
        } else if position > high {
            // The probe repaired a loss, which counts as congestion.
            self.begin_reduction(now);
            self.set_state(now, State::Cwr);
            self.end_reduction(now);
            self.try_keep_open(now);
        } else if plain_duplicate {
            self.recovery.loss_probe.high = None;
        }
    }
}
