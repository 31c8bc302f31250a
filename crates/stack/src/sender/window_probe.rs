//! Asking a window that is closed (RFC 9293 section 3.8.6.1; `tcp_probe_timer`).

use tcplab_units::{Instant, Span};

use super::alarm::Purpose;
use super::{GivenUp, Sender, Stream, ToSend};
use crate::SendCause;

/// Probes since something was heard.
#[derive(Debug, Default)]
pub(super) struct WindowProbe {
    /// Not answered yet (`icsk_probes_out`).
    pub(super) out: u32,
    /// How often the time between them was doubled.
    backoff: u32,
    /// When the first was due (`icsk_probes_tstamp`).
    since: Option<Instant>,
}

impl WindowProbe {
    /// The other end is alive.
    pub(super) fn answered(&mut self) {
        self.out = 0;
    }
}

impl Sender {
    /// Nothing is outstanding, and what there is cannot leave: the timer sees to it
    /// (`tcp_check_probe_timer`).
    pub(super) fn check_window_probe(&mut self, now: Instant) {
        if self.board.is_empty() && self.alarm.purpose().is_none() {
            self.set_alarm(now, Purpose::WindowProbe, self.probe_base());
        }
    }

    fn probe_base(&self) -> Span {
        self.timeout.now.max(self.config.timeout.least)
    }

    /// `tcp_probe0_when`.
    fn probe_span(&self) -> Span {
        let config = &self.config.timeout;
        let ratio = config.most.as_nanos() / config.least.as_nanos().max(1);
        let backoff = self.window_probe.backoff.min(ratio.max(1).ilog2() + 1);
        (self.probe_base() * (1 << backoff)).min(config.most)
    }

    /// An acknowledgement came while nothing was outstanding (`tcp_ack_probe`).
    pub(super) fn check_window_opened(&mut self, now: Instant, stream: &Stream) {
        if stream.end <= self.window.nxt {
            return;
        }
        let len = (stream.end - self.window.nxt).min(u64::from(self.window.mss));
        if self.window.nxt + len <= self.window_end() {
            self.window_probe.backoff = 0;
            self.window_probe.since = None;
            self.timeout.backoff = 0;
            if self.alarm.purpose() == Some(Purpose::WindowProbe) {
                self.alarm.clear();
            }
        } else {
            let span = self.probe_up_to_user_timeout(now, self.probe_span());
            self.set_alarm(now, Purpose::WindowProbe, span);
        }
    }

    /// `tcp_clamp_probe0_to_user_timeout`.
    fn probe_up_to_user_timeout(&self, now: Instant, span: Span) -> Span {
        match self.window_probe.since {
            Some(since) if !self.user_timeout.is_zero() => {
                let left = self.user_timeout.saturating_sub(now.since(since));
                span.min(left.max(self.config.host.tick * 2))
            }
            _ => span,
        }
    }

    /// The timer ran out.
    pub(super) fn probe_window(&mut self, now: Instant, stream: &Stream) -> Result<(), GivenUp> {
        if !self.board.is_empty() || stream.end <= self.window.nxt {
            self.window_probe = WindowProbe::default();
            return Ok(());
        }
        let given_up = Err(GivenUp::Probes(self.window_probe.out));
        let since = *self.window_probe.since.get_or_insert(now);
        if !self.user_timeout.is_zero() && since != now && now.since(since) >= self.user_timeout {
            return given_up;
        }
        let mut most = u32::from(self.config.timeout.retries);
        if stream.orphaned {
            let alive = self.probe_span() < self.config.timeout.most;
            most = if alive { 8 } else { 0 };
        }
        if self.window_probe.out >= most {
            return given_up;
        }
        self.outbox = Some(self.probe_segment(now, stream));
        if !self.board.is_empty() {
            self.window_probe = WindowProbe::default();
            return Ok(());
        }
        self.window_probe.out += 1;
        if self.window_probe.backoff < u32::from(self.config.timeout.retries) {
            self.window_probe.backoff += 1;
        }
        let span = self.probe_up_to_user_timeout(now, self.probe_span());
        self.set_alarm(now, Purpose::WindowProbe, span);
        Ok(())
    }

    /// What fits a window that is only too small; for a closed one, a byte acknowledged long since,
    /// without data (`tcp_write_wakeup`).
    fn probe_segment(&mut self, now: Instant, stream: &Stream) -> ToSend {
        let start = self.window.nxt;
        let room = self.window_end().saturating_sub(start);
        if room == 0 {
            return ToSend {
                start: self.window.una - 1,
                len: 0,
                fin: false,
                cause: SendCause::WindowProbe,
                ect: false,
                cwr: false,
            };
        }
        let end = stream.end.min(start + room.min(u64::from(self.window.mss)));
        self.send_range(now, stream, end, SendCause::WindowProbe)
    }
}
