//! Smaller segments: ICMP reports a smaller path MTU, or silence suggests a black hole.

use tcplab_units::Instant;

use super::Sender;
use super::interface::Stream;
use super::parts::Retransmit;
use super::rto::time_of_retries;
use super::scoreboard::Smaller;
use crate::config::{self, BlackHole, TimeoutAction};
use crate::congestion::State;

/// Segments do not become smaller to get through a black hole (`tcp_mtu_probe_floor`), bytes.
const LEAST: u32 = 48;

impl Sender {
    /// Data bytes of a full segment that has no options but those that are in every one, as far as
    /// the path is known to take it.
    pub(crate) fn full_mss(&self) -> u32 {
        self.path_mtu.full
    }

    /// The path MTU shrank: segments that are too large are retransmitted smaller, which is no
    /// congestion (`tcp_simple_retransmit`).
    pub(crate) fn set_mss(&mut self, now: Instant, mss: u32, stream: &Stream) {
        self.path_mtu.known = mss;
        self.resize();
        let lost = self.scoreboard.lost_out;
        self.make_smaller(stream, true);
        let more = self.scoreboard.lost_out.saturating_sub(lost);
        self.scoreboard.lost_total += u64::from(more);
        if self.scoreboard.lost_out == 0 {
            return;
        }
        if !self.agreed.sack {
            self.limit_duplicates();
        }
        if self.window.state != State::Loss {
            self.path_mtu.cut_to = self.window.nxt;
            self.recovery.high = self.window.nxt;
            self.window.ssthresh = self.window.current_ssthresh();
            self.undo.prior_ssthresh = 0;
            self.undo.marker = None;
            self.set_state(now, State::Loss);
        }
        self.output.retransmit = Retransmit::Lost;
    }

    /// Options take so much of full segments from now on, besides those that are in every one.
    pub(crate) fn leave_room(&mut self, options: u32) {
        self.path_mtu.options = options;
        self.bound_mss();
    }

    /// The timer expired again: checks whether full packets vanish silently (`tcp_mtu_probing`).
    pub(super) fn suspect_black_hole(&mut self, now: Instant, stream: &Stream) {
        let config::PathMtu { discovery, black_hole, base_mss, patience, .. } =
            self.config.path_mtu;
        let timeout = &self.config.timeout;
        let waits = time_of_retries(patience.into(), timeout.least, timeout.most);
        if !discovery
            || black_hole == BlackHole::Ignored
            || self.rto.in_a_row == 0
            || self.since_first_retransmission(now) < waits
        {
            return;
        }
        let base = u32::from(base_mss);
        let smaller = self.path_mtu.suspected.map_or(base, |mss| base.min(mss / 2));
        self.path_mtu.suspected = Some(smaller.max(LEAST));
        self.resize();
        self.make_smaller(stream, false);
    }

    /// A full segment follows from what is known and suspected of the path.
    fn resize(&mut self) {
        self.path_mtu.resize();
        self.bound_mss();
    }

    fn make_smaller(&mut self, stream: &Stream, is_lost: bool) {
        self.scoreboard.make_smaller(&Smaller {
            most: u64::from(self.window.mss),
            una: self.window.una,
            data_end: stream.data_end(),
            // Go-back-N cuts it as if it were new.
            by_bursts: self.config.timeout.action != TimeoutAction::GoBack,
            is_lost,
        });
    }
}
