//! BBR, version 1: paces at the bandwidth it measured, with little more than that in flight.

mod aggregation;
mod first_phases;
mod full_pipe;
mod policer;
mod units;

use std::cmp::Ordering;

use tcplab_units::{Instant, Rate, Span};

use super::ticks::{Ticks, micros};
use super::{CongestionControl, Event, NO_THRESHOLD, RateSample, Setup, State, Window};
use crate::best_of_late::BestOfLate;
use aggregation::Aggregation;
pub use first_phases::FirstPhases;
use full_pipe::FullPipe;
use policer::{Policer, Verdict};
use units::{BW_SHIFT, BW_UNIT, SHIFT, UNIT, bytes_per_second, segments_in};

/// 2/ln 2: the least gain that doubles the rate each round (`bbr_high_gain`).
const HIGH_GAIN: u64 = UNIT * 2_885 / 1_000 + 1;
/// Its inverse takes away in one round what it queued (`bbr_drain_gain`).
const DRAIN_GAIN: u64 = UNIT * 1_000 / 2_885;
/// Twice what fits in the path may be in flight (`bbr_cwnd_gain`): acknowledgements may be late.
const CWND_GAIN: u64 = UNIT * 2;
/// A cycle of probing (`bbr_pacing_gain`): more, less, and six times the same.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Bandwidth is the maximum of this many rounds (`bbr_bw_rtts`).
const BANDWIDTH_ROUNDS: u64 = CYCLE.len() as u64 + 2;
/// The window of the RTT minimum, in seconds (`bbr_min_rtt_win_sec`).
const RTT_SECONDS: u64 = 10;
/// How long it is measured with next to nothing in flight (`bbr_probe_rtt_mode_ms`).
const PROBE_RTT: Span = Span::from_millis(200);
/// What that is, and the least ever, segments (`bbr_cwnd_min_target`).
const LEAST_CWND: u32 = 4;
/// Bursts are of one segment below this rate, bytes a second (`bbr_min_tso_rate`).
const SLOW: u64 = 1_200_000 / 8;
/// The most bytes of a burst: `GSO_LEGACY_MAX_SIZE` less one and `MAX_TCP_HEADER`.
const MOST_BURST: u64 = 65_536 - 1 - 320;
/// `TCP_INIT_CWND`.
const INITIAL_CWND: u32 = 10;
/// The RTT before one was measured, µs.
const NOMINAL_RTT: u64 = 1_000;

/// What BBR is about (`enum bbr_mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Doubles its rate until the pipe is full.
    Startup,
    /// Takes away the queue that this made.
    Drain,
    /// Probes for more bandwidth, in cycles.
    ProbeBandwidth,
    /// Sends next to nothing, to see the path without its own queue.
    ProbeRtt,
}

/// Version 1 as Linux has it (`tcp_bbr.c`; Cardwell and others, ACM Queue 2016;
/// draft-cardwell-iccrg-bbr-congestion-control-00).
#[derive(Debug)]
pub(super) struct Bbr {
    ticks: Ticks,
    first_phases: FirstPhases,
    mode: Mode,
    gains: Gains,
    bandwidth: BestOfLate<u64>,
    round: Round,
    /// When anything was last delivered (`tp->delivered_mstamp`).
    delivered_at: Instant,
    min_rtt: MinRtt,
    probe_rtt: ProbeRtt,
    cycle: Cycle,
    pipe: FullPipe,
    prior: Prior,
    restarts_after_idle: bool,
    policer: Policer,
    aggregation: Aggregation,
}

/// Gains of the mode, in 256ths.
#[derive(Debug)]
struct Gains {
    pacing: u64,
    cwnd: u64,
}

/// The RTT minimum.
#[derive(Debug, Default)]
struct MinRtt {
    micros: Option<u64>,
    /// The tick at which it was seen.
    at: u64,
    /// Whether any RTT set the pacing rate (`has_seen_rtt`).
    is_known: bool,
}

/// Where in the cycle of gains it is.
#[derive(Debug, Default)]
struct Cycle {
    phase: usize,
    start: Instant,
}

/// What is restored after losses.
#[derive(Debug, Default)]
struct Prior {
    cwnd: u32,
    state: State,
    /// Sends as much as is delivered, and no more.
    conserves: bool,
}

/// Round trips counted in segments.
#[derive(Debug, Default)]
struct Round {
    count: u64,
    /// It ends when what is delivered was sent after so much had been delivered.
    end: u64,
    /// Whether one began with this sample.
    has_begun: bool,
}

/// The probe of the RTT, once next to nothing is in flight.
#[derive(Debug, Default)]
struct ProbeRtt {
    /// Not before this tick.
    end: Option<u64>,
    round_is_done: bool,
}

impl Bbr {
    /// On a machine like `setup`.
    pub(super) fn new(setup: &Setup) -> Bbr {
        Bbr {
            ticks: Ticks::new(setup.tick),
            first_phases: FirstPhases::new(setup.seed),
            mode: Mode::Startup,
            gains: Gains { pacing: HIGH_GAIN, cwnd: HIGH_GAIN },
            bandwidth: BestOfLate::default(),
            round: Round::default(),
            delivered_at: Instant::ZERO,
            min_rtt: MinRtt::default(),
            probe_rtt: ProbeRtt::default(),
            cycle: Cycle::default(),
            pipe: FullPipe::default(),
            prior: Prior::default(),
            restarts_after_idle: false,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
        }
    }

    /// The bandwidth estimate, segments a microsecond in 2⁻²⁴ (`bbr_bw`).
    fn bandwidth(&self) -> u64 {
        self.policer.bandwidth().unwrap_or(self.measured())
    }

    /// The largest bandwidth measured of late.
    fn measured(&self) -> u64 {
        self.bandwidth.best().unwrap_or(0)
    }

    /// What fits in the path at `bandwidth`, times `gain`, rounded up (`bbr_bdp`).
    fn product(&self, bandwidth: u64, gain: u64) -> u32 {
        let Some(rtt) = self.min_rtt.micros else { return INITIAL_CWND };
        let scaled = (u128::from(bandwidth * rtt) * u128::from(gain)) >> SHIFT;
        let segments = (scaled + u128::from(BW_UNIT - 1)) >> BW_SHIFT;
        // No window is that large; leaves room to add to it.
        segments.min(u128::from(u32::MAX / 2)) as u32
    }

    /// Adds what the two hosts hold back in bursts, and rounds up to an even number
    /// (`bbr_quantization_budget`).
    fn with_bursts(&self, window: &Window, cwnd: u32) -> u32 {
        let even = (cwnd + 3 * burst_goal(window)).next_multiple_of(2);
        even + if self.mode == Mode::ProbeBandwidth && self.cycle.phase == 0 { 2 } else { 0 }
    }

    /// `bbr_inflight`.
    fn target_in_flight(&self, window: &Window, gain: u64) -> u32 {
        self.with_bursts(window, self.product(self.measured(), gain))
    }

    /// How much will be in the network when the next segment leaves by its pacing
    /// (`bbr_packets_in_net_at_edt`).
    fn in_flight_at_departure(&self, now: Instant, window: &Window, in_flight: u32) -> u32 {
        let delivered =
            segments_in(self.bandwidth(), window.pacing.departure.since(now).as_micros());
        let leaving = if self.gains.pacing > UNIT { burst_goal(window) } else { 0 };
        u64::from(in_flight + leaving).saturating_sub(delivered) as u32
    }

    /// Remembers the window, to restore it after losses or the RTT probe.
    fn save_cwnd(&mut self, window: &Window) {
        let good = self.prior.state < State::Recovery && self.mode != Mode::ProbeRtt;
        self.prior.cwnd = if good { window.cwnd } else { self.prior.cwnd.max(window.cwnd) };
    }

    /// `bbr_init_pacing_rate_from_rtt`.
    fn pace_by_window(&mut self, window: &mut Window) {
        let rtt = match window.rtt.srtt {
            Some(srtt) => {
                self.min_rtt.is_known = true;
                srtt.as_micros().max(1)
            }
            None => NOMINAL_RTT,
        };
        let bandwidth = (u64::from(window.cwnd) * BW_UNIT / rtt).min(u32::MAX.into());
        window.pacing.rate = Some(pacing_rate(bandwidth, window.mss, HIGH_GAIN));
    }

    /// `bbr_set_pacing_rate`: until the pipe is full, it never becomes slower.
    fn pace(&mut self, window: &mut Window, gain: u64) {
        let rate = pacing_rate(self.bandwidth(), window.mss, gain);
        if !self.min_rtt.is_known && window.rtt.srtt.is_some() {
            self.pace_by_window(window);
        }
        if self.pipe.is_full() || window.pacing.rate.is_none_or(|old| rate > old) {
            window.pacing.rate = Some(rate);
        }
    }

    /// `bbr_update_bw`.
    fn update_bandwidth(&mut self, window: &Window, rate: &RateSample) {
        self.round.has_begun = false;
        let Some(delivered) = rate.delivered else { return };
        let interval = rate.interval.as_micros();
        if interval == 0 {
            return;
        }
        if rate.prior_delivered >= self.round.end {
            self.round.end = window.delivery.delivered;
            self.round.count += 1;
            self.round.has_begun = true;
            self.prior.conserves = false;
        }
        self.look_for_policer(window, rate);
        let scaled = delivered.min(u64::MAX >> BW_SHIFT) << BW_SHIFT;
        let bandwidth = (scaled / interval).min(u32::MAX.into());
        // What an application that has little to send shows is no bound of the path.
        if !rate.app_limited || bandwidth >= self.measured() {
            self.bandwidth.add(BANDWIDTH_ROUNDS, self.round.count, bandwidth);
        }
    }

    fn look_for_policer(&mut self, window: &Window, rate: &RateSample) {
        let probes = self.mode == Mode::ProbeBandwidth;
        match self.policer.sample(self.delivered_at, window, rate, self.round.has_begun, probes) {
            Verdict::Nothing => {}
            Verdict::Policed => self.gains.pacing = UNIT,
            Verdict::NoLonger => self.probe_bandwidth(),
        }
    }

    fn update_aggregation(&mut self, window: &Window, rate: &RateSample) {
        if rate.acked_sacked > 0 && rate.delivered.is_some() && rate.interval.as_micros() > 0 {
            self.aggregation.update(
                self.delivered_at,
                self.round.has_begun,
                self.bandwidth(),
                rate.acked_sacked,
                window.cwnd,
            );
        }
    }

    /// `bbr_reset_probe_bw_mode`.
    fn probe_bandwidth(&mut self) {
        self.mode = Mode::ProbeBandwidth;
        self.cycle.phase = CYCLE.len() - 1 - usize::from(self.first_phases.draw());
        self.next_phase();
    }

    fn next_phase(&mut self) {
        self.cycle.phase = (self.cycle.phase + 1) % CYCLE.len();
        self.cycle.start = self.delivered_at;
    }

    /// `bbr_is_next_cycle_phase`.
    fn is_phase_over(&self, now: Instant, window: &Window, rate: &RateSample) -> bool {
        let elapsed = micros(self.delivered_at) - micros(self.cycle.start);
        let is_full_length = self.min_rtt.micros.is_some_and(|rtt| elapsed > rtt);
        let in_flight = || self.in_flight_at_departure(now, window, rate.prior_in_flight);
        match self.gains.pacing.cmp(&UNIT) {
            Ordering::Greater => {
                let is_reached = || in_flight() >= self.target_in_flight(window, self.gains.pacing);
                is_full_length && (rate.losses > 0 || is_reached())
            }
            Ordering::Less => is_full_length || in_flight() <= self.target_in_flight(window, UNIT),
            Ordering::Equal => is_full_length,
        }
    }

    /// `bbr_check_drain`.
    fn look_whether_drained(&mut self, now: Instant, window: &mut Window) {
        if self.mode == Mode::Startup && self.pipe.is_full() {
            self.mode = Mode::Drain;
            window.ssthresh = self.target_in_flight(window, UNIT);
        }
        if self.mode == Mode::Drain {
            let in_flight = self.in_flight_at_departure(now, window, window.flight.in_flight);
            if in_flight <= self.target_in_flight(window, UNIT) {
                self.probe_bandwidth();
            }
        }
    }

    /// `bbr_update_min_rtt`.
    fn update_min_rtt(&mut self, now: Instant, window: &mut Window, rate: &RateSample) {
        let tick = self.ticks.at(now);
        let is_old = tick > self.min_rtt.at + RTT_SECONDS * self.ticks.per_second();
        if let Some(rtt) = rate.rtt.map(micros_of) {
            let is_shorter = self.min_rtt.micros.is_none_or(|least| rtt < least);
            if is_shorter || (is_old && !rate.is_ack_delayed) {
                self.min_rtt.micros = Some(rtt);
                self.min_rtt.at = tick;
            }
        }
        if is_old && !self.restarts_after_idle && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt.end = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_round_trip(tick, window);
        }
        if rate.delivered.is_some_and(|delivered| delivered > 0) {
            self.restarts_after_idle = false;
        }
    }

    fn probe_round_trip(&mut self, tick: u64, window: &mut Window) {
        // The rates shown meanwhile are none of the path's.
        window.delivery.app_limited =
            Some((window.delivery.delivered + u64::from(window.flight.in_flight)).max(1));
        if self.probe_rtt.end.is_some() {
            self.probe_rtt.round_is_done |= self.round.has_begun;
            if self.probe_rtt.round_is_done {
                self.end_probe_rtt(tick, window);
            }
        } else if window.flight.in_flight <= LEAST_CWND {
            self.probe_rtt.end = Some(tick + self.ticks.of(PROBE_RTT));
            self.probe_rtt.round_is_done = false;
            self.round.end = window.delivery.delivered;
        }
    }

    /// `bbr_check_probe_rtt_done`.
    fn end_probe_rtt(&mut self, tick: u64, window: &mut Window) {
        if self.probe_rtt.end.is_none_or(|end| tick <= end) {
            return;
        }
        self.min_rtt.at = tick;
        window.cwnd = window.cwnd.max(self.prior.cwnd);
        if self.pipe.is_full() {
            self.probe_bandwidth();
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        (self.gains.pacing, self.gains.cwnd) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.policer.bandwidth().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBandwidth => (CYCLE[self.cycle.phase], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// The window that losses leave (`bbr_set_cwnd_to_recover_or_restore`): in the first round of
    /// recovery as much leaves as arrives, and nothing else has a say (`Err`); at its end the
    /// window comes back.
    fn recover(&mut self, window: &Window, rate: &RateSample) -> Result<u32, u32> {
        let mut cwnd = window.cwnd;
        if rate.losses > 0 {
            cwnd = cwnd.saturating_sub(rate.losses).max(1);
        }
        let conserved = window.flight.in_flight + rate.acked_sacked;
        let (before, state) = (self.prior.state, window.state);
        if state == State::Recovery && before != State::Recovery {
            self.prior.conserves = true;
            self.round.end = window.delivery.delivered;
            cwnd = conserved;
        } else if before >= State::Recovery && state < State::Recovery {
            cwnd = cwnd.max(self.prior.cwnd);
            self.prior.conserves = false;
        }
        self.prior.state = state;
        if self.prior.conserves { Err(cwnd.max(conserved)) } else { Ok(cwnd) }
    }

    /// `bbr_set_cwnd`.
    fn set_cwnd(&mut self, window: &mut Window, rate: &RateSample) {
        if rate.acked_sacked > 0 {
            window.cwnd = match self.recover(window, rate) {
                Ok(cwnd) => self.towards_target(window, cwnd, rate.acked_sacked),
                Err(cwnd) => cwnd,
            };
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(LEAST_CWND);
        }
    }

    fn towards_target(&self, window: &Window, cwnd: u32, acked: u32) -> u32 {
        let bandwidth = self.bandwidth();
        let mut target = self.product(bandwidth, self.gains.cwnd);
        if self.pipe.is_full() {
            target += self.aggregation.allowance(bandwidth);
        }
        let target = self.with_bursts(window, target);
        let cwnd = if self.pipe.is_full() {
            (cwnd + acked).min(target)
        } else if cwnd < target || window.delivery.delivered < u64::from(INITIAL_CWND) {
            cwnd + acked
        } else {
            cwnd
        };
        cwnd.max(LEAST_CWND)
    }
}

impl CongestionControl for Bbr {
    fn name(&self) -> &'static str {
        "bbr"
    }

    fn init(&mut self, now: Instant, window: &mut Window) {
        window.ssthresh = NO_THRESHOLD;
        self.round.end = window.delivery.delivered;
        self.delivered_at = now;
        self.min_rtt.micros = window.rtt.min_rtt.map(micros_of);
        self.min_rtt.at = self.ticks.at(now);
        self.policer.reset(now, window);
        self.aggregation.restart(now);
        self.pace_by_window(window);
    }

    /// Losses do not change the threshold; the window is what has to come back afterwards.
    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        self.save_cwnd(window);
        window.ssthresh
    }

    /// Nothing: [`Bbr::control`] does it all.
    fn avoid(&mut self, _now: Instant, _window: &mut Window, _acked: u32) {}

    fn undo(&mut self, window: &Window) -> u32 {
        self.pipe.begin_again();
        self.policer.reset(self.delivered_at, window);
        window.cwnd
    }

    /// `bbr_set_state`: a timeout counts as the end of a round with a loss.
    fn enter(&mut self, _now: Instant, window: &mut Window, state: State) {
        if state == State::Loss {
            self.prior.state = State::Loss;
            self.pipe.forget_bandwidth();
            self.round.has_begun = true;
            let loss = RateSample { losses: 1, ..RateSample::default() };
            self.look_for_policer(window, &loss);
        }
    }

    /// `bbr_cwnd_event`.
    fn event(&mut self, now: Instant, window: &mut Window, event: Event) {
        if event != Event::TransmitStart || window.delivery.app_limited.is_none() {
            return;
        }
        self.restarts_after_idle = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBandwidth => self.pace(window, UNIT),
            Mode::ProbeRtt => self.end_probe_rtt(self.ticks.at(now), window),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// `bbr_main`.
    fn control(&mut self, now: Instant, window: &mut Window, rate: &RateSample) -> bool {
        if rate.acked_sacked > 0 {
            self.delivered_at = now;
        }
        self.update_bandwidth(window, rate);
        self.update_aggregation(window, rate);
        if self.mode == Mode::ProbeBandwidth && self.is_phase_over(now, window, rate) {
            self.next_phase();
        }
        if self.round.has_begun && !rate.app_limited {
            self.pipe.end_round(self.measured());
        }
        self.look_whether_drained(now, window);
        self.update_min_rtt(now, window, rate);
        self.update_gains();
        self.pace(window, self.gains.pacing);
        self.set_cwnd(window, rate);
        true
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn least_burst(&self, window: &Window) -> Option<u32> {
        Some(least_burst(window))
    }

    fn windows_of_send_buffer(&self) -> u32 {
        3
    }
}

/// Whole microseconds, below 2³² of them.
fn micros_of(rtt: Span) -> u64 {
    rtt.as_micros().min(u32::MAX.into())
}

fn pacing_rate(bandwidth: u64, mss: u32, gain: u64) -> Rate {
    Rate::from_bits_per_second(bytes_per_second(bandwidth, mss, gain).saturating_mul(8))
}

/// Bytes a second.
fn paced_at(window: &Window) -> u64 {
    window.pacing.rate.map_or(0, |rate| rate.bits_per_second() / 8)
}

fn least_burst(window: &Window) -> u32 {
    if paced_at(window) < SLOW { 1 } else { 2 }
}

/// How many segments a burst should have: what leaves in a 1024th of a second
/// (`bbr_tso_segs_goal`).
fn burst_goal(window: &Window) -> u32 {
    let bytes = (paced_at(window) >> 10).min(MOST_BURST);
    let segments = (bytes / u64::from(window.mss).max(1)) as u32;
    segments.max(least_burst(window)).min(0x7f)
}
