//! Retransmitting segments.

use tcplab_units::Instant;

use super::interface::{Stream, ToSend};
use super::parts::Purpose;
use super::{Sender, micros};
use crate::SendCause;
use crate::congestion::State;

impl Sender {
    /// The next segments marked lost: as many of one burst as the window lets leave
    /// (`tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self, now: Instant, stream: &Stream) -> Option<ToSend> {
        if self.scoreboard.retrans_out >= self.scoreboard.lost_out
            || self.scoreboard.in_flight() >= self.window.cwnd
            || self.pacing.holds(now)
        {
            return None;
        }
        let number = self.scoreboard.next_to_retransmit()?;
        let start = self.scoreboard.get(number).start;
        let is_first = number == self.scoreboard.first();
        let cause = match self.window.state {
            State::Loss if start < self.path_mtu.cut_to => SendCause::PathMtu,
            State::Loss => SendCause::AfterTimeout,
            _ => self.recovery.method.cause(),
        };
        let quota = u64::from(self.window.cwnd - self.scoreboard.in_flight());
        let segments = if stream.urgent { 1 } else { quota.min(self.burst_segments()) };
        let before = self.scoreboard.retrans_out;
        let sent = self.retransmit(now, stream, number, segments, cause)?;
        if self.is_reducing() {
            self.recovery.reduction.sent += self.scoreboard.retrans_out - before;
        }
        if is_first && self.alarm.purpose() != Some(Purpose::Reordering) {
            self.set_alarm(now, Purpose::Retransmit, self.rto.current);
        }
        Some(sent)
    }

    /// Retransmits a segment, and of its burst at most `segments` that are lost too, as one, as far
    /// as they fit the peer's window (`tcp_retransmit_skb`). The first segment outstanding ignores
    /// a zero window and so probes it.
    pub(super) fn retransmit(
        &mut self,
        now: Instant,
        stream: &Stream,
        number: u64,
        segments: u64,
        cause: SendCause,
    ) -> Option<ToSend> {
        let (una, mss) = (self.window.una, u64::from(self.window.mss));
        let start = self.scoreboard.get(number).start.max(una);
        let mut room = self.window_end().saturating_sub(start);
        if room == 0 {
            if start != una {
                return None;
            }
            room = mss;
        }
        let data_end = stream.data_end();
        let most = room.min(mss);
        if self.scoreboard.get(number).end().min(data_end).saturating_sub(start) > most {
            self.scoreboard.split(number, start + most);
        } else if self.scoreboard.get(number).end() - start < most && !stream.has_boundaries {
            self.join_small(number, start, most);
        }
        // Whole segments, where the window is the limit.
        let reach = if segments * mss > room { room - room % mss } else { segments * mss };
        let mut last = number;
        while last + 1 - number < segments && self.scoreboard.repairs_with_next(last) {
            let end = self.scoreboard.get(last + 1).end().min(data_end);
            if end - start > reach {
                break;
            }
            last += 1;
        }
        self.scoreboard.part(number..=last);
        let end = self.scoreboard.get(last).end();
        let len = end.min(data_end).saturating_sub(start);
        let probe = cause == SendCause::TailLossProbe;
        let count = last + 1 - number;
        self.before_data(now);
        let time = micros(now);
        let snapshot = self.rate.send(time, false);
        for number in number..=last {
            self.scoreboard.mark_retransmitted(number, time, snapshot, probe);
        }
        self.output.counters.retransmissions += count;
        self.output.counters.bytes_retransmitted += len;
        self.after_data(now, len, count);
        if !probe {
            let stamp = self.ticks(time);
            self.undo.stamp.get_or_insert(stamp);
            self.undo.retransmitted = Some(self.undo.retransmitted.unwrap_or(0) + count as u32);
        }
        Some(ToSend { start, len: len as u32, fin: end > data_end, cause, ect: false, cwr: false })
    }

    /// Small segments are joined when they are retransmitted (`tcp_retrans_try_collapse`).
    fn join_small(&mut self, number: u64, start: u64, most: u64) {
        let most = most + start - self.scoreboard.get(number).start;
        let joined = self.scoreboard.join(number, most, self.window_end());
        if !self.agreed.sack {
            self.scoreboard.sacked_out = self.scoreboard.sacked_out.saturating_sub(joined);
        }
    }
}
