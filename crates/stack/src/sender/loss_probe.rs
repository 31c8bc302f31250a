//! Tail loss probes (RFC 8985 section 7; `tcp_schedule_loss_probe`, `tcp_send_loss_probe`).

use tcplab_units::{Instant, Span};

use super::ack::Facts;
use super::alarm::{Purpose, in_ticks};
use super::{Sender, Stream, micros};
use crate::SendCause;
use crate::congestion::State;

/// Added to two round trips (`TCP_TIMEOUT_MIN_US`), µs.
const SLACK: u64 = 2_000;
/// Before any round trip is known (`TCP_TIMEOUT_INIT`).
const UNMEASURED: Span = Span::from_secs(1);

/// The probe outstanding.
#[derive(Debug, Default)]
pub(super) struct LossProbe {
    /// Where new data began when it was sent (`tlp_high_seq`).
    high: Option<u64>,
    /// Whether it repeated something.
    repeats: bool,
}

impl LossProbe {
    pub(super) fn end(&mut self) {
        self.high = None;
    }

    pub(super) fn is_repetition(&self) -> bool {
        self.high.is_some() && self.repeats
    }

    pub(super) fn ends_at(&self, end: u64) -> bool {
        self.high == Some(end)
    }
}

impl Sender {
    /// Sets the timer for a probe, where one may be sent (RFC 8985 section 7.2). `restarts`:
    /// whether the timeout would run from now on.
    pub(super) fn schedule_loss_probe(&mut self, now: Instant, restarts: bool) -> bool {
        if !self.config.recovery.tail_loss_probe
            || !self.sack
            || !matches!(self.window.state, State::Open | State::Cwr)
        {
            return false;
        }
        let Some(head) = self.board.head() else { return false };
        let host = &self.config.host;
        let mut span = match self.trip.smoothed8() {
            0 => UNMEASURED,
            smoothed8 => {
                // One segment alone may wait for a delayed acknowledgement.
                let alone = self.board.packets_out() == 1;
                let more = if alone { self.config.timeout.least.as_micros() } else { SLACK };
                in_ticks(host, Span::from_micros((smoothed8 >> 2) + more))
            }
        };
        // A timeout that is due earlier makes the probe leave at its time.
        let left = if restarts {
            self.timeout.now
        } else {
            let at = head.sent + self.timeout.now.as_micros();
            Span::from_micros(at.saturating_sub(micros(now)))
        };
        if !left.is_zero() {
            span = span.min(in_ticks(host, left));
        }
        self.set_alarm(now, Purpose::LossProbe, span);
        true
    }

    /// The timer ran out: new data if there is any, else the last segment (section 7.3).
    pub(super) fn send_loss_probe(&mut self, now: Instant, stream: &Stream) {
        if self.probe.high.is_none() {
            self.probe.repeats = false;
            if self.can_send_new(stream) {
                self.outbox = Some(self.send_probing(now, stream));
            } else if !self.board.is_empty() {
                let last = self.board.behind() - 1;
                self.board.part(last);
                self.outbox = self.repeat(now, stream, last, SendCause::TailLossProbe);
                self.probe.repeats = self.outbox.is_some();
            }
            if self.outbox.is_some() {
                self.probe.high = Some(self.window.nxt);
            }
        }
        let waited = self.outbox.is_none();
        self.rearm(now, waited);
    }

    /// What an acknowledgement says of the probe (section 7.4; `tcp_process_tlp_ack`).
    pub(super) fn process_probe_ack(&mut self, now: Instant, position: u64, facts: &Facts) {
        let Some(high) = self.probe.high.filter(|&high| position >= high) else { return };
        let plain_duplicate = !facts.advanced
            && !facts.acked
            && !facts.carries_data
            && !facts.window_update
            && !facts.sacked;
        if !self.probe.repeats || facts.dsack_of_probe {
            self.probe.end();
        } else if position > high {
            // The probe repaired a loss, which counts as congestion.
            self.begin_reduction(now);
            self.set_state(now, State::Cwr);
            self.end_reduction(now);
            self.try_keep_open(now);
        } else if plain_duplicate {
            self.probe.end();
        }
    }
}
