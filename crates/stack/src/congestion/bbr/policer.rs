//! Whether a token bucket polices the path, and to which rate.

use tcplab_units::Instant;

use super::units::{BW_UNIT, UNIT, bytes_per_second};
use crate::congestion::{RateSample, Window};

/// Rounds of an interval at least (`bbr_lt_intvl_min_rtts`); one of more than four times as many is
/// given up.
const LEAST_ROUNDS: u32 = 4;
/// Lost for each delivered, in 256ths, from which on an interval counts: 20 %
/// (`bbr_lt_loss_thresh`).
const LOSSY: u64 = 50;
/// Rates that differ by an eighth at most are the same (`bbr_lt_bw_ratio`)…
const SAME_RATIO: u64 = UNIT / 8;
/// …and those that differ by 4 kbit/s, in bytes a second (`bbr_lt_bw_diff`).
const SAME_DIFFERENCE: u64 = 4_000 / 8;
/// How many rounds the rate found is kept (`bbr_lt_bw_max_rtts`).
const MOST_ROUNDS: u32 = 48;

/// Long-term sampling (`bbr_lt_bw_sampling`): two intervals in a row, each from a loss to a loss,
/// that are lossy and brought the same rate, say that the path is policed.
#[derive(Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    in_use: bool,
    /// Rounds of the interval, or for which the rate has been in use.
    rounds: u32,
    /// That of the last interval; zero: none.
    bandwidth: u64,
    start: Start,
}

/// How things stood when the interval began.
#[derive(Debug, Default)]
struct Start {
    /// Milliseconds.
    time: u64,
    delivered: u64,
    lost: u64,
}

/// What a sample said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing new.
    Nothing,
    /// The path is policed.
    Policed,
    /// The time of the policed rate is over.
    NoLonger,
}

impl Policer {
    /// The rate it polices to, segments a microsecond in 2⁻²⁴.
    pub(super) fn bandwidth(&self) -> Option<u64> {
        self.in_use.then_some(self.bandwidth)
    }

    /// All is forgotten.
    pub(super) fn reset(&mut self, now: Instant, window: &Window) {
        *self = Policer::default();
        self.begin(now, window);
    }

    /// `now` is when anything was last delivered; `probes` whether bandwidth is being probed.
    pub(super) fn sample(
        &mut self,
        now: Instant,
        window: &Window,
        rate: &RateSample,
        round_start: bool,
        probes: bool,
    ) -> Verdict {
        if self.in_use {
            return self.use_up(now, window, probes && round_start);
        }
        // The tokens have to be used up first: what passes before says nothing of the rate.
        if !self.is_sampling {
            if rate.losses == 0 {
                return Verdict::Nothing;
            }
            self.begin(now, window);
            self.is_sampling = true;
        }
        if rate.app_limited {
            self.reset(now, window);
            return Verdict::Nothing;
        }
        self.rounds += u32::from(round_start);
        if self.rounds < LEAST_ROUNDS {
            return Verdict::Nothing;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(now, window);
            return Verdict::Nothing;
        }
        if rate.losses == 0 {
            return Verdict::Nothing;
        }
        self.measure(now, window)
    }

    fn use_up(&mut self, now: Instant, window: &Window, round: bool) -> Verdict {
        self.rounds += u32::from(round);
        if !round || self.rounds < MOST_ROUNDS {
            return Verdict::Nothing;
        }
        self.reset(now, window);
        Verdict::NoLonger
    }

    fn begin(&mut self, now: Instant, window: &Window) {
        self.rounds = 0;
        self.start = Start {
            time: millis(now),
            delivered: window.delivery.delivered,
            lost: window.delivery.lost,
        };
    }

    /// Ends the interval, if enough was lost in it (`bbr_lt_bw_interval_done`).
    fn measure(&mut self, now: Instant, window: &Window) -> Verdict {
        let lost = window.delivery.lost - self.start.lost;
        let delivered = window.delivery.delivered - self.start.delivered;
        let elapsed = millis(now).saturating_sub(self.start.time);
        if delivered == 0 || lost * UNIT < LOSSY * delivered || elapsed == 0 {
            return Verdict::Nothing;
        }
        let bandwidth = (delivered * BW_UNIT / (elapsed * 1_000)).min(u32::MAX.into());
        if self.bandwidth > 0 && self.is_same(bandwidth, window.mss) {
            self.bandwidth = u64::midpoint(self.bandwidth, bandwidth);
            self.in_use = true;
            self.rounds = 0;
            return Verdict::Policed;
        }
        self.bandwidth = bandwidth;
        self.begin(now, window);
        Verdict::Nothing
    }

    fn is_same(&self, bandwidth: u64, mss: u32) -> bool {
        let difference = bandwidth.abs_diff(self.bandwidth);
        difference * UNIT <= SAME_RATIO * self.bandwidth
            || bytes_per_second(difference, mss, UNIT) <= SAME_DIFFERENCE
    }
}

fn millis(time: Instant) -> u64 {
    time.as_nanos() / 1_000_000
}

#[cfg(test)]
mod tests {
    use tcplab_units::Span;

    use super::*;

    /// Rounds of 10 ms in which `delivered` segments came and `lost` were lost, the losses known
    /// at the end of every fourth. What each said.
    fn rounds(policer: &mut Policer, window: &mut Window, each: &[(u64, u64)]) -> Vec<Verdict> {
        let mut now = Instant::ZERO + Span::from_millis(10 * window.delivery.delivered);
        let mut lost = 0;
        each.iter()
            .enumerate()
            .map(|(i, &(delivered, losses))| {
                now += Span::from_millis(10);
                window.delivery.delivered += delivered;
                lost += losses;
                window.delivery.lost += losses;
                let found = if i % 4 == 3 { std::mem::take(&mut lost) } else { 0 };
                let rate = RateSample { losses: found as u32, ..RateSample::default() };
                policer.sample(now, window, &rate, true, true)
            })
            .collect()
    }

    fn new() -> (Policer, Window) {
        (Policer::default(), Window::new(1_000, 10))
    }

    /// The fourth round shows the first loss; two intervals of four rounds follow, with 10
    /// delivered and 3 lost in each round: more than 20 %, and 1 segment a millisecond both times.
    #[test]
    fn policer_two_lossy_intervals_of_one_rate_is_detected() {
        let (mut policer, mut window) = new();
        let verdicts = rounds(&mut policer, &mut window, &[(10, 3); 12]);
        assert_eq!(verdicts[11], Verdict::Policed);
        assert!(verdicts[..11].iter().all(|verdict| *verdict == Verdict::Nothing));
        assert_eq!(policer.bandwidth(), Some(BW_UNIT / 1_000));
        // For 48 rounds, and then the path is tried again.
        let verdicts = rounds(&mut policer, &mut window, &[(10, 0); 48]);
        assert_eq!(verdicts.iter().position(|v| *v == Verdict::NoLonger), Some(47));
        assert_eq!(policer.bandwidth(), None);
    }

    #[test]
    fn policer_few_losses_or_different_rates_is_not_detected() {
        let (mut policer, mut window) = new();
        rounds(&mut policer, &mut window, &[(10, 1); 40]);
        assert_eq!(policer.bandwidth(), None);
        let (mut policer, mut window) = new();
        let each: Vec<(u64, u64)> =
            (0..40).map(|i| if i / 4 % 2 == 0 { (10, 3) } else { (15, 4) }).collect();
        rounds(&mut policer, &mut window, &each);
        assert_eq!(policer.bandwidth(), None);
    }
}
