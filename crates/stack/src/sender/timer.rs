//! The one timer: how long the timeout is, and from when it runs.

use tcplab_units::{Instant, Span};

use super::parts::Purpose;
use super::{Sender, micros};

impl Sender {
    /// The RTTs changed (`tcp_set_rto`).
    pub(super) fn reset_timeout(&mut self) {
        if let Some(timeout) = self.rto.measured() {
            self.rto.set(self.alarm.round_up(timeout), self.config.timeout.most);
        }
    }

    /// After each acknowledgement of new data, on a stack with a fixed timeout where there are no
    /// timestamps.
    pub(super) fn overrule_timeout(&mut self) {
        if !self.agreed.timestamps
            && let Some(fixed) = self.rto.policy.without_timestamps()
        {
            self.rto.set(fixed, self.config.timeout.most);
        }
    }

    /// Starts the timer now; if it was set for another purpose, from when the first segment was
    /// last sent (`tcp_rearm_rto`).
    pub(super) fn rearm_timeout(&mut self, now: Instant) {
        let waited = matches!(self.alarm.purpose(), Some(Purpose::Reordering | Purpose::LossProbe));
        self.rearm(now, waited);
    }

    /// Starts the timer: now, or if `waited`, from when the first segment was last sent.
    pub(super) fn rearm(&mut self, now: Instant, waited: bool) {
        let Some(head) = self.scoreboard.head() else {
            self.alarm.clear();
            return;
        };
        let mut span = self.rto.current;
        if waited {
            let at = head.sent + self.rto.current.as_micros();
            span = Span::from_micros(at.saturating_sub(micros(now)).max(1));
        }
        self.set_alarm(now, Purpose::Retransmit, span);
    }

    /// Sets the one timer; pacing delays it.
    pub(super) fn set_alarm(&mut self, now: Instant, purpose: Purpose, span: Span) {
        let span = (span + self.pacing.delay(now)).min(self.config.timeout.most);
        let span = self.alarm.round_up(span);
        self.alarm.set(purpose, now, span);
    }
}
