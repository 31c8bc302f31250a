//! Finding losses: by the stack's method, and by counting duplicate ACKs.

use tcplab_units::Instant;

use super::facts::Facts;
use super::interface::Stream;
use super::parts::{Delivered, Purpose, Retransmit};
use super::recovery::{Evidence, LossRecovery};
use super::scoreboard::Record;
use super::{Sender, micros};
use crate::congestion::State;

impl Sender {
    /// The method, and what it decides on.
    pub(super) fn evidence(&mut self, now: Instant) -> (&mut dyn LossRecovery, Evidence<'_>) {
        let evidence = Evidence {
            now: micros(now),
            scoreboard: &mut self.scoreboard,
            reordering: &self.recovery.reordering,
            rto: &self.rto,
            state: self.window.state,
            una: self.window.una,
            mss: self.window.mss,
            duplicates: self.recovery.duplicates,
        };
        (&mut *self.recovery.method, evidence)
    }

    /// Marks what this acknowledgement shows to be lost.
    pub(super) fn identify_losses(&mut self, now: Instant, facts: &mut Facts) {
        if self.scoreboard.is_empty() {
            return;
        }
        let retransmissions = self.scoreboard.retrans_out;
        let (method, mut evidence) = self.evidence(now);
        if let Some(wait) = method.mark_losses(&mut evidence, facts.advanced) {
            self.set_alarm(now, Purpose::Reordering, wait);
            facts.set_timer = false;
        }
        facts.lost_retransmission |= retransmissions > self.scoreboard.retrans_out;
    }

    /// Whether fast recovery is due.
    pub(super) fn is_recovery_due(&mut self, now: Instant) -> bool {
        let (method, evidence) = self.evidence(now);
        method.is_due(&evidence)
    }

    /// RACK's timer expired (`tcp_rack_reo_timeout`).
    pub(super) fn reordering_timed_out(&mut self, now: Instant) {
        let (in_flight, lost) = (self.scoreboard.in_flight(), self.scoreboard.lost_total);
        let (method, mut evidence) = self.evidence(now);
        method.mark_overdue(&mut evidence);
        if self.scoreboard.in_flight() != in_flight {
            if self.window.state != State::Recovery {
                self.enter_recovery(now, false);
                if !self.congestion.sets_window {
                    let lost = self.scoreboard.lost_total - lost;
                    self.reduce(Delivered { segments: 1, lost }, &Facts::default());
                }
            }
            self.output.retransmit = Retransmit::Lost;
        }
        self.rearm(now, true);
    }

    /// After a timeout (`tcp_process_loss`), with F-RTO (RFC 5682 section 3.1).
    pub(super) fn process_loss(
        &mut self,
        now: Instant,
        duplicates: u32,
        stream: &Stream,
        facts: &mut Facts,
    ) {
        let recovered = self.window.una >= self.recovery.high;
        if facts.advanced && self.try_undo_loss(now, false) {
            return;
        }
        if self.recovery.frto {
            // Step 3.b: a segment sent once arrived, so not everything was lost.
            if facts.original && self.try_undo_loss(now, true) {
                return;
            }
            if self.window.nxt > self.recovery.high {
                if facts.sack.any || duplicates > 0 {
                    self.recovery.frto = false;
                }
            } else if facts.advanced && !recovered {
                self.recovery.high = self.window.nxt;
                // Step 2.b: new data, if there is any and room for it.
                if stream.end > self.window.nxt && self.window_end() > self.window.nxt {
                    self.output.retransmit = Retransmit::AfterNew;
                    return;
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(now);
            return;
        }
        if !self.agreed.sack {
            // A duplicate ACK is the new data of step 2.b, delivered.
            if self.window.nxt > self.recovery.high && duplicates > 0 {
                self.add_duplicates(duplicates);
            } else if facts.advanced {
                self.scoreboard.sacked_out = 0;
            }
        }
        self.output.retransmit = Retransmit::Lost;
    }

    /// Each duplicate ACK counts as a segment that has arrived (`tcp_add_reno_sack`).
    pub(super) fn add_duplicates(&mut self, count: u32) {
        if count == 0 {
            return;
        }
        let before = self.scoreboard.sacked_out;
        self.scoreboard.sacked_out += count;
        self.check_duplicates(0);
        self.rate.delivered += u64::from(self.scoreboard.sacked_out.saturating_sub(before));
    }

    /// `count` segments were acknowledged: the first filled the hole, the others are those that the
    /// duplicate ACKs stood for (`tcp_remove_reno_sacks`).
    pub(super) fn remove_duplicates(&mut self, count: u32) {
        if count > 0 {
            let sacked = self.scoreboard.sacked_out;
            self.rate.delivered += u64::from(count.saturating_sub(sacked).max(1));
            self.scoreboard.sacked_out = sacked.saturating_sub(count - 1);
        }
        self.check_duplicates(count);
    }

    /// More duplicate ACKs than segments that can have arrived show reordering
    /// (`tcp_check_reno_reordering`).
    fn check_duplicates(&mut self, more: u32) {
        if self.limit_duplicates() {
            let distance = self.scoreboard.packets_out() + more;
            self.recovery.reordering.learn(distance);
            self.recovery.reordering.events += 1;
        }
    }

    /// `tcp_limit_reno_sacked`.
    pub(super) fn limit_duplicates(&mut self) -> bool {
        let packets = self.scoreboard.packets_out();
        let holes = self.scoreboard.lost_out.max(1).min(packets);
        let too_many = self.scoreboard.sacked_out + holes > packets;
        if too_many {
            self.scoreboard.sacked_out = packets - holes;
        }
        too_many
    }

    /// The segment at `lowest` arrived after what was sent behind it
    /// (`tcp_check_sack_reordering`).
    pub(super) fn learn_reordering(&mut self, lowest: u64) {
        let highest = self.highest_sacked();
        if lowest >= highest {
            return;
        }
        let distance = highest - lowest;
        let mss = u64::from(self.window.mss);
        let reordering = &mut self.recovery.reordering;
        if distance > u64::from(reordering.segments) * mss {
            reordering.learn(distance.div_ceil(mss) as u32);
        }
        reordering.events += 1;
    }

    /// Whether anything outstanding was retransmitted (`tcp_any_retrans_done`).
    pub(super) fn any_retransmitted(&self) -> bool {
        self.scoreboard.retrans_out > 0
            || self.scoreboard.head().is_some_and(Record::was_retransmitted)
    }

    /// Forgets the time of the first retransmission once none is outstanding.
    pub(super) fn forget_stamp(&mut self) {
        if !self.any_retransmitted() {
            self.undo.stamp = None;
        }
    }
}
