//! The retransmission timeout: measured RTTs, the timeout that follows from them, backing off.

mod linux;
mod policy;
mod rfc6298;

use std::cmp::Reverse;

use tcplab_units::Span;

use self::linux::Linux;
use self::policy::Estimate;
pub(super) use self::policy::{Measurement, RtoPolicy};
use self::rfc6298::{Haiku, OldHaiku, Rfc6298, Xnu};
use crate::best_of_late::BestOfLate;
use crate::config::{self, TimeoutRule};

/// How long an RTT minimum counts (`tcp_min_rtt_wlen`), µs.
const REMEMBERED: u64 = 300_000_000;

/// Measured RTTs and the timeout.
#[derive(Debug)]
pub(super) struct Rto {
    pub(super) policy: Box<dyn RtoPolicy>,
    /// The least timeout, as the rule applies it.
    pub(super) least: Span,
    estimate: Estimate,
    /// The RTT minimum of the last five minutes, µs.
    min_rtt: BestOfLate<Reverse<u64>>,
    /// As the RTTs have it.
    plain: Span,
    /// Backed off.
    pub(super) current: Span,
    /// How often it was backed off since the last measurement.
    pub(super) backoff: u32,
    /// Timeouts since the last progress (`icsk_retransmits`).
    pub(super) in_a_row: u32,
    /// All timeouts so far.
    pub(super) total: u64,
    /// TCP_USER_TIMEOUT; zero: none.
    pub(super) user_timeout: Span,
}

impl Rto {
    pub(super) fn new(config: &config::Timeout, least: Span, user_timeout: Span) -> Rto {
        Rto {
            policy: policy_of(config.rule, least),
            least,
            estimate: Estimate::default(),
            min_rtt: BestOfLate::default(),
            plain: config.initial,
            current: config.initial,
            backoff: 0,
            in_a_row: 0,
            total: 0,
            user_timeout,
        }
    }

    /// Takes an RTT in.
    pub(super) fn measure(&mut self, measurement: Measurement) {
        self.policy.measure(&mut self.estimate, measurement);
    }

    /// Takes an RTT, µs, in for the minimum (`tcp_update_rtt_min`); an acknowledgement that was
    /// delayed can only lower it. Zero counts as one `tick`, µs.
    pub(super) fn update_min(&mut self, now: u64, rtt: u64, delayed: bool, tick: u64) {
        if delayed && self.min_rtt().is_some_and(|least| rtt > least) {
            return;
        }
        let rtt = if rtt == 0 { tick.max(1) } else { rtt };
        self.min_rtt.add(REMEMBERED, now, Reverse(rtt));
    }

    /// The handshake measured nothing: assumes `timeout` (RFC 6298 section 5.7).
    pub(super) fn assume(&mut self, timeout: Span) {
        self.estimate.deviation4 = timeout.as_micros() as i64;
        self.policy.assume(self.estimate.deviation4);
    }

    /// The timeout that the RTTs give, not backed off; `None` before the first measurement.
    pub(super) fn measured(&self) -> Option<Span> {
        self.smoothed().map(|_| Span::from_micros(self.policy.timeout(&self.estimate) as u64))
    }

    /// Sets the timeout; backing off ends (Karn).
    pub(super) fn set(&mut self, timeout: Span, most: Span) {
        self.plain = timeout.min(most);
        self.restore();
    }

    /// Ends backing off.
    pub(super) fn restore(&mut self) {
        self.current = self.plain;
        self.backoff = 0;
    }

    /// Backs off after the timer expired.
    pub(super) fn back_off(&mut self, config: &config::Timeout) {
        self.backoff += 1;
        let grown = if config.backoff.is_empty() {
            self.current * 2
        } else {
            self.plain * factor(&config.backoff, self.backoff)
        };
        self.current = grown.min(config.most);
    }

    /// Smoothed RTT, µs; `None` before the first measurement.
    pub(super) fn smoothed(&self) -> Option<u64> {
        (self.estimate.srtt8 != 0).then_some((self.estimate.srtt8 >> 3) as u64)
    }

    /// Smoothed RTT, eighths of µs; 0 before the first measurement.
    pub(super) fn smoothed8(&self) -> u64 {
        self.estimate.srtt8 as u64
    }

    /// The mean deviation, µs.
    pub(super) fn deviation(&self) -> u64 {
        (self.estimate.deviation4 >> 2) as u64
    }

    /// The RTT minimum of the last five minutes, µs.
    pub(super) fn min_rtt(&self) -> Option<u64> {
        self.min_rtt.best().map(|Reverse(rtt)| rtt)
    }
}

fn policy_of(rule: TimeoutRule, least: Span) -> Box<dyn RtoPolicy> {
    let least = least.as_micros() as i64;
    match rule {
        TimeoutRule::Linux => Box::new(Linux::new(least)),
        TimeoutRule::Rfc6298 => Box::new(Rfc6298 { least }),
        TimeoutRule::Xnu => Box::new(Xnu { slop: least }),
        TimeoutRule::OldHaiku => Box::new(OldHaiku { least }),
        TimeoutRule::Haiku => Box::new(Haiku),
    }
}

/// By what the timeout grew after `timeouts` in a row: as listed, then doubling.
fn factor(factors: &[u32], timeouts: u32) -> u64 {
    let last = factors.len() - 1;
    let beyond = (timeouts as usize).saturating_sub(last).min(32);
    u64::from(factors[(timeouts as usize).min(last)]) << beyond
}

/// The time that `retries` retransmissions take if the first comes after `least` and the interval
/// doubles up to `most` (`tcp_model_timeout`).
pub(super) fn time_of_retries(retries: u32, least: Span, most: Span) -> Span {
    let ratio = (most.as_nanos() / least.as_nanos().max(1)).max(1);
    let doublings = ratio.ilog2();
    let exponent = retries.min(doublings).min(62);
    let growing = least * ((2_u64 << exponent) - 1);
    growing + most * u64::from(retries.saturating_sub(doublings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_of_linux_take_the_documented_time() {
        // Documentation/networking/ip-sysctl: 924.6 s; and above 100 s for eight.
        let of = |retries| time_of_retries(retries, Span::from_millis(200), Span::from_secs(120));
        assert_eq!(of(15), Span::from_millis(924_600));
        assert_eq!(of(8), Span::from_millis(102_200));
        assert_eq!(of(3), Span::from_millis(3_000));
    }

    #[test]
    fn backoff_after_end_of_list_doubles() {
        let xnu = [1, 2, 4, 8, 16, 32, 64, 64];
        let factors: Vec<u64> = (1..10).map(|n| factor(&xnu, n)).collect();
        assert_eq!(factors, [2, 4, 8, 16, 32, 64, 64, 128, 256]);
        assert_eq!(factor(&[1], 3), 8);
    }
}
