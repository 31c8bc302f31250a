//! Segments that an acknowledgement removes, and the RTT that they give.

use tcplab_units::{Instant, Span};

use super::facts::{Facts, SentTimes};
use super::rto::Measurement;
use super::scoreboard::Record;
use super::{Sender, micros};

impl Sender {
    /// Removes acknowledged segments (`tcp_clean_rtx_queue`) and measures the RTT.
    pub(super) fn acknowledge(&mut self, now: Instant, facts: &mut Facts) {
        let (una, time) = (self.window.una, micros(now));
        let mut sent = None;
        let mut lowest = self.window.nxt;
        let mut count = 0;
        self.scoreboard.trim_burst(una);
        while let Some(head) = self.scoreboard.head()
            && head.end() <= una
            && let Some(record) = self.scoreboard.pop(self.agreed.sack)
        {
            count += 1;
            if record.was_retransmitted() {
                facts.retransmitted = true;
            } else if !record.is_sacked() {
                SentTimes::add(&mut sent, record.sent);
                lowest = lowest.min(record.start);
                facts.original |= record.end() <= self.recovery.high;
            }
            if !record.is_sacked() && self.agreed.sack {
                self.rate.delivered += 1;
                if !self.was_spurious(&record) {
                    self.recovery.method.deliver(time, &record, self.rto.min_rtt());
                }
            }
            facts.delivery.take(&mut self.rate, &record);
        }
        facts.acked = count > 0;
        facts.reneging = self.scoreboard.head().is_some_and(Record::is_sacked);
        let measured = self.measure(time, sent, count, facts);
        if facts.acked {
            facts.set_timer = true;
            self.overrule_timeout();
            if self.agreed.sack {
                // A hole was filled by a segment sent once: that is reordering.
                if lowest < facts.before.highest_sacked {
                    self.learn_reordering(lowest);
                }
            } else {
                self.remove_duplicates(count);
                // Without SACK nothing shows which of several was the original.
                facts.original &= !facts.retransmitted;
            }
        } else if let (true, Some(head), Some(sacked)) =
            (measured, self.scoreboard.head(), facts.sack.sent)
        {
            // Only while the SACKed segment left before the first outstanding one: otherwise SACKs
            // would postpone the timeout for ever.
            facts.set_timer = sacked.first < head.sent;
        }
        self.inform_of_progress(now, count, facts);
    }

    /// Whether the echoed timestamp shows that a retransmission was spurious
    /// (`tcp_skb_spurious_retrans`).
    fn was_spurious(&self, record: &Record) -> bool {
        record.was_retransmitted() && self.peer.echoes_before(self.ticks(record.sent))
    }

    /// RTTs of what was acknowledged (`tcp_ack_update_rtt`): of retransmitted segments only by
    /// timestamps (Karn). Whether there was one.
    fn measure(
        &mut self,
        now: u64,
        sent: Option<SentTimes>,
        count: u32,
        facts: &mut Facts,
    ) -> bool {
        let (mut rtt, mut last) = (None, None);
        if !facts.retransmitted {
            rtt = sent.map(|sent| now - sent.first);
            last = sent.map(|sent| now - sent.last);
            facts.delayed = rtt.is_some()
                && count == 1
                && facts.before.sacked == 0
                && self.window.una - facts.before.una < u64::from(self.window.mss)
                && facts.delivery.prior_delivered + 1 == self.rate.delivered
                && !facts.alerts();
        }
        if self.rto.policy.measures_sacked() {
            if let Some(sent) = facts.sack.sent {
                rtt = rtt.or(Some(now - sent.first));
                last = Some(now - sent.last);
            }
        } else if facts.acked && self.peer.echo.is_some() {
            rtt = self.by_echo(now);
            last = rtt;
        }
        if rtt.is_none() && facts.acked {
            rtt = self.by_echo(now);
            last = rtt;
        }
        facts.rtt = last;
        let Some(rtt) = rtt else { return false };
        self.take_rtt(now, rtt, last.unwrap_or(rtt), facts.delayed);
        true
    }

    /// Takes an RTT, µs, in; `last` is that of the segment sent last.
    pub(super) fn take_rtt(&mut self, now: u64, rtt: u64, last: u64, delayed: bool) {
        self.rto.update_min(now, last, delayed, self.config.host.tick.as_micros());
        self.rto.measure(Measurement { rtt, una: self.window.una, nxt: self.window.nxt });
        self.reset_timeout();
    }

    /// The RTT by the echoed timestamp (`tcp_rtt_tsopt_us`), µs.
    fn by_echo(&self, now: u64) -> Option<u64> {
        let ticks = self.ticks(now).wrapping_sub(self.peer.echo?);
        let micros = u64::from(ticks.max(1)) * self.config.host.timestamp_tick.as_micros();
        (micros < u64::from(u32::MAX >> 1)).then_some(micros)
    }

    /// The own timestamp clock at a time in µs, less the connection's offset.
    pub(super) fn ticks(&self, time: u64) -> u32 {
        let tick = self.config.host.timestamp_tick.max(Span::from_nanos(1));
        (u128::from(time) * 1_000 / u128::from(tick.as_nanos())) as u32
    }
}
