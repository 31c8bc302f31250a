//! Zero window probes (RFC 9293 section 3.8.6.1; `tcp_probe_timer`).

use tcplab_units::{Instant, Span};

use super::Sender;
use super::interface::{GivenUp, Stream, ToSend};
use super::parts::{Purpose, WindowProbe};
use crate::SendCause;

/// How many probes an orphaned connection sends (`tcp_orphan_retries`).
const ORPHAN_PROBES: u32 = 8;

/// How soon a device that had no room is tried again (`TCP_RESOURCE_PROBE_INTERVAL`).
const DEVICE_FULL: Span = Span::from_millis(500);

impl Sender {
    /// Starts the timer if nothing is outstanding and new data cannot leave
    /// (`tcp_check_probe_timer`).
    pub(super) fn check_window_probe(&mut self, now: Instant) {
        if self.scoreboard.is_empty() && self.alarm.purpose().is_none() {
            self.set_alarm(now, Purpose::WindowProbe, self.probe_base());
        }
    }

    fn probe_base(&self) -> Span {
        self.rto.current.max(self.config.timeout.least)
    }

    /// `tcp_probe0_when`.
    fn probe_span(&self) -> Span {
        let config = &self.config.timeout;
        let ratio = config.most.as_nanos() / config.least.as_nanos().max(1);
        let backoff = self.peer.probe.backoff.min(ratio.max(1).ilog2() + 1);
        (self.probe_base() * (1 << backoff)).min(config.most)
    }

    /// An acknowledgement arrived while nothing was outstanding (`tcp_ack_probe`).
    pub(super) fn check_window_opened(&mut self, now: Instant, stream: &Stream) {
        if stream.end <= self.window.nxt {
            return;
        }
        if self.fits(stream.end - self.window.nxt) {
            self.peer.probe.backoff = 0;
            self.peer.probe.since = None;
            self.rto.backoff = 0;
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
        match self.peer.probe.since {
            Some(since) if !self.rto.user_timeout.is_zero() => {
                let left = self.rto.user_timeout.saturating_sub(now.since(since));
                span.min(left.max(self.config.host.tick * 2))
            }
            _ => span,
        }
    }

    /// The timer expired.
    pub(super) fn probe_window(&mut self, now: Instant, stream: &Stream) -> Result<(), GivenUp> {
        if !self.scoreboard.is_empty() || stream.end <= self.window.nxt {
            self.peer.probe = WindowProbe::default();
            return Ok(());
        }
        let given_up = Err(GivenUp::Probes(self.peer.probe.out));
        let since = *self.peer.probe.since.get_or_insert(now);
        if !self.rto.user_timeout.is_zero()
            && since != now
            && now.since(since) >= self.rto.user_timeout
        {
            return given_up;
        }
        let mut most = u32::from(self.config.timeout.retries);
        if stream.orphaned {
            let alive = self.probe_span() < self.config.timeout.most;
            most = if alive { ORPHAN_PROBES } else { 0 };
        }
        if self.peer.probe.out >= most {
            return given_up;
        }
        if stream.device_full {
            // It did not leave, which is no reason to wait longer (`tcp_send_probe0`).
            self.peer.probe.out += 1;
            let span = self.probe_up_to_user_timeout(now, DEVICE_FULL);
            self.set_alarm(now, Purpose::WindowProbe, span);
            return Ok(());
        }
        self.output.waiting = Some(self.probe_segment(now, stream));
        if !self.scoreboard.is_empty() {
            self.peer.probe = WindowProbe::default();
            return Ok(());
        }
        self.peer.probe.out += 1;
        if self.peer.probe.backoff < u32::from(self.config.timeout.retries) {
            self.peer.probe.backoff += 1;
        }
        let span = self.probe_up_to_user_timeout(now, self.probe_span());
        self.set_alarm(now, Purpose::WindowProbe, span);
        Ok(())
    }

    /// As much as fits a window that is only too small; for a zero window a segment without data,
    /// at a position already acknowledged (`tcp_write_wakeup`).
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
