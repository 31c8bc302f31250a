//! What an acknowledgement sets in motion, in the order of `tcp_ack`.

use tcplab_units::{Instant, Span};

use super::rate::Delivery;
use super::{Ack, Heard, Repeat, Sender, Stream, micros};
use crate::config::TimeoutRule;
use crate::congestion::{AckSample, State};

/// What an acknowledgement told so far.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, as Linux's FLAG_*")]
pub(super) struct Facts {
    /// The first outstanding byte moved on.
    pub(super) advanced: bool,
    /// Segments were acknowledged whole.
    pub(super) acked: bool,
    /// It carries data, or changes the window: no duplicate.
    pub(super) carries_data: bool,
    pub(super) window_update: bool,
    /// Segments were SACKed.
    pub(super) sacked: bool,
    /// Data sent once before the recovery was acknowledged or SACKed (`FLAG_ORIG_SACK_ACKED`).
    pub(super) original: bool,
    /// Data sent more than once was acknowledged.
    pub(super) repeated: bool,
    /// A D-SACK; and one for the loss probe.
    pub(super) dsack: bool,
    pub(super) dsack_of_probe: bool,
    /// The first segment outstanding is one that was SACKed.
    pub(super) reneging: bool,
    /// The timer is to be set anew.
    pub(super) set_timer: bool,
    pub(super) ece: bool,
    /// A repetition was lost.
    pub(super) lost_repetition: bool,
    /// Likely delayed by the other end.
    pub(super) delayed: bool,
    /// In order, with nothing special.
    pub(super) plain: bool,
    /// The position acknowledged before.
    pub(super) prior_una: u64,
    prior_delivered: u64,
    prior_lost: u64,
    prior_in_flight: u32,
    prior_sacked: u32,
    prior_highest: u64,
    /// When the first and last of the segments newly SACKed left that were sent once, µs.
    pub(super) first_sacked: Option<u64>,
    pub(super) last_sacked: Option<u64>,
    /// The lowest position that filled a hole though it was sent once.
    pub(super) late: u64,
    /// Segments that D-SACK and SACK told to be delivered.
    pub(super) sack_delivered: u32,
    pub(super) delivery: Delivery,
    /// The round trip for the congestion control, µs.
    rtt: Option<u64>,
}

impl Facts {
    /// Nothing that a duplicate acknowledgement does not show (`FLAG_NOT_DUP` unset).
    fn may_be_duplicate(&self) -> bool {
        !(self.carries_data || self.window_update || self.acked)
    }

    fn alerts(&self) -> bool {
        self.sacked || self.ece || self.dsack
    }
}

impl Sender {
    /// An acceptable acknowledgement came.
    pub(crate) fn handle_ack(&mut self, now: Instant, ack: &Ack<'_>, stream: &Stream) -> Heard {
        self.echo = ack.echo;
        self.repeating = Repeat::Nothing;
        let mut facts = self.facts();
        if ack.position < self.window.una {
            self.handle_old(now, ack, stream, &mut facts);
        } else {
            self.handle_current(now, ack, stream, &mut facts);
        }
        self.refresh();
        Heard {
            acked: self.window.una - facts.prior_una,
            dsack: facts.dsack,
            window_changed: facts.window_update,
        }
    }

    fn facts(&self) -> Facts {
        let una = self.window.una;
        Facts {
            prior_una: una,
            prior_delivered: self.rate.delivered,
            prior_lost: self.window.lost,
            prior_in_flight: self.board.in_flight(),
            prior_sacked: self.board.sacked_out,
            prior_highest: if self.sack { self.highest_sacked() } else { una },
            late: self.window.nxt,
            ..Facts::default()
        }
    }

    /// One that was overtaken still tells of SACKs.
    fn handle_old(&mut self, now: Instant, ack: &Ack<'_>, stream: &Stream, facts: &mut Facts) {
        if ack.sack.is_empty() || !self.sack {
            return;
        }
        self.hear_sack(micros(now), ack, facts);
        self.fast_alert(now, 0, stream, facts);
    }

    fn handle_current(&mut self, now: Instant, ack: &Ack<'_>, stream: &Stream, facts: &mut Facts) {
        let prior_packets = self.board.packets_out();
        facts.advanced = ack.position > self.window.una;
        facts.carries_data = ack.carries_data;
        facts.ece = ack.ece && self.ecn;
        facts.plain =
            facts.advanced && ack.sack.is_empty() && !facts.ece && ack.window == self.peer_window;
        if facts.advanced {
            self.check_bad_retransmit(now);
            self.timeout.in_a_row = 0;
            self.dupacks = 0;
        }
        self.update_window(now, ack, stream, facts);
        if !ack.sack.is_empty() && self.sack && !self.is_going_back() {
            self.hear_sack(micros(now), ack, facts);
            self.rate.delivered += u64::from(facts.sack_delivered);
        }
        self.window_probe.answered();
        self.heard_at = now;
        if prior_packets == 0 {
            self.tell_heard(now, facts);
            if facts.dsack {
                self.fast_alert(now, 0, stream, facts);
            }
            self.check_window_opened(now, stream);
            self.process_probe_ack(now, ack.position, facts);
            return;
        }
        self.acknowledge(now, facts);
        self.adapt_reordering_window(facts.delivery.prior_delivered);
        self.tell_heard(now, facts);
        self.process_probe_ack(now, ack.position, facts);
        let dubious =
            facts.may_be_duplicate() || facts.alerts() || self.window.state != State::Open;
        if dubious {
            let duplicate = !facts.advanced && facts.may_be_duplicate() && !facts.dsack;
            self.dupacks += u32::from(duplicate);
            self.fast_alert(now, u32::from(duplicate), stream, facts);
        }
        if facts.set_timer && !self.schedule_loss_probe(now, true) {
            self.rearm_timeout(now);
        }
        self.control(now, facts);
    }

    /// Window and first outstanding byte (`tcp_ack_update_window`).
    fn update_window(&mut self, now: Instant, ack: &Ack<'_>, stream: &Stream, facts: &mut Facts) {
        let believed = facts.advanced
            || ack.sequence > self.window_sequence
            || (ack.sequence == self.window_sequence
                && (ack.window > self.peer_window || ack.window == 0));
        if believed {
            facts.window_update = true;
            self.window_sequence = ack.sequence;
            if ack.window != self.peer_window {
                self.peer_window = ack.window;
                if ack.window > self.most_window {
                    self.most_window = ack.window;
                    self.bound_mss();
                }
                if stream.end > self.window.nxt {
                    self.check_idle(now);
                }
            }
        }
        self.window.una = ack.position;
    }

    /// Takes acknowledged segments out (`tcp_clean_rtx_queue`) and measures.
    fn acknowledge(&mut self, now: Instant, facts: &mut Facts) {
        let (una, time) = (self.window.una, micros(now));
        let (mut first_sent, mut last_sent) = (None, None);
        let mut lowest = self.window.nxt;
        let mut count = 0;
        while let Some(head) = self.board.head()
            && head.end() <= una
            && let Some(record) = self.board.pop(self.sack)
        {
            count += 1;
            if record.was_repeated() {
                facts.repeated = true;
            } else if !record.is_sacked() {
                first_sent = first_sent.or(Some(record.sent));
                last_sent = Some(record.sent);
                lowest = lowest.min(record.start);
                facts.original |= record.end() <= self.high;
            }
            if !record.is_sacked() && self.sack {
                self.rate.delivered += 1;
                if !self.was_needless(&record) {
                    self.advance_rack(time, &record);
                }
            }
            facts.delivery.take(&mut self.rate, &record);
        }
        facts.acked = count > 0;
        facts.reneging = self.board.head().is_some_and(super::scoreboard::Record::is_sacked);
        let measured = self.measure(time, (first_sent, last_sent), count, facts);
        if facts.acked {
            facts.set_timer = true;
            self.overrule_timeout();
            if self.sack {
                // A hole was filled by what was sent once: that is reordering.
                if lowest < facts.prior_highest {
                    self.learn_reordering(lowest);
                }
            } else {
                self.remove_duplicates(count);
                // Without SACK nothing shows which of several was the original.
                facts.original &= !facts.repeated;
            }
        } else if let (true, Some(head), Some(sacked)) =
            (measured, self.board.head(), facts.first_sacked)
        {
            // Only while what is SACKed left before the first segment did (again): otherwise SACKs
            // would put the timeout off for ever.
            facts.set_timer = sacked < head.sent;
        }
        self.tell_acked(now, count, facts);
    }

    /// A repetition that the echoed timestamp shows to be needless (`tcp_skb_spurious_retrans`).
    fn was_needless(&self, record: &super::scoreboard::Record) -> bool {
        record.was_repeated()
            && self.echo.is_some_and(|echo| (echo.wrapping_sub(self.ticks(record.sent)) as i32) < 0)
    }

    /// Round trips from what was acknowledged (`tcp_ack_update_rtt`): never from what was sent
    /// twice (Karn), unless timestamps tell.
    fn measure(
        &mut self,
        now: u64,
        sent: (Option<u64>, Option<u64>),
        count: u32,
        facts: &mut Facts,
    ) -> bool {
        let (mut rtt, mut last) = (None, None);
        if !facts.repeated {
            rtt = sent.0.map(|sent| now - sent);
            last = sent.1.map(|sent| now - sent);
            facts.delayed = rtt.is_some()
                && count == 1
                && facts.prior_sacked == 0
                && self.window.una - facts.prior_una < u64::from(self.window.mss)
                && facts.delivery.prior_delivered + 1 == self.rate.delivered
                && !facts.alerts();
        }
        if self.config.timeout.rule == TimeoutRule::Linux {
            if let (Some(first), Some(youngest)) = (facts.first_sacked, facts.last_sacked) {
                rtt = rtt.or(Some(now - first));
                last = Some(now - youngest);
            }
        } else if facts.acked && self.echo.is_some() {
            // BSD's way: where there are timestamps, they tell (RFC 7323 section 4), and SACK
            // times nothing, which may tell twice of what a stack forgot that goes back.
            rtt = self.by_echo(now);
            last = rtt;
        }
        if rtt.is_none() && facts.acked {
            rtt = self.by_echo(now);
            last = rtt;
        }
        facts.rtt = last;
        let Some(rtt) = rtt else { return false };
        let tick = self.config.host.tick.as_micros();
        self.trip.remember(now, last.unwrap_or(rtt), facts.delayed, tick);
        self.trip.measure(rtt, self.window.una, self.window.nxt);
        self.reset_timeout();
        true
    }

    /// The round trip as the echoed timestamp has it (`tcp_rtt_tsopt_us`), µs.
    fn by_echo(&self, now: u64) -> Option<u64> {
        let ticks = self.ticks(now).wrapping_sub(self.echo?);
        let micros = u64::from(ticks.max(1)) * self.config.host.timestamp_tick.as_micros();
        (micros < u64::from(u32::MAX >> 1)).then_some(micros)
    }

    fn tell_heard(&mut self, now: Instant, facts: &Facts) {
        let sample = self.sample(0, facts);
        self.refresh();
        self.congestion.heard(now, &mut self.window, &sample);
    }

    fn tell_acked(&mut self, now: Instant, count: u32, facts: &Facts) {
        let sample = self.sample(count, facts);
        self.refresh();
        self.congestion.acked(now, &mut self.window, &sample);
    }

    fn sample(&self, count: u32, facts: &Facts) -> AckSample {
        AckSample {
            segments: count,
            bytes: self.window.una - facts.prior_una,
            rtt: facts.rtt.map(Span::from_micros),
            in_flight: (self.rate.delivered - facts.delivery.prior_delivered) as u32,
            plain: facts.plain,
        }
    }

    /// Rate sample and window at the end (`tcp_rate_gen`, `tcp_cong_control`).
    fn control(&mut self, now: Instant, facts: &Facts) {
        let delivered = self.rate.delivered - facts.prior_delivered;
        let lost = self.window.lost - facts.prior_lost;
        let mut sample = self.rate.finish(
            micros(now),
            (delivered, lost),
            self.reneged,
            self.trip.shortest(),
            &facts.delivery,
        );
        sample.rtt = facts.rtt.map(Span::from_micros);
        sample.prior_in_flight = facts.prior_in_flight;
        sample.is_ack_delayed = facts.delayed;
        self.refresh();
        self.controls = self.congestion.control(now, &mut self.window, &sample);
        self.rate.limit(self.window.app_limited);
        if self.controls {
            self.limit_pace();
            return;
        }
        if self.is_reducing() {
            self.reduce(delivered as u32, lost as u32, facts);
        } else if self.may_grow(facts) {
            self.grow(now, delivered as u32);
        }
        self.set_pacing_rate();
    }

    /// In order, or where reordering is common, any progress (`tcp_may_raise_cwnd`).
    fn may_grow(&self, facts: &Facts) -> bool {
        let reorders = self.reordering > self.config.recovery.dupthresh;
        facts.acked || (reorders && facts.sacked)
    }

    /// `cong_avoid`, with RFC 3465's limit where there is one: one segment while a timeout is
    /// repaired (section 2.3).
    fn grow(&mut self, now: Instant, acked: u32) {
        let limit = self.config.window.growth_limit;
        let acked = match self.window.state {
            _ if limit == 0 || !self.window.in_slow_start() => acked,
            State::Loss => acked.min(1),
            _ => acked.min(limit),
        };
        self.refresh();
        self.congestion.avoid(now, &mut self.window, acked);
        self.cwnd_since = now;
    }
}
