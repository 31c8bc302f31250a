//! What leaves next: retransmissions allowed by the last acknowledgement, then new data.

use tcplab_units::Instant;

use super::interface::{Stream, ToSend};
use super::parts::{Purpose, Retransmit};
use super::{Sender, micros};
use crate::SendCause;
use crate::congestion::{Event, State};

impl Sender {
    /// What leaves now; it is recorded as sent. `None`: nothing before something happens. Call
    /// until then, since the end of a burst has consequences.
    pub(crate) fn next(&mut self, now: Instant, stream: &Stream) -> Option<ToSend> {
        if let Some(waiting) = self.output.waiting.take() {
            return Some(waiting);
        }
        self.pacing.waits = false;
        if self.output.retransmit == Retransmit::AfterNew {
            if let Some(sent) = self.send_new(now, stream, true) {
                return Some(sent);
            }
            self.output.retransmit = if self.window.nxt > self.recovery.high {
                Retransmit::Nothing
            } else {
                // There was no new data: the conventional recovery.
                self.recovery.frto = false;
                Retransmit::Lost
            };
        }
        if self.output.retransmit == Retransmit::Lost
            && let Some(sent) = self.retransmit_lost(now, stream)
        {
            return Some(sent);
        }
        self.send_new(now, stream, false)
    }

    /// Whether nothing is left of what was decided before: no segment waits, nothing is to be
    /// retransmitted, and the last burst is over.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.output.waiting.is_none()
            && self.output.retransmit == Retransmit::Nothing
            && !self.output.bursting
            && !self.pacing.waits
    }

    /// New data (`tcp_write_xmit`). `pushed`: small segments are not held back.
    fn send_new(&mut self, now: Instant, stream: &Stream, pushed: bool) -> Option<ToSend> {
        if stream.end <= self.window.nxt {
            if self.output.bursting {
                self.end_burst(now, stream, false);
            }
            return None;
        }
        if self.can_send_new(stream) {
            self.check_idle(now);
        }
        match self.sendable(now, stream, pushed) {
            Ok(end) => {
                self.output.bursting = true;
                let cause = self.cause_of_new();
                Some(self.send_range(now, stream, end, cause))
            }
            Err(held) => {
                self.end_burst(now, stream, held.by_cwnd);
                None
            }
        }
    }

    fn cause_of_new(&self) -> SendCause {
        let early = self.window.state == State::Disorder
            && self.scoreboard.sacked_out > 0
            && self.scoreboard.packets_out() >= self.window.cwnd;
        if early { SendCause::LimitedTransmit } else { SendCause::New }
    }

    /// New data up to `end` leaves.
    pub(super) fn send_range(
        &mut self,
        now: Instant,
        stream: &Stream,
        end: u64,
        cause: SendCause,
    ) -> ToSend {
        let (start, mss) = (self.window.nxt, u64::from(self.window.mss));
        let data_end = stream.data_end();
        let len = end.min(data_end) - start;
        let fin = end > data_end;
        self.before_data(now);
        let time = micros(now);
        let first = self.scoreboard.is_empty();
        let snapshot = self.rate.send(time, first);
        let mut at = start;
        let mut segments = 0;
        while at < end {
            let mut to = (at + mss).min(end);
            if fin && to >= data_end {
                to = end;
            }
            if at > start {
                self.scoreboard.go_on();
            }
            self.scoreboard.push(at, to, time, snapshot);
            at = to;
            segments += 1;
        }
        // What the timer sends is no small segment that Nagle's algorithm waits for
        // (`tcp_write_wakeup`).
        if len < mss * segments && cause != SendCause::WindowProbe {
            self.output.small_end = end;
        }
        self.window.nxt = end;
        self.after_data(now, len, segments);
        if self.is_reducing() {
            self.recovery.reduction.sent += segments as u32;
        }
        if first || self.alarm.purpose() == Some(Purpose::LossProbe) {
            self.rearm_timeout(now);
        }
        let cwr = self.output.cwr_queued && len > 0;
        self.output.cwr_queued &= !cwr;
        ToSend { start, len: len as u32, fin, cause, ect: self.agreed.ecn && len > 0, cwr }
    }

    pub(super) fn before_data(&mut self, now: Instant) {
        if self.scoreboard.in_flight() == 0 {
            self.inform(now, Event::TransmitStart);
        }
    }

    pub(super) fn after_data(&mut self, now: Instant, len: u64, segments: u64) {
        self.window.last_sent = now;
        self.output.counters.bytes_sent += len;
        self.output.counters.data_segments += if len > 0 { segments } else { 0 };
        self.pace(now, len);
    }

    /// A loss probe of new data: one segment, whatever the congestion window allows
    /// (`tcp_write_xmit` with `push_one` 2).
    pub(super) fn send_probing(&mut self, now: Instant, stream: &Stream) -> ToSend {
        let data_end = stream.data_end();
        let mss = u64::from(self.window.mss);
        let len = data_end.saturating_sub(self.window.nxt).min(mss);
        let mut end = self.window.nxt + len;
        end += u64::from(stream.fin && end == data_end);
        let sent = self.send_range(now, stream, end, SendCause::TailLossProbe);
        let limited = self.scoreboard.in_flight() >= self.window.cwnd;
        self.validate(now, limited, stream);
        sent
    }

    /// Nothing more leaves for now.
    fn end_burst(&mut self, now: Instant, stream: &Stream, held_by_cwnd: bool) {
        let sent = std::mem::take(&mut self.output.bursting);
        let limited = held_by_cwnd || self.scoreboard.in_flight() >= self.window.cwnd;
        if sent || limited {
            self.validate(now, limited, stream);
        }
        if sent {
            self.schedule_loss_probe(now, false);
        } else if stream.end > self.window.nxt {
            self.check_window_probe(now);
        }
    }

    /// The application is about to write; `stream` is as before. Notes if it had nothing left to
    /// send (`tcp_rate_check_app_limited`).
    pub(crate) fn handle_write(&mut self, stream: &Stream) {
        let unsent = stream.end.saturating_sub(self.window.nxt);
        if unsent < u64::from(self.window.mss)
            && self.scoreboard.in_flight() < self.window.cwnd
            && self.scoreboard.lost_out <= self.scoreboard.retrans_out
        {
            self.rate.run_dry(self.scoreboard.in_flight());
        }
    }
}
