//! The clock of a machine's timers.

use tcplab_units::{Instant, Span};

use crate::Config;
use crate::config::Host;

/// Levels of Linux's timer wheel are this many ticks wide before the next, eight times as coarse,
/// takes over (`LVL_START`, `LVL_CLK_SHIFT` in kernel/time/timer.c).
const LEVEL: u64 = 63;
const LEVELS: u32 = 8;

/// When timers of a machine expire: on its ticks, or exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Jiffies {
    /// Nanoseconds of a tick; 0: exact.
    tick: u64,
    /// Whether far timers are coarse.
    wheel: bool,
    /// Ticks before the zero of time.
    first: u64,
}

impl Jiffies {
    pub(crate) fn new(host: &Host) -> Jiffies {
        Jiffies { tick: host.tick.as_nanos(), wheel: host.wheel, first: host.first_tick }
    }

    /// The last tick (`jiffies`).
    pub(crate) fn now(self, now: Instant) -> Instant {
        match now.as_nanos().checked_rem(self.tick) {
            None => now,
            Some(behind) => Instant::from_nanos(now.as_nanos() - behind),
        }
    }

    /// `span`, rounded up to whole ticks (`usecs_to_jiffies`).
    pub(crate) fn round_up(self, span: Span) -> Span {
        match span.as_nanos().checked_rem(self.tick) {
            None | Some(0) => span,
            Some(over) => span + Span::from_nanos(self.tick - over),
        }
    }

    /// `span`, rounded down to whole ticks.
    pub(crate) fn round_down(self, span: Span) -> Span {
        match span.as_nanos().checked_rem(self.tick) {
            None => span,
            Some(over) => span - Span::from_nanos(over),
        }
    }

    /// When a timer set at `now` for `span` expires: never early, so at least a tick late, and the
    /// more distant the coarser (`calc_wheel_index`, `calc_index` in kernel/time/timer.c).
    pub(crate) fn deadline(self, now: Instant, span: Span) -> Instant {
        let Some(ticks_now) = now.as_nanos().checked_div(self.tick) else { return now + span };
        if !self.wheel {
            let ticks = (now + span).as_nanos().div_ceil(self.tick);
            return Instant::from_nanos(ticks.saturating_mul(self.tick));
        }
        let delta = span.as_nanos().div_ceil(self.tick);
        let mut level = 0;
        while level < LEVELS && delta >= LEVEL << (3 * level) {
            level += 1;
        }
        let shift = 3 * level;
        let counted = ticks_now.saturating_add(self.first).saturating_add(delta);
        let expires = ((counted >> shift) + 1).saturating_mul(1 << shift) - self.first;
        Instant::from_nanos(expires.saturating_mul(self.tick))
    }
}

/// The least retransmission timeout that holds (`tcp_rto_min`): Linux has it in ticks.
pub(crate) fn least_timeout(config: &Config) -> Span {
    let least = config.timeout.asked_least.unwrap_or(config.timeout.least);
    if config.is_linux() { Jiffies::new(&config.host).round_up(least) } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TimeoutRule;

    /// Worked by hand from the kernel's table of levels at HZ=250: to 62 ticks the granularity is
    /// 4 ms, to 503 it is 32 ms, to 4031 it is 256 ms.
    #[test]
    fn jiffies_far_timer_is_coarse() {
        let jiffies = Jiffies::new(&Host::default());
        for (now, span, fires) in [
            (0, 40, 44),
            (3, 40, 44),
            (4, 40, 48),
            (5, 200, 208),
            (0, 248, 252),
            // 63 ticks: the second level.
            (0, 252, 256),
            (0, 256, 288),
            (0, 1_000, 1_024),
            (100, 1_000, 1_120),
            (0, 2_012, 2_016),
            // 504 ticks: the third.
            (0, 2_016, 2_048),
            (0, 7_200_000, 7_208_960),
        ] {
            let deadline =
                jiffies.deadline(Instant::ZERO + Span::from_millis(now), Span::from_millis(span));
            assert_eq!(deadline, Instant::ZERO + Span::from_millis(fires), "{span} ms at {now} ms");
        }
    }

    /// `msecs_to_jiffies(50)` is 13 ticks of 4 ms.
    #[test]
    fn least_timeout_of_linux_is_whole_ticks() {
        let mut config = Config::default();
        assert_eq!(least_timeout(&config), Span::from_millis(200));
        config.timeout.asked_least = Some(Span::from_millis(50));
        assert_eq!(least_timeout(&config), Span::from_millis(52));
        config.timeout.rule = TimeoutRule::Rfc6298;
        assert_eq!(least_timeout(&config), Span::from_millis(50));
    }

    #[test]
    fn jiffies_without_tick_is_exact() {
        // Two ticks before the zero of time: the second level's ends come two ticks earlier.
        let later = Jiffies::new(&Host { first_tick: 2, ..Host::default() });
        let deadline = later.deadline(Instant::ZERO, Span::from_millis(1_000));
        assert_eq!(deadline, Instant::ZERO + Span::from_millis(1_016));
        let exact = Jiffies::new(&Host { tick: Span::ZERO, ..Host::default() });
        let now = Instant::from_nanos(12_345);
        assert_eq!(exact.now(now), now);
        assert_eq!(exact.deadline(now, Span::from_nanos(5)), now + Span::from_nanos(5));
        assert_eq!(exact.round_up(Span::from_nanos(7)), Span::from_nanos(7));
        assert_eq!(exact.round_down(Span::from_nanos(7)), Span::from_nanos(7));
    }
}
