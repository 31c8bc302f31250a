//! What leaves next, and what is remembered of it.

use tcplab_units::{Instant, Span};

use super::alarm::Purpose;
use super::{Repeat, Sender, Stream, ToSend, micros};
use crate::SendCause;
use crate::config::Detection;
use crate::congestion::{Event, State};

impl Sender {
    /// What leaves now; it is recorded as sent. `None`: nothing before something happens. Ask
    /// until then: the end of a burst is seen to there.
    pub(crate) fn next(&mut self, now: Instant, stream: &Stream) -> Option<ToSend> {
        if let Some(waiting) = self.outbox.take() {
            return Some(waiting);
        }
        self.pace.waits = false;
        if self.repeating == Repeat::NewFirst {
            if let Some(sent) = self.send_new(now, stream, true) {
                return Some(sent);
            }
            self.repeating = if self.window.nxt > self.high {
                Repeat::Nothing
            } else {
                // There was nothing new after all: the conventional recovery.
                self.frto = false;
                Repeat::Lost
            };
        }
        if self.repeating == Repeat::Lost
            && let Some(sent) = self.repeat_lost(now, stream)
        {
            return Some(sent);
        }
        self.send_new(now, stream, false)
    }

    /// The next segment held for lost (`tcp_xmit_retransmit_queue`).
    fn repeat_lost(&mut self, now: Instant, stream: &Stream) -> Option<ToSend> {
        if self.board.retrans_out >= self.board.lost_out
            || self.board.in_flight() >= self.window.cwnd
            || self.pace.holds(now)
        {
            return None;
        }
        let number = self.board.next_to_repeat()?;
        let is_first = number == self.board.first();
        let cause = match self.window.state {
            State::Loss if self.path_mtu.explains(self.board.get(number).start) => {
                SendCause::PathMtu
            }
            State::Loss => SendCause::AfterTimeout,
            _ if self.sack && self.config.recovery.detection == Detection::Rack => SendCause::Rack,
            _ => SendCause::FastRetransmit,
        };
        let sent = self.repeat(now, stream, number, cause)?;
        if self.board.in_flight() >= self.window.cwnd {
            // The rest of its burst leaves by itself.
            self.board.part(number);
        }
        if self.is_reducing() {
            self.progress.sent += 1;
        }
        if is_first && self.alarm.purpose() != Some(Purpose::Reordering) {
            self.set_alarm(now, Purpose::Retransmit, self.timeout.now);
        }
        Some(sent)
    }

    /// Sends a segment again (`tcp_retransmit_skb`), as far as the peer's window reaches; a window
    /// that is closed is ignored for the first segment, which asks it.
    pub(super) fn repeat(
        &mut self,
        now: Instant,
        stream: &Stream,
        number: u64,
        cause: SendCause,
    ) -> Option<ToSend> {
        let (una, mss) = (self.window.una, u64::from(self.window.mss));
        let start = self.board.get(number).start.max(una);
        let mut room = self.window_end().saturating_sub(start);
        if room == 0 {
            if start != una {
                return None;
            }
            room = mss;
        }
        let data_end = stream.end - u64::from(stream.fin);
        let most = room.min(mss);
        if self.board.get(number).end().min(data_end).saturating_sub(start) > most {
            self.board.split(number, start + most);
        } else if self.board.get(number).end() - start < most && !stream.has_boundaries {
            self.join_small(number, start, most);
        }
        let end = self.board.get(number).end();
        let len = end.min(data_end).saturating_sub(start);
        let probe = cause == SendCause::TailLossProbe;
        self.before_data(now);
        let time = micros(now);
        let snapshot = self.rate.send(time, false);
        self.board.mark_repeated(number, time, snapshot, probe);
        self.counters.total_retrans += 1;
        self.counters.bytes_retrans += len;
        self.after_data(now, len, 1);
        if !probe {
            let stamp = self.ticks(time);
            self.undo.stamp.get_or_insert(stamp);
            self.undo.repeated = Some(self.undo.repeated.unwrap_or(0) + 1);
        }
        Some(ToSend { start, len: len as u32, fin: end > data_end, cause, ect: false, cwr: false })
    }

    /// Small segments go together when they are sent again (`tcp_retrans_try_collapse`).
    fn join_small(&mut self, number: u64, start: u64, most: u64) {
        let most = most + start - self.board.get(number).start;
        let joined = self.board.join(number, most, self.window_end());
        if !self.sack {
            self.board.sacked_out = self.board.sacked_out.saturating_sub(joined);
        }
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
        let data_end = stream.end - u64::from(stream.fin);
        let len = end.min(data_end) - start;
        let fin = end > data_end;
        self.before_data(now);
        let time = micros(now);
        let first = self.board.is_empty();
        let snapshot = self.rate.send(time, first);
        let mut at = start;
        let mut segments = 0;
        while at < end {
            let mut to = (at + mss).min(end);
            if fin && to >= data_end {
                to = end;
            }
            if at > start {
                self.board.go_on();
            }
            self.board.push(at, to, time, snapshot);
            at = to;
            segments += 1;
        }
        if len < mss * segments {
            self.small_end = end;
        }
        self.window.nxt = end;
        self.after_data(now, len, segments);
        if self.is_reducing() {
            self.progress.sent += segments as u32;
        }
        if first || self.alarm.purpose() == Some(Purpose::LossProbe) {
            self.rearm_timeout(now);
        }
        let cwr = self.cwr_queued && len > 0;
        self.cwr_queued &= !cwr;
        ToSend { start, len: len as u32, fin, cause, ect: self.ecn && len > 0, cwr }
    }

    fn before_data(&mut self, now: Instant) {
        if self.board.in_flight() == 0 {
            self.tell_event(now, Event::TransmitStart);
        }
    }

    fn after_data(&mut self, now: Instant, len: u64, segments: u64) {
        self.window.last_sent = now;
        self.counters.bytes_sent += len;
        self.counters.data_segments += if len > 0 { segments } else { 0 };
        self.pace(now, len);
    }

    /// New data (`tcp_write_xmit`). `pushed`: small segments are not held back.
    fn send_new(&mut self, now: Instant, stream: &Stream, pushed: bool) -> Option<ToSend> {
        if stream.end <= self.window.nxt {
            if self.bursting {
                self.end_burst(now, stream, false);
            }
            return None;
        }
        if self.can_send_new(stream) {
            self.check_idle(now);
        }
        match self.sendable(now, stream, pushed) {
            Ok(end) => {
                self.bursting = true;
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
            && self.board.sacked_out > 0
            && self.board.packets_out() >= self.window.cwnd;
        if early { SendCause::LimitedTransmit } else { SendCause::New }
    }

    /// A loss probe of new data: one segment, whatever the window says
    /// (`tcp_write_xmit` with `push_one` 2).
    pub(super) fn send_probing(&mut self, now: Instant, stream: &Stream) -> ToSend {
        let data_end = stream.end - u64::from(stream.fin);
        let mss = u64::from(self.window.mss);
        let len = data_end.saturating_sub(self.window.nxt).min(mss);
        let mut end = self.window.nxt + len;
        end += u64::from(stream.fin && end == data_end);
        let sent = self.send_range(now, stream, end, SendCause::TailLossProbe);
        let limited = self.board.in_flight() >= self.window.cwnd;
        self.validate(now, limited, stream);
        sent
    }

    /// Nothing more leaves for now.
    fn end_burst(&mut self, now: Instant, stream: &Stream, held_by_cwnd: bool) {
        let sent = std::mem::take(&mut self.bursting);
        let limited = held_by_cwnd || self.board.in_flight() >= self.window.cwnd;
        if sent || limited {
            self.validate(now, limited, stream);
        }
        if sent {
            self.schedule_loss_probe(now, false);
        } else if stream.end > self.window.nxt {
            self.check_window_probe(now);
        }
    }

    /// The application is about to give data; `stream` as it stands before. Tells when it had run
    /// dry (`tcp_rate_check_app_limited`).
    pub(crate) fn handle_write(&mut self, stream: &Stream) {
        let unsent = stream.end.saturating_sub(self.window.nxt);
        if unsent < u64::from(self.window.mss)
            && self.board.in_flight() < self.window.cwnd
            && self.board.lost_out <= self.board.retrans_out
        {
            self.rate.run_dry(self.board.in_flight());
        }
    }

    /// Timestamps of ours at a time in µs, less the connection's offset.
    pub(super) fn ticks(&self, time: u64) -> u32 {
        let tick = self.config.host.timestamp_tick.max(Span::from_nanos(1));
        (u128::from(time) * 1_000 / u128::from(tick.as_nanos())) as u32
    }
}
