//! Round trips and the timeout that follows from them. Integer microseconds, as Linux has them.

use tcplab_units::Span;

use crate::config::TimeoutRule;

/// How long the shortest round trip is remembered (`tcp_min_rtt_wlen`), µs.
const REMEMBERED: u64 = 300_000_000;

/// What is known of round trips.
#[derive(Debug)]
pub(super) struct RoundTrip {
    rule: TimeoutRule,
    /// The least deviation or timeout, as the rule has it, µs.
    least: i64,
    /// The smoothed round trip in eighths of µs; 0: none yet.
    srtt8: i64,
    /// The mean deviation in quarters of µs.
    mdev4: i64,
    /// The largest deviation of this round, and what of it counts (`mdev_max_us`, `rttvar_us`).
    mdev_max: i64,
    rttvar: i64,
    /// When a round is over: at this position.
    round: u64,
    shortest: Shortest,
}

impl RoundTrip {
    pub(super) fn new(rule: TimeoutRule, least: Span) -> RoundTrip {
        let least = least.as_micros() as i64;
        RoundTrip {
            rule,
            least,
            srtt8: 0,
            mdev4: 0,
            mdev_max: least,
            rttvar: 0,
            round: 0,
            shortest: Shortest::default(),
        }
    }

    /// A measurement, µs; `una` and `nxt` as they stand.
    pub(super) fn measure(&mut self, measured: u64, una: u64, nxt: u64) {
        let measured = i64::try_from(measured).unwrap_or(i64::MAX >> 4);
        if self.rule == TimeoutRule::Linux {
            self.measure_as_linux(measured, una, nxt);
        } else if self.srtt8 == 0 {
            // RFC 6298 section 2.2.
            self.srtt8 = (measured << 3).max(1);
            self.mdev4 = measured << 1;
        } else {
            // RFC 6298 section 2.3, scaled.
            let error = measured - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            self.mdev4 += error.abs() - (self.mdev4 >> 2);
        }
    }

    /// `tcp_rtt_estimator`: a round trip that falls moves the deviation an eighth as fast; the
    /// deviation that counts is the largest of the round, and comes down by a quarter each round.
    fn measure_as_linux(&mut self, measured: i64, una: u64, nxt: u64) {
        if self.srtt8 == 0 {
            self.srtt8 = (measured << 3).max(1);
            self.mdev4 = measured << 1;
            self.rttvar = self.mdev4.max(self.least);
            self.mdev_max = self.rttvar;
            self.round = nxt;
            return;
        }
        let error = measured - (self.srtt8 >> 3);
        self.srtt8 = (self.srtt8 + error).max(1);
        let mut step = error.abs() - (self.mdev4 >> 2);
        if error < 0 && step > 0 {
            step >>= 3;
        }
        self.mdev4 += step;
        if self.mdev4 > self.mdev_max {
            self.mdev_max = self.mdev4;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if una > self.round {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.round = nxt;
            self.mdev_max = self.least;
        }
    }

    /// Nothing could be measured in the handshake: what is assumed then (RFC 6298 section 5.7).
    pub(super) fn assume(&mut self, timeout: Span) {
        self.rttvar = timeout.as_micros() as i64;
        self.mdev4 = self.rttvar;
        self.mdev_max = self.rttvar;
    }

    /// The timeout, not backed off, µs; `None` before the first measurement.
    pub(super) fn timeout(&self) -> Option<u64> {
        if self.srtt8 == 0 {
            return None;
        }
        let srtt = self.srtt8 >> 3;
        let timeout = match self.rule {
            TimeoutRule::Linux => srtt + self.rttvar,
            TimeoutRule::Rfc6298 => self.least.max(srtt + self.mdev4),
            TimeoutRule::Xnu => self.least + (srtt + self.mdev4).max(30_000),
            TimeoutRule::OldHaiku => self.least.max(srtt + (self.mdev4 >> 1)),
            TimeoutRule::Haiku => srtt + self.mdev4.max(100_000),
        };
        Some(timeout as u64)
    }

    /// Smoothed, µs.
    pub(super) fn smoothed(&self) -> Option<u64> {
        (self.srtt8 != 0).then_some((self.srtt8 >> 3) as u64)
    }

    /// Smoothed, eighths of µs.
    pub(super) fn smoothed8(&self) -> u64 {
        self.srtt8 as u64
    }

    /// The mean deviation, µs.
    pub(super) fn deviation(&self) -> u64 {
        (self.mdev4 >> 2) as u64
    }

    /// Takes one in for the shortest (`tcp_update_rtt_min`): one that a delayed acknowledgement
    /// made is left out if it is longer. `tick`, µs, stands for none at all.
    pub(super) fn remember(&mut self, now: u64, measured: u64, delayed: bool, tick: u64) {
        if delayed && self.shortest().is_some_and(|least| measured > least) {
            return;
        }
        self.shortest.take(now, if measured == 0 { tick.max(1) } else { measured });
    }

    /// The shortest of the last five minutes, µs.
    pub(super) fn shortest(&self) -> Option<u64> {
        self.shortest.best[0].map(|(_, value)| value)
    }
}

/// The least value of a time that moves on, in three samples (Kathleen Nichols' filter,
/// `win_minmax.c`).
#[derive(Debug, Default)]
struct Shortest {
    /// The best of the whole window, and of its later parts: when, and what.
    best: [Option<(u64, u64)>; 3],
}

impl Shortest {
    fn take(&mut self, now: u64, value: u64) {
        let sample = (now, value);
        let [Some(first), Some(second), Some(third)] = self.best else {
            self.best = [Some(sample); 3];
            return;
        };
        if value <= first.1 || now - third.0 > REMEMBERED {
            self.best = [Some(sample); 3];
            return;
        }
        let mut best = [first, second, third];
        if value <= second.1 {
            best = [first, sample, sample];
        } else if value <= third.1 {
            best[2] = sample;
        }
        let age = now - best[0].0;
        if age > REMEMBERED {
            best = [best[1], best[2], sample];
            if now - best[0].0 > REMEMBERED {
                best = [best[1], best[2], sample];
            }
        } else if best[1].0 == best[0].0 && age > REMEMBERED / 4 {
            best = [best[0], sample, sample];
        } else if best[2].0 == best[1].0 && age > REMEMBERED / 2 {
            best[2] = sample;
        }
        self.best = best.map(Some);
    }
}
