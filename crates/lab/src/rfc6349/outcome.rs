//! What the throughput tests came to.

use serde::Serialize;
use tcplab_path::Direction;
use tcplab_results::{Run, Trial};
use tcplab_scenario::metrics;
use tcplab_trace::{Connection, Flow};
use tcplab_units::{Bytes, Rate, Span};

use super::baseline::Baseline;
use super::test::Test;
use crate::advise::{amount, span};
use crate::analysis::load_trial;
use crate::error::LabError;
use crate::store::RunDirectory;

/// What reaches this share of the most is as good.
const AS_GOOD: f64 = 0.98;

/// A test with one or several connections (RFC 6349 section 4): medians over its trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// How many connections.
    pub connections: u64,
    /// The window that each was to have.
    #[serde(rename = "window_bytes", with = "tcplab_units::number")]
    pub window: Bytes,
    /// The largest that was offered; to another host, the most that was in flight.
    #[serde(rename = "offered_window_bytes", with = "tcplab_units::number")]
    pub offered: Option<Bytes>,
    /// What such windows can carry at best on this path: windows, as offered, over round trip, at
    /// most the bottleneck's rate.
    #[serde(rename = "ideal_bits_per_second", with = "tcplab_units::number")]
    pub ideal: Rate,
    /// Payload a second, Mbit/s, all connections together.
    #[serde(rename = "goodput_mbit_per_second")]
    pub goodput: f64,
    /// The actual time over the ideal one (section 4.1).
    pub transfer_time_ratio: f64,
    /// Per cent (section 4.2).
    #[serde(rename = "efficiency_percent")]
    pub efficiency: f64,
    /// Per cent (section 4.3).
    #[serde(rename = "buffer_delay_percent")]
    pub buffer_delay: f64,
}

/// The rows of a run of [`Test::windows`] or [`Test::several`], in the order of windows and
/// connections.
///
/// # Errors
/// When a recording cannot be read.
pub fn rows(
    test: &Test,
    baseline: &Baseline,
    directory: &RunDirectory,
    run: &Run,
) -> Result<Vec<Row>, LabError> {
    let mut rows = Vec::new();
    for case in &run.cases {
        let Some((factor, level)) = case.levels.first() else { continue };
        let (connections, window) = if factor == "window" {
            (1, level.trim_end_matches(" B").parse().unwrap_or_default())
        } else {
            let connections: u64 = level.parse().unwrap_or(1);
            (connections, baseline.shared_window(connections).as_u64())
        };
        let mut seen = Vec::new();
        for trial in &case.trials {
            seen.extend(Throughput::of(test, trial, directory)?);
        }
        let Some(measured) = Throughput::median(&seen) else { continue };
        rows.push(row(baseline, connections, Bytes::new(window), &measured));
    }
    rows.sort_by_key(|row| (row.connections, row.window));
    Ok(rows)
}

/// What a transfer shows, all its connections together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throughput {
    /// Mbit/s.
    pub goodput: f64,
    /// Per cent.
    pub efficiency: f64,
    /// The mean round trip, ms.
    pub rtt: f64,
    /// The largest window that was offered, or the most that was in flight, if that was seen.
    pub offered: Option<Bytes>,
}

/// The result of a test, compared with what its windows and the path allow.
pub fn row(baseline: &Baseline, connections: u64, window: Bytes, measured: &Throughput) -> Row {
    // The kernel rounds a window up or down, and what is offered may be used.
    let offered = measured.offered.unwrap_or(window);
    let windows = (offered.as_u64() * connections * 8) as f64;
    let by_windows = windows / baseline.rtt.as_secs_f64().max(1e-9);
    let best = baseline.best().bits_per_second() as f64;
    let base = baseline.rtt.as_millis_f64();
    Row {
        connections,
        window,
        offered: measured.offered,
        ideal: Rate::from_bits_per_second(by_windows.min(best).max(1.0) as u64),
        goodput: measured.goodput,
        // Of the ideal transfer time at the rate of the path, not at that of the window.
        transfer_time_ratio: best / 1e6 / measured.goodput.max(1e-9),
        efficiency: measured.efficiency,
        // Segments of a small window are smaller than those of the baseline.
        buffer_delay: ((measured.rtt - base) / base * 100.0).max(0.0),
    }
}

impl Row {
    /// What its windows carry at best at the round trip that it had, Mbit/s.
    fn allowed(&self, baseline: &Baseline) -> f64 {
        let windows = self.offered.unwrap_or(self.window).as_u64() * self.connections * 8;
        let round_trip = baseline.rtt.as_secs_f64() * (1.0 + self.buffer_delay / 100.0);
        (windows as f64 / round_trip.max(1e-9) / 1e6).min(baseline.best().as_mbit_f64())
    }
}

impl Throughput {
    /// The medians of several trials; none of none.
    pub fn median(trials: &[Throughput]) -> Option<Throughput> {
        let median = |of: fn(&Throughput) -> f64| {
            tcplab_stats::median(&trials.iter().map(of).collect::<Vec<_>>())
        };
        Some(Throughput {
            offered: trials.iter().filter_map(|trial| trial.offered).max(),
            goodput: median(|trial| trial.goodput)?,
            efficiency: median(|trial| trial.efficiency)?,
            rtt: median(|trial| trial.rtt)?,
        })
    }

    fn of(
        test: &Test,
        trial: &Trial,
        directory: &RunDirectory,
    ) -> Result<Option<Throughput>, LabError> {
        let Some(goodput) = trial.metrics.value(metrics::GOODPUT) else { return Ok(None) };
        let data = load_trial(directory, trial)?;
        let (trace, flow): (_, fn(&Connection) -> &Flow) = match test.direction {
            Direction::Forward => (&data.client, |it| &it.forward),
            Direction::Reverse => (&data.server, |it| &it.reverse),
        };
        let flows: Vec<&Flow> = trace.connections.iter().map(flow).collect();
        let all: u64 = flows.iter().map(|flow| flow.totals.data.as_u64()).sum();
        let again: u64 = flows.iter().map(|flow| flow.totals.retransmitted.as_u64()).sum();
        let samples: u64 = flows.iter().map(|flow| flow.round_trips.of_data).sum();
        let weighted = flows.iter().map(|flow| {
            flow.round_trips.mean_of_data.map_or(0.0, Span::as_millis_f64)
                * flow.round_trips.of_data as f64
        });
        if samples == 0 || all == 0 {
            return Ok(None);
        }
        Ok(Some(Throughput {
            goodput,
            efficiency: (all - again.min(all)) as f64 / all as f64 * 100.0,
            rtt: weighted.sum::<f64>() / samples as f64,
            offered: flows.iter().filter_map(|flow| flow.windows.max).max(),
        }))
    }
}

/// What the rows say, a sentence each.
pub fn sum_up(baseline: &Baseline, rows: &[Row]) -> Vec<String> {
    let best = baseline.best().as_mbit_f64();
    let mut sentences = Vec::new();
    let product = baseline.shared_window(1);
    let full = rows.iter().find(|row| row.connections == 1 && row.window >= product);
    if let Some(row) = full {
        let share = row.goodput / best * 100.0;
        sentences.push(format!(
            "One connection with a window of one bandwidth-delay product carries {:.2} Mbit/s, \
             {share:.0} % of what the path can.",
            row.goodput
        ));
    }
    let most = rows.iter().max_by(|one, other| one.goodput.total_cmp(&other.goodput));
    // One connection before several, and a small window before a large one.
    let as_good = |most: &Row| rows.iter().find(|row| row.goodput >= AS_GOOD * most.goodput);
    if let (Some(enough), Some(full)) = (most.and_then(as_good), full)
        && enough.goodput > full.goodput * 1.05
    {
        let how = match enough.connections {
            1 => format!("a window of {}", amount(enough.window)),
            several => format!("{several} connections"),
        };
        let (goodput, share) = (enough.goodput, enough.goodput / best * 100.0);
        sentences.push(format!(
            "It is most, within 2 %, with {how}: {goodput:.2} Mbit/s, {share:.0} %."
        ));
    }
    if let Some(most) = most.filter(|most| most.goodput > 1.02 * best) {
        sentences.push(format!(
            "{:.2} Mbit/s are more than the ideal goodput of {best:.2} Mbit/s: the bottleneck was \
             measured too low. Repeat the test with a longer `--duration`.",
            most.goodput
        ));
    }
    let is_small = |row: &Row| row.goodput < 0.7 * row.allowed(baseline);
    let widest = rows.iter().filter(|row| row.connections == 1).max_by_key(|row| row.window);
    if full.is_some_and(|row| is_small(row) && row.efficiency < 100.0)
        && widest.is_some_and(is_small)
    {
        sentences.push(
            "Windows are not all: throughput stays below what they allow, and segments are \
             retransmitted. Loss keeps the congestion window small: `tcplab advise --path …` \
             says what helps."
                .into(),
        );
    }
    sentences.extend(doubling(baseline, rows));
    sentences
}

/// From which window of one connection on the round trip more than doubles, and why.
fn doubling(baseline: &Baseline, rows: &[Row]) -> Option<String> {
    let is_doubled = |row: &&Row| row.connections == 1 && row.buffer_delay > 100.0;
    let row = rows.iter().find(is_doubled)?;
    // As much of the window as exceeds the product waits in the queue.
    let offered = row.offered.unwrap_or(row.window).as_u64() as f64;
    let queued = (offered / baseline.bdp().as_u64().max(1) as f64 - 1.0) * 100.0;
    let from = amount(row.window);
    Some(if queued >= row.buffer_delay / 2.0 {
        format!("From a window of {from} on the queue more than doubles the round trip.")
    } else if baseline.varies() {
        format!(
            "From a window of {from} on the round trip is more than twice the least one. That \
             is more than such a window can queue: the path's own delay varies (idle round \
             trips: at least {}, in the mean {}).",
            span(baseline.rtt),
            span(baseline.rtt_mean)
        )
    } else {
        format!(
            "From a window of {from} on the round trip more than doubles: more than such a \
             window can queue, though the idle path's is steady."
        )
    })
}
