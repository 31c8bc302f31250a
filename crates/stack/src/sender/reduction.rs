//! How the window shrinks in recovery.

use tcplab_units::Instant;

use super::Sender;
use super::facts::Facts;
use super::parts::Delivered;
use super::recovery::Reduction as Progress;
use crate::config::Reduction;
use crate::congestion::{Event, NO_THRESHOLD, State};

impl Sender {
    /// `tcp_in_cwnd_reduction`.
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.window.state, State::Cwr | State::Recovery)
    }

    /// `tcp_init_cwnd_reduction`.
    pub(super) fn begin_reduction(&mut self, now: Instant) {
        self.recovery.high = self.window.nxt;
        self.recovery.loss_probe.high = None;
        self.window.count = 0;
        self.window.prior_cwnd = self.window.cwnd;
        self.recovery.reduction = Progress { earned: 1, ..Progress::default() };
        self.window.ssthresh = self.ask_ssthresh(now);
        self.queue_cwr();
    }

    /// An acknowledgement during a reduction.
    pub(super) fn reduce(&mut self, newly: Delivered, facts: &Facts) {
        match self.config.recovery.reduction {
            Reduction::Proportional | Reduction::Proportional510 => {
                self.reduce_in_proportion(newly, facts);
            }
            // In flight counts a segment per duplicate ACK as delivered, so a window of the
            // threshold's size grows by one for each as RFC 5681 section 3.2 has it.
            Reduction::Inflation => {
                // The first retransmission, and without SACK that of a partial ACK (RFC 6582
                // section 3.2 step 3), leave whatever is in flight.
                let sent = self.recovery.reduction.sent;
                let due = sent == 0 || (facts.advanced && !self.agreed.sack);
                let least = if due { self.scoreboard.in_flight() + 1 } else { 1 };
                self.set_cwnd(self.window.ssthresh.max(least));
            }
            Reduction::OneSegment => self.reduce_to_one(facts),
        }
    }

    /// RFC 6937 section 3 with the slow start reduction bound, as `tcp_cwnd_reduction` has it.
    fn reduce_in_proportion(&mut self, newly: Delivered, facts: &Facts) {
        let (delivered, lost) = (newly.segments as u32, newly.lost as u32);
        if delivered == 0 || self.window.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.scoreboard.in_flight();
        let progress = &mut self.recovery.reduction;
        progress.delivered += delivered;
        let behind = i64::from(progress.delivered) - i64::from(progress.sent);
        let (ssthresh, prior) =
            (u64::from(self.window.ssthresh), u64::from(self.window.prior_cwnd));
        let room = i64::from(self.window.ssthresh) - i64::from(in_flight);
        let mut allowed = if room < 0 {
            let due = (ssthresh * u64::from(progress.delivered)).div_ceil(prior);
            due as i64 - i64::from(progress.sent)
        } else {
            let delivered = i64::from(delivered);
            room.min(match self.config.recovery.reduction {
                Reduction::Proportional510 if !facts.retransmitted || facts.lost_retransmission => {
                    delivered
                }
                Reduction::Proportional510 => behind.max(delivered) + 1,
                _ => behind.max(delivered) + i64::from(facts.advanced && lost == 0),
            })
        };
        // The first retransmission leaves whatever the sums say.
        allowed = allowed.max(i64::from(progress.sent == 0));
        let cwnd = (i64::from(in_flight) + allowed).max(1);
        self.set_cwnd(cwnd as u32);
    }

    /// One segment at first, one more for each duplicate ACK while less than the threshold is in
    /// flight (xnu's `tcp_input` and `tcp_sack_partialack`).
    fn reduce_to_one(&mut self, facts: &Facts) {
        let in_flight = self.scoreboard.in_flight();
        let progress = &mut self.recovery.reduction;
        if facts.advanced {
            let two = facts.before.una + 2 * u64::from(self.window.mss) < self.window.una;
            progress.earned = progress.sent + if two { 2 } else { 1 };
        } else if in_flight < self.window.ssthresh && progress.sent > 0 {
            progress.earned += 1;
        }
        let allowed = progress.earned.saturating_sub(progress.sent);
        self.set_cwnd((in_flight + allowed).max(1));
    }

    /// `tcp_end_cwnd_reduction`.
    pub(super) fn end_reduction(&mut self, now: Instant) {
        if self.congestion.sets_window {
            return;
        }
        let stands = self.window.state == State::Cwr || self.undo.marker.is_some();
        if self.window.ssthresh < NO_THRESHOLD && stands {
            self.set_cwnd(self.window.ssthresh);
            self.congestion.usage.since = now;
        }
        self.inform(now, Event::ReductionComplete);
    }

    /// The next new segment carries CWR (RFC 3168 section 6.1.2).
    pub(super) fn queue_cwr(&mut self) {
        self.output.cwr_queued = self.agreed.ecn;
    }
}
