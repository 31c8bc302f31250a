//! Segments become smaller: the path takes no larger packets, as ICMP tells or as silence does.

use tcplab_units::Instant;

use super::scoreboard::Smaller;
use super::timeout::modelled;
use super::{Repeat, Sender, Stream};
use crate::config::{self, BlackHole, TimeoutAction};
use crate::congestion::State;

/// No segment is made smaller to get through a black hole (`tcp_mtu_probe_floor`), bytes.
const LEAST: u32 = 48;

/// What a sender knows of what the path takes.
#[derive(Debug, Default)]
pub(super) struct PathMtu {
    /// Data bytes of a full segment as MSS and path MTU have it.
    told: u32,
    /// The most data bytes of a segment since a black hole is suspected.
    suspected: Option<u32>,
    /// What lies below is sent again because it was too large, and for no other reason.
    cut_to: u64,
}

impl PathMtu {
    pub(super) fn new(mss: u32) -> PathMtu {
        PathMtu { told: mss, ..PathMtu::default() }
    }

    /// Whether what begins at `start` is sent again because it was too large.
    pub(super) fn explains(&self, start: u64) -> bool {
        start < self.cut_to
    }

    /// The timer ran out: what is sent again now is so for another reason.
    pub(super) fn timed_out(&mut self) {
        self.cut_to = 0;
    }
}

impl Sender {
    /// Data bytes of a full segment, as far as the path is known to take it.
    pub(crate) fn full_mss(&self) -> u32 {
        self.full_mss
    }

    /// Segments become smaller, the path's MTU demands it; what is too large is sent again, which
    /// is no congestion (`tcp_simple_retransmit`).
    pub(crate) fn set_mss(&mut self, now: Instant, mss: u32, stream: &Stream) {
        self.path_mtu.told = mss;
        self.resize();
        let lost = self.board.lost_out;
        self.make_smaller(stream, true);
        self.window.lost += u64::from(self.board.lost_out.saturating_sub(lost));
        if self.board.lost_out == 0 {
            return;
        }
        if !self.sack {
            self.limit_duplicates();
        }
        if self.window.state != State::Loss {
            self.path_mtu.cut_to = self.window.nxt;
            self.high = self.window.nxt;
            self.window.ssthresh = self.current_ssthresh();
            self.undo.prior_ssthresh = 0;
            self.undo.marker = None;
            self.set_state(now, State::Loss);
        }
        self.repeating = Repeat::Lost;
    }

    /// The timer ran out again: whether full packets vanish without a word (`tcp_mtu_probing`).
    pub(super) fn suspect_black_hole(&mut self, now: Instant, stream: &Stream) {
        let config::PathMtu { discovery, black_hole, base_mss, patience, .. } =
            self.config.path_mtu;
        let timeout = &self.config.timeout;
        let waits = modelled(patience.into(), timeout.least, timeout.most);
        if !discovery
            || black_hole == BlackHole::Ignored
            || self.timeout.in_a_row == 0
            || self.since_first_repetition(now) < waits
        {
            return;
        }
        let base = u32::from(base_mss);
        let smaller = self.path_mtu.suspected.map_or(base, |mss| base.min(mss / 2));
        self.path_mtu.suspected = Some(smaller.max(LEAST));
        self.resize();
        self.make_smaller(stream, false);
    }

    /// What a full segment is follows from what is told and what is suspected.
    fn resize(&mut self) {
        let suspected = self.path_mtu.suspected.unwrap_or(u32::MAX);
        self.full_mss = self.path_mtu.told.min(suspected);
        self.bound_mss();
    }

    fn make_smaller(&mut self, stream: &Stream, is_lost: bool) {
        self.board.make_smaller(&Smaller {
            most: u64::from(self.window.mss),
            una: self.window.una,
            data_end: stream.end - u64::from(stream.fin),
            // Where sending begins again at the first byte, it is cut as if it were new.
            by_bursts: self.config.timeout.action != TimeoutAction::GoBack,
            is_lost,
        });
    }
}
