//! The window and what a congestion control sees of its sender.

use tcplab_units::{Instant, Rate, Span};

use super::State;

/// While no threshold is known (`TCP_INFINITE_SSTHRESH`), segments.
pub const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// A sender, as far as its congestion control sees and sets it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The congestion window.
    pub cwnd: u32,
    /// Segments acknowledged towards the next of cwnd (`snd_cwnd_cnt`).
    pub count: u32,
    /// Slow start threshold.
    pub ssthresh: u32,
    /// The window before the reduction in progress.
    pub prior_cwnd: u32,
    /// The state.
    pub state: State,
    /// Data bytes of a full segment.
    pub mss: u32,
    /// Position below which everything is acknowledged.
    pub una: u64,
    /// Position of the next new byte.
    pub nxt: u64,
    /// When segments were last sent.
    pub last_sent: Instant,
    /// How much is in flight.
    pub flight: Flight,
    /// RTTs.
    pub rtt: RoundTrips,
    /// How much was delivered.
    pub delivery: Deliveries,
    /// Pacing.
    pub pacing: PacingState,
}

/// Segments in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flight {
    /// Segments sent and not acknowledged (`packets_out`).
    pub packets_out: u32,
    /// Segments in flight: sent, less those SACKed or lost, plus those retransmitted.
    pub in_flight: u32,
    /// The most that was in flight in the last round (`max_packets_out`).
    pub max_packets_out: u32,
    /// Whether the window, and not the application, held data back in the last round.
    pub is_cwnd_limited: bool,
}

/// Measured RTTs; `None` before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoundTrips {
    /// Smoothed RTT.
    pub srtt: Option<Span>,
    /// The RTT minimum of the last five minutes (`tcp_min_rtt_wlen`).
    pub min_rtt: Option<Span>,
}

/// Segments delivered and lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deliveries {
    /// Segments delivered so far, SACKed ones included (`tp->delivered`).
    pub delivered: u64,
    /// Segments marked lost so far (`tp->lost`).
    pub lost: u64,
    /// Segments sent count as limited by the application until `delivered` exceeds this; the sender
    /// then removes it (`tp->app_limited`). A control may set it.
    pub app_limited: Option<u64>,
}

/// How segments are paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PacingState {
    /// The pacing rate (`sk_pacing_rate`); `None`: not known yet.
    pub rate: Option<Rate>,
    /// Whether segments are paced (`sk_pacing_status`).
    pub is_on: bool,
    /// When the next segment may leave at the earliest, later or earlier than now
    /// (`tp->tcp_wstamp_ns`).
    pub departure: Instant,
}

impl Window {
    /// The window of a new connection: `initial` segments of `mss` bytes, no threshold, nothing
    /// sent.
    pub fn new(mss: u32, initial: u32) -> Window {
        Window { cwnd: initial, ssthresh: NO_THRESHOLD, mss, ..Window::default() }
    }

    /// Below the threshold (`tcp_in_slow_start`).
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether more of cwnd would be used (`tcp_is_cwnd_limited`): in slow start, cwnd may grow to
    /// twice what was in flight.
    pub fn is_limited(&self) -> bool {
        self.flight.is_cwnd_limited
            || (self.in_slow_start()
                && u64::from(self.cwnd) < 2 * u64::from(self.flight.max_packets_out))
    }

    /// The threshold that is worth remembering: at least three quarters of cwnd, but while cwnd is
    /// being reduced (`tcp_current_ssthresh`).
    pub fn current_ssthresh(&self) -> u32 {
        match self.state {
            State::Cwr | State::Recovery => self.ssthresh,
            _ => self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2)),
        }
    }

    /// RFC 5681 section 3.1 as `tcp_slow_start` has it: grows by what was acknowledged up to the
    /// threshold. Gives what is left beyond it.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// One more for each `per` acknowledged (`tcp_cong_avoid_ai`).
    pub fn grow(&mut self, per: u32, acked: u32) {
        // The window may have shrunk since the count began.
        if self.count >= per {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        if self.count >= per {
            let more = self.count / per;
            self.count -= more * per;
            self.cwnd += more;
        }
    }
}
