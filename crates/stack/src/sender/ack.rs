//! Processing an acknowledgement, in the order of `tcp_ack`.

use tcplab_units::Instant;

use super::facts::{Before, Facts, SackFacts, SegmentFacts};
use super::feedback::Progress;
use super::interface::{Ack, AckOutcome, Stream};
use super::parts::Retransmit;
use super::{Sender, micros};
use crate::congestion::State;

impl Sender {
    /// Processes an acceptable acknowledgement.
    pub(crate) fn handle_ack(
        &mut self,
        now: Instant,
        ack: &Ack<'_>,
        stream: &Stream,
    ) -> AckOutcome {
        self.peer.echo = ack.echo;
        self.output.retransmit = Retransmit::Nothing;
        let mut facts = self.facts(ack);
        if ack.position < self.window.una {
            self.handle_old(now, ack, stream, &mut facts);
        } else {
            self.handle_current(now, ack, stream, &mut facts);
        }
        self.refresh();
        AckOutcome {
            acked: self.window.una - facts.before.una,
            dsack: facts.sack.dsack,
            window_changed: facts.segment.window_update,
        }
    }

    fn facts(&self, ack: &Ack<'_>) -> Facts {
        let una = self.window.una;
        let current = ack.position >= una;
        Facts {
            before: Before {
                una,
                delivered: self.rate.delivered,
                lost: self.scoreboard.lost_total,
                in_flight: self.scoreboard.in_flight(),
                sacked: self.scoreboard.sacked_out,
                highest_sacked: if self.agreed.sack { self.highest_sacked() } else { una },
                sacked_bytes: ack.told.map_or(0, |_| self.scoreboard.runs.bytes()),
            },
            segment: SegmentFacts {
                carries_data: current && ack.carries_data,
                ece: current && ack.ece && self.agreed.ecn,
                ..SegmentFacts::default()
            },
            sack: SackFacts { late: self.window.nxt, ..SackFacts::default() },
            advanced: ack.position > una,
            ..Facts::default()
        }
    }

    /// An acknowledgement that arrived out of order: only its SACK blocks count.
    fn handle_old(&mut self, now: Instant, ack: &Ack<'_>, stream: &Stream, facts: &mut Facts) {
        if ack.sack.is_empty() || !self.agreed.sack {
            return;
        }
        self.process_sack(micros(now), ack, facts);
        self.fast_alert(now, 0, stream, facts);
    }

    fn handle_current(&mut self, now: Instant, ack: &Ack<'_>, stream: &Stream, facts: &mut Facts) {
        let was_idle = self.scoreboard.is_empty();
        // Header prediction: a duplicate without SACK is plain, too (`tcp_rcv_established`).
        facts.segment.plain =
            ack.sack.is_empty() && !facts.segment.ece && ack.window == self.peer.window;
        if facts.advanced {
            self.check_bad_retransmit(now);
            self.rto.in_a_row = 0;
            self.recovery.duplicates = 0;
        }
        self.update_window(now, ack, stream, facts);
        if !ack.sack.is_empty() && self.agreed.sack && !self.is_going_back() {
            self.process_sack(micros(now), ack, facts);
            self.rate.delivered += u64::from(facts.sack.delivered);
        }
        self.peer.probe.out = 0;
        self.peer.heard_at = now;
        if was_idle {
            self.hear_marks(ack, facts);
            self.inform_of_ack(now, facts);
            if facts.sack.dsack {
                self.fast_alert(now, 0, stream, facts);
            }
            self.check_window_opened(now, stream);
            self.process_probe_ack(now, ack.position, facts);
            return;
        }
        self.acknowledge(now, facts);
        self.recovery.method.adapt(facts.delivery.prior_delivered, self.rate.delivered);
        self.hear_marks(ack, facts);
        self.inform_of_ack(now, facts);
        self.process_probe_ack(now, ack.position, facts);
        let dubious =
            facts.may_be_duplicate() || facts.alerts() || self.window.state != State::Open;
        if dubious {
            let duplicate = !facts.advanced && facts.may_be_duplicate() && !facts.sack.dsack;
            self.recovery.duplicates += u32::from(duplicate);
            self.fast_alert(now, u32::from(duplicate), stream, facts);
        }
        if facts.set_timer && !self.schedule_loss_probe(now, true) {
            self.rearm_timeout(now);
        }
        self.control_window(now, facts);
    }

    /// Accurate ECN: more marks than before count as ECE (`tcp_accecn_process`).
    fn hear_marks(&mut self, ack: &Ack<'_>, facts: &mut Facts) {
        let Some(told) = &ack.told else { return };
        let acked = self.window.una - facts.before.una;
        let sacked = self.scoreboard.runs.bytes();
        let progress = Progress {
            segments: self.rate.delivered - facts.before.delivered,
            bytes: (acked + sacked).saturating_sub(facts.before.sacked_bytes),
            mss: self.window.mss.into(),
            sent: self.output.counters.bytes_sent,
            is_exact: self.agreed.sack || matches!(self.window.state, State::Open | State::Cwr),
        };
        facts.segment.ece |= self.feedback.hear(told, &progress) > 0;
    }

    /// Window and first outstanding byte (`tcp_ack_update_window`).
    fn update_window(&mut self, now: Instant, ack: &Ack<'_>, stream: &Stream, facts: &mut Facts) {
        let peer = &mut self.peer;
        let is_newer = facts.advanced
            || ack.sequence > peer.window_sequence
            || (ack.sequence == peer.window_sequence
                && (ack.window > peer.window || ack.window == 0));
        if is_newer {
            facts.segment.window_update = true;
            peer.window_sequence = ack.sequence;
            if ack.window != peer.window {
                peer.window = ack.window;
                if ack.window > peer.largest_window {
                    peer.largest_window = ack.window;
                    self.bound_mss();
                }
                if stream.end > self.window.nxt {
                    self.check_idle(now);
                }
            }
        }
        self.window.una = ack.position;
    }
}
