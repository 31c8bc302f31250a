//! HyStart: where slow start should end (Ha and Rhee, PFLDNeT 2008; not RFC 9406).

use tcplab_units::Instant;

use crate::congestion::ticks::micros;
use crate::congestion::{Setup, Window};

/// Smaller windows stay in slow start (`hystart_low_window`), segments.
const LOW_WINDOW: u32 = 16;
/// Acknowledgements no further apart belong to one train (`hystart_ack_delta_us`), µs.
const TRAIN_GAP: u64 = 2_000;
/// Round trips of a round before its shortest is judged (`HYSTART_MIN_SAMPLES`).
const ENOUGH_SAMPLES: u32 = 8;
/// How much longer it has to be, at least and at most (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`),
/// µs.
const DELAY: (u64, u64) = (4_000, 16_000);
/// Waiting for bursts to gather is taken for so much delay at most (`hystart_ack_delay`), µs.
const MOST_GATHERING: u64 = 1_000;

/// Looks in each round of slow start for two signs that the path is full: acknowledgements that
/// come in one train for half a round trip, and round trips that grow longer.
#[derive(Debug, Default)]
pub(super) struct HyStart {
    burst: u64,
    /// Whether rounds are followed below the least window, too.
    from_first: bool,
    found: bool,
    round_start: Instant,
    last_ack: Instant,
    round_end: u64,
    samples: u32,
    /// The RTT minimum of this round, µs.
    round_rtt: u64,
}

impl HyStart {
    /// On a machine like `setup`.
    pub(super) fn new(setup: &Setup) -> HyStart {
        HyStart {
            burst: u64::from(setup.burst),
            from_first: setup.hystart_from_first,
            round_rtt: u64::MAX,
            ..HyStart::default()
        }
    }

    /// A new slow start.
    pub(super) fn restart(&mut self, now: Instant, window: &Window) {
        self.found = false;
        self.begin_round(now, window);
    }

    /// Ends slow start when the path is full (`hystart_update`): the threshold becomes cwnd.
    /// `rtt` was just measured; `least` is the shortest, in µs both.
    pub(super) fn judge(&mut self, now: Instant, window: &mut Window, rtt: u64, least: u64) {
        let is_low = window.cwnd < LOW_WINDOW;
        if self.found || is_low && !self.from_first {
            return;
        }
        if window.una > self.round_end {
            self.begin_round(now, window);
        }
        if is_low {
            return;
        }
        if self.is_long_train(now, window, least) | self.is_delayed(rtt, least) {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    fn begin_round(&mut self, now: Instant, window: &Window) {
        self.round_start = now;
        self.last_ack = now;
        self.round_end = window.nxt;
        self.samples = 0;
        self.round_rtt = u64::MAX;
    }

    fn is_long_train(&mut self, now: Instant, window: &Window, least: u64) -> bool {
        if micros(now) - micros(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        let mut long = least + self.gathering(window);
        // Pacing spreads a window over half a round trip by itself.
        if !window.pacing.is_on {
            long /= 2;
        }
        micros(now) - micros(self.round_start) > long
    }

    fn is_delayed(&mut self, rtt: u64, least: u64) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < ENOUGH_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round_rtt > least + (least / 8).clamp(DELAY.0, DELAY.1)
    }

    /// How long four of the largest bursts take at the rate of pacing, which Linux reckons whether
    /// or not anything is paced (`hystart_ack_delay`), µs.
    fn gathering(&self, window: &Window) -> u64 {
        let bytes_per_second = window.pacing.rate.map_or(0, |rate| rate.bits_per_second() / 8);
        (self.burst * 4 * 1_000_000).checked_div(bytes_per_second).unwrap_or(0).min(MOST_GATHERING)
    }
}
