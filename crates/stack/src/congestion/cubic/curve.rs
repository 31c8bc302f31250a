//! The cubic function and how fast the window follows it.

use tcplab_units::{Instant, Span};

use crate::congestion::ticks::Ticks;

/// Fractions are in 1024ths (`BICTCP_BETA_SCALE`), and so is time in the function (`BICTCP_HZ`).
pub(super) const SCALE: u64 = 1_024;
/// β, what a reduction leaves: 717/1024 ≈ 0.7 (RFC 9438 section 4.6).
pub(super) const BETA: u64 = 717;
/// C = 410/1024 segments/s³ ≈ 0.4 (RFC 9438 section 5.1): `bic_scale` is 41, and that for a round
/// trip of 100 ms.
const C: u64 = 410;
/// Acknowledged segments for one more of the window that Reno would have, in eighths of cwnd:
/// 8·(1 + β) ⁄ 3(1 − β) = 15.1, taken down. RFC 9438 section 4.3 (α_cubic) in whole numbers.
const RENO: u64 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);
/// How seldom the function is looked at while cwnd stays: every 32nd of a second.
const LOOKS_PER_SECOND: u64 = 32;
/// At most one more segment for two acknowledged: 1.5 × a round (RFC 9438 section 4.2).
const FASTEST: u64 = 2;
/// Before the first reduction, at least one more for twenty acknowledged: 5 % a round.
const SLOWEST_AT_FIRST: u64 = 20;
/// At or above the target: next to no growth, one more for a hundred windows.
const STANDSTILL: u64 = 100;

/// W(t) = C·(t − K)³ + W_max of RFC 9438 section 4.2, in the integers of `bictcp_update`.
///
/// Linux departs from the RFC: it looks ahead by the RTT minimum instead of the smoothed
/// one, the region of Reno never goes over to α = 1, and there are the two bounds on the growth
/// below that the RFC does not know. The cube root is exact here; Linux's is within 0.15 %.
#[derive(Debug)]
pub(super) struct Curve {
    ticks: Ticks,
    /// The window before the last reduction, or less of it (`last_max_cwnd`); zero: none was.
    max: u64,
    /// When the present epoch began (`epoch_start`), ticks.
    epoch: Option<u64>,
    /// W_max of this epoch (`bic_origin_point`).
    origin: u64,
    /// When it is reached (`bic_K`), 1024ths of a second.
    until_origin: u64,
    /// The window and the time of the last look (`last_cwnd`, `last_time`).
    last: Option<(u32, u64)>,
    /// Acknowledged segments for one more of cwnd (`cnt`).
    per: u64,
    /// The window that Reno would have (`tcp_cwnd`), and segments acknowledged towards its next
    /// (`ack_cnt`).
    reno: u64,
    towards_reno: u64,
}

impl Curve {
    /// Before any reduction.
    pub(super) fn new(ticks: Ticks) -> Curve {
        Curve {
            ticks,
            max: 0,
            epoch: None,
            origin: 0,
            until_origin: 0,
            last: None,
            per: FASTEST,
            reno: 0,
            towards_reno: 0,
        }
    }

    /// A reduction from `cwnd`. Where the window had not come back to W_max, room is given to
    /// others (RFC 9438 section 4.7, fast convergence).
    pub(super) fn end_epoch(&mut self, cwnd: u32) {
        let cwnd = u64::from(cwnd);
        self.epoch = None;
        self.max = if cwnd < self.max { cwnd * (SCALE + BETA) / (2 * SCALE) } else { cwnd };
    }

    /// Leaves out the time since `last_sent`.
    pub(super) fn shift(&mut self, now: Instant, last_sent: Instant) {
        let now = self.ticks.at(now);
        let idle = now.saturating_sub(self.ticks.at(last_sent));
        self.epoch = self.epoch.map(|epoch| (epoch + idle).min(now));
    }

    /// Whether the epoch is below a second old: round trips may be those of recovery.
    pub(super) fn is_young(&self, now: Instant) -> bool {
        self.epoch
            .is_some_and(|epoch| self.ticks.at(now).saturating_sub(epoch) < self.ticks.per_second())
    }

    /// After how many acknowledged segments the window grows by one; `acked` just were.
    /// `least_rtt` in µs.
    pub(super) fn segments_for_one(
        &mut self,
        now: Instant,
        cwnd: u32,
        acked: u32,
        least_rtt: u64,
    ) -> u32 {
        let now = self.ticks.at(now);
        self.towards_reno += u64::from(acked);
        if let Some((last_cwnd, last_time)) = self.last {
            let pause = self.ticks.per_second() / LOOKS_PER_SECOND;
            if last_cwnd == cwnd && now - last_time <= pause {
                return self.per as u32;
            }
        }
        let looked_now = self.last.is_some_and(|(_, last_time)| last_time == now);
        if self.epoch.is_none() || !looked_now {
            self.last = Some((cwnd, now));
            self.look(now, u64::from(cwnd), u64::from(acked), least_rtt);
        }
        self.keep_up_with_reno(u64::from(cwnd));
        self.per = self.per.max(FASTEST);
        u32::try_from(self.per).unwrap_or(u32::MAX)
    }

    fn look(&mut self, now: u64, cwnd: u64, acked: u64, least_rtt: u64) {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(now, cwnd, acked),
        };
        let ahead = self.ticks.of(Span::from_micros(least_rtt));
        let target = self.at(self.ticks.in_1024ths(now.saturating_sub(epoch) + ahead));
        self.per = if target > cwnd { cwnd / (target - cwnd) } else { STANDSTILL * cwnd };
        if self.max == 0 {
            self.per = self.per.min(SLOWEST_AT_FIRST);
        }
    }

    fn begin_epoch(&mut self, now: u64, cwnd: u64, acked: u64) -> u64 {
        self.epoch = Some(now);
        self.towards_reno = acked;
        self.reno = cwnd;
        self.origin = self.max.max(cwnd);
        // K = ∛((W_max − cwnd)/C), RFC 9438 figure 2; 1024ths of a second.
        self.until_origin = cube_root((1 << 40) / C * (self.origin - cwnd));
        now
    }

    /// The function `time` after the epoch's begin, 1024ths of a second.
    fn at(&self, time: u64) -> u64 {
        let distance = u128::from(time.abs_diff(self.until_origin));
        let cubed = u128::from(C).saturating_mul(distance.saturating_pow(3));
        let delta = u64::try_from(cubed >> 40).unwrap_or(u64::MAX);
        if time < self.until_origin {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        }
    }

    /// RFC 9438 section 4.3: grows at least so fast that a window smaller than Reno's catches up in
    /// a round.
    fn keep_up_with_reno(&mut self, cwnd: u64) {
        let per = (cwnd * RENO / 8).max(1);
        if self.towards_reno > per {
            let more = (self.towards_reno - 1) / per;
            self.towards_reno -= more * per;
            self.reno += more;
        }
        if self.reno > cwnd {
            self.per = self.per.min(cwnd / (self.reno - cwnd));
        }
    }
}

/// The largest number whose cube is not above `n`.
fn cube_root(n: u64) -> u64 {
    let mut root = 0_u64;
    for bit in (0..22).rev() {
        let next = root | 1 << bit;
        if next.checked_pow(3).is_some_and(|cube| cube <= n) {
            root = next;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_root_is_exact() {
        for root in [0_u64, 1, 2, 3, 10, 99, 1_388, 65_536, 2_097_151] {
            assert_eq!(cube_root(root.pow(3)), root);
            assert_eq!(cube_root((root + 1).pow(3) - 1), root);
        }
        assert_eq!(cube_root(u64::MAX), 2_642_245);
    }
}
