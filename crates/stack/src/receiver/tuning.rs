//! How much the application reads per RTT: dynamic right-sizing.

use tcplab_units::{Instant, Span};

use crate::config::ReceiveTuning;

/// Below this RTT the buffer grows more slowly (`tcp_rcvbuf_low_rtt`), µs.
const LOW_RTT: u64 = 1_000;

/// The least round trip by timestamps of Linux 6.1, their unit; later versions pass over none, µs.
const LEAST_SAMPLE: u64 = 1_000;

/// The receiver's RTT and what was read in the last one (`rcv_rtt_est`, `rcvq_space`).
#[derive(Debug, Default)]
pub(crate) struct Tuning {
    /// Eight times the RTT in µs; 0: not known.
    rtt_us: u64,
    /// Without timestamps: an RTT lasts until a whole window has arrived. Its end, and when it
    /// began in whole µs.
    window_end: Option<(u64, u64)>,
    /// The echo last seen: of each, the first segment is timed.
    last_echo: Option<u32>,
    /// What the application read in the last RTT, bytes (`rcvq_space.space`).
    pub(crate) space: u64,
    /// What it had read when this one began, and when that was in whole µs: Linux subtracts what
    /// its clock showed.
    read: u64,
    began: u64,
}

impl Tuning {
    pub(crate) fn begin(&mut self, now: Instant, read: u64, space: u64) {
        self.began = now.as_micros();
        self.read = read;
        self.space = space;
    }

    /// `tcp_measure_rcv_mss`: what is above the clamp cannot be.
    pub(crate) fn lower_space(&mut self, most: u64) {
        self.space = self.space.min(most);
    }

    /// The RTT as the receiver sees it (`rcv_rtt_est.rtt_us`).
    pub(crate) fn round_trip(&self) -> Option<Span> {
        (self.rtt_us > 0).then(|| Span::from_micros(self.rtt_us >> 3))
    }

    /// A segment arrived in order (`tcp_rcv_rtt_measure`): `next` is expected next, the window then
    /// ends at `window_end`.
    pub(crate) fn measure(&mut self, now: Instant, next: u64, window_end: u64) {
        if let Some((end, since)) = self.window_end {
            if next < end {
                return;
            }
            let sample = (now.as_micros() - since).max(1);
            if self.rtt_us == 0 || sample << 3 < self.rtt_us {
                self.rtt_us = sample << 3;
            }
        }
        self.window_end = Some((window_end, now.as_micros()));
    }

    /// A segment came with `echo`, which was sent `ago` (`tcp_rcv_rtt_measure_ts`). `full` says
    /// that it is a full segment; `idle` that the application has read all: since 6.18 only then
    /// longer round trips count.
    pub(crate) fn measure_echo(
        &mut self,
        tuning: ReceiveTuning,
        echo: u32,
        ago: Span,
        full: bool,
        idle: bool,
    ) {
        if self.last_echo == Some(echo) {
            return;
        }
        self.last_echo = Some(echo);
        let least = if tuning == ReceiveTuning::Linux61 { LEAST_SAMPLE } else { 0 };
        let sample = ago.as_micros().max(least);
        if !full || sample == 0 {
            return;
        }
        if self.rtt_us == 0 || sample << 3 < self.rtt_us {
            self.rtt_us = sample << 3;
        } else if idle || tuning < ReceiveTuning::Linux618 {
            self.rtt_us = self.rtt_us - (self.rtt_us >> 3) + sample;
        }
    }

    /// The echo of a segment that carries no data.
    pub(crate) fn note_echo(&mut self, echo: u32) {
        self.last_echo = Some(echo);
    }

    /// The application read up to `read`: once in a round trip, the window that would have let
    /// twice as much come, if it read more than ever (`tcp_rcv_space_adjust`).
    pub(crate) fn window(
        &mut self,
        now: Instant,
        tuning: ReceiveTuning,
        read: u64,
        next: u64,
        ahead: u64,
        mss: u32,
    ) -> Option<u64> {
        let now = now.as_micros();
        if self.rtt_us == 0 || now - self.began < self.rtt_us >> 3 {
            return None;
        }
        let waiting = if tuning == ReceiveTuning::Linux61 { 0 } else { next - read };
        let copied = (read - self.read).saturating_sub(waiting);
        self.read = read;
        self.began = now;
        if copied <= self.space {
            return None;
        }
        let old = std::mem::replace(&mut self.space, copied).max(1);
        let base = match tuning {
            ReceiveTuning::Linux61 | ReceiveTuning::Linux612 => 2 * copied + 16 * u64::from(mss),
            _ => 2 * copied,
        };
        let window = base.saturating_add(self.growth(tuning, base, old));
        // Far above any buffer; what follows multiplies it.
        let window = window.min(1 << 40);
        Some(if tuning >= ReceiveTuning::Linux618 { window + ahead } else { window })
    }

    /// What a window of `base` bytes may grow by, as `old` bytes were read in the round trip before
    /// the last (`tcp_rcvbuf_grow`).
    fn growth(&self, tuning: ReceiveTuning, base: u64, old: u64) -> u64 {
        let base = u128::from(base);
        let growth = if tuning >= ReceiveTuning::Linux72 && self.rtt_us >> 3 < LOW_RTT {
            base * u128::from(self.rtt_us >> 3) / u128::from(LOW_RTT)
        } else {
            (base * u128::from(self.space.saturating_sub(old)) / u128::from(old)) << 1
        };
        u64::try_from(growth).unwrap_or(u64::MAX)
    }

    /// The window for what was read in the last round trip and `ahead` behind a gap
    /// (`tcp_rcvbuf_grow` as `tcp_data_queue_ofo` calls it).
    pub(crate) fn window_across_gap(&self, tuning: ReceiveTuning, ahead: u64) -> u64 {
        let base = 2 * self.space;
        base + self.growth(tuning, base, self.space.max(1)) + ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// `tcp_rcv_space_adjust` worked by hand: 20,000 B read in the first 10 ms after 14,480.
    #[test]
    fn tuning_faster_reading_grows_buffer() {
        for (tuning, ahead, window) in [
            // (40,000 + 23,168) · (1 + 2 · 5,520 / 14,480), rounded down before doubling.
            (ReceiveTuning::Linux612, 0, 63_168 + 2 * 24_080),
            // 40,000 · (1 + 2 · 5,520 / 14,480)
            (ReceiveTuning::Linux618, 0, 40_000 + 2 * 15_248),
            (ReceiveTuning::Linux618, 5_000, 45_000 + 2 * 15_248),
        ] {
            let mut state = Tuning::default();
            state.begin(Instant::ZERO, 1, 14_480);
            state.measure_echo(tuning, 1, Span::from_millis(10), true, true);
            let at = Instant::from_nanos(10 * MS);
            let adjust =
                |state: &mut Tuning, at, read| state.window(at, tuning, read, 20_001, ahead, 1448);
            assert_eq!(adjust(&mut state, Instant::from_nanos(9 * MS), 20_001), None);
            assert_eq!(adjust(&mut state, at, 20_001), Some(window), "{tuning:?}");
            assert_eq!(state.space, 20_000);
        }
    }

    /// From 0.9 µs to 10,000.1 µs less than 10 ms pass, but the clock shows 0 and 10,000 µs.
    #[test]
    fn tuning_subtracts_clocks_of_whole_microseconds() {
        let (start, end) = (Instant::from_nanos(900), Instant::from_nanos(10_000_100));
        let mut state = Tuning::default();
        state.measure(start, 1, 1_000);
        state.measure(end, 1_000, 2_000);
        assert_eq!(state.round_trip(), Some(Span::from_millis(10)));
        state.begin(start, 1, 14_480);
        assert!(state.window(end, ReceiveTuning::Linux612, 20_001, 20_001, 0, 1448).is_some());
    }

    #[test]
    fn tuning_rtt_falls_at_once_and_rises_slowly() {
        let mut state = Tuning::default();
        let mut echo = 0;
        let mut after = |ms, idle, tuning| {
            echo += 1;
            state.measure_echo(tuning, echo, Span::from_millis(ms), true, idle);
            state.round_trip().unwrap().as_micros()
        };
        assert_eq!(after(80, true, ReceiveTuning::Linux612), 80_000);
        assert_eq!(after(8, true, ReceiveTuning::Linux612), 8_000);
        assert_eq!(after(16, false, ReceiveTuning::Linux612), 9_000);
        assert_eq!(after(17, false, ReceiveTuning::Linux618), 9_000);
        assert_eq!(after(17, true, ReceiveTuning::Linux618), 10_000);
    }

    #[test]
    fn tuning_without_timestamps_measures_by_window() {
        let mut state = Tuning::default();
        state.measure(Instant::ZERO, 1, 1000);
        state.measure(Instant::from_nanos(MS), 999, 2000);
        assert_eq!(state.round_trip(), None);
        state.measure(Instant::from_nanos(2 * MS), 1000, 2000);
        assert_eq!(state.round_trip(), Some(Span::from_millis(2)));
    }
}
