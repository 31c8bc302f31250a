//! What is known of a path before TCP's throughput is tested.

use serde::Serialize;
use tcplab_path::{Direction, PathSpec};
use tcplab_results::{Run, TrialData};
use tcplab_scenario::PlannedConnection;
use tcplab_trace::{Connection, Flow, Limit, Trace};
use tcplab_units::{Bytes, Instant, Rate, Span};

use crate::analysis::{Ideal, WITH_TIMESTAMPS, WITHOUT_OPTIONS, load_trial};
use crate::error::LabError;
use crate::store::RunDirectory;

/// The path's properties after the first two steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Baseline {
    /// The largest packet that went through (section 3.1).
    #[serde(rename = "mtu_bytes", with = "tcplab_units::number")]
    pub mtu: Bytes,
    /// The payload of a segment.
    #[serde(rename = "segment_bytes", with = "tcplab_units::number")]
    pub segment: Bytes,
    /// The least round trip of a full segment on the idle path (section 3.2.1).
    #[serde(rename = "rtt_ns", with = "tcplab_units::number")]
    pub rtt: Span,
    /// Their mean.
    #[serde(rename = "rtt_mean_ns", with = "tcplab_units::number")]
    pub rtt_mean: Span,
    /// The rate of the bottleneck (section 3.2), in bits of IP packets a second, by the spacing of
    /// what was acknowledged; where it varies, the rate that it sustains.
    #[serde(rename = "rate_bits_per_second", with = "tcplab_units::number")]
    pub rate: Rate,
    /// That of the closest spacing, where the path does not sustain it.
    #[serde(rename = "peak_rate_bits_per_second", with = "tcplab_units::number")]
    pub peak: Option<Rate>,
    /// The path's configuration; none for a real path.
    pub asked: Option<Asked>,
}

/// A path as its plan has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Asked {
    /// The mean of a full packet there and an acknowledgement back.
    #[serde(rename = "rtt_ns", with = "tcplab_units::number")]
    pub rtt: Span,
    /// Of the bottleneck.
    #[serde(rename = "rate_bits_per_second", with = "tcplab_units::number")]
    pub rate: Option<Rate>,
    /// Of the link.
    #[serde(rename = "mtu_bytes", with = "tcplab_units::number")]
    pub mtu: Bytes,
}

impl Asked {
    /// As the connections of the test have it, which have these ports. None of a path that is none.
    pub(super) fn of(path: &PathSpec, direction: Direction, lasting: Span) -> Option<Asked> {
        let until = Instant::ZERO + lasting;
        let mtu = Ideal::of(path, direction, until, 1)?.mtu;
        let ideal = Ideal::of_packets(path, direction, until, 1, mtu)?;
        let Ideal { base_rtt: rtt, rate, .. } =
            ideal.between_ports(path, PlannedConnection::FIRST_PORTS);
        Some(Asked { rtt, rate, mtu })
    }
}

/// Windows in the sweep, in eighths of the bandwidth-delay product (section 3.3.2 and figure 3
/// there: below one, throughput is in proportion; above, it is not better).
const WINDOWS: [u64; 6] = [1, 2, 4, 6, 8, 16];
/// No window is less than two segments: else a delayed acknowledgement stops the sender.
const FEWEST_SEGMENTS: u64 = 2;
/// The share of the time for which the path must limit the transfer that shows its rate.
const FULL: f64 = 0.5;
/// The mean of a steady RTT exceeds the least by less than this.
const STEADY_RTT: f64 = 1.1;
/// The closest spacing exceeds a steady rate by less than this.
const STEADY: f64 = 1.05;

impl Baseline {
    /// The windows of the sweep.
    pub fn windows(&self) -> Vec<Bytes> {
        let product = self.bdp().as_u64();
        let of = |eighths: &u64| Bytes::new(window(product * eighths / 8, self));
        let mut windows: Vec<Bytes> = WINDOWS.iter().map(of).collect();
        if self.varies() {
            // The least round trip is rare: the mean needs more.
            let mean = self.rate.bytes_in(self.rtt_mean).as_u64();
            windows.extend([mean, mean * 2].map(|bytes| Bytes::new(window(bytes, self))));
            windows.sort_unstable();
        }
        // Of a small product several are the least.
        windows.dedup();
        windows
    }

    /// The window of each of several connections.
    pub fn shared_window(&self, connections: u64) -> Bytes {
        Bytes::new(window(self.bdp().as_u64() / connections.max(1), self))
    }

    /// What the run of `Test::baseline` shows; none where a step showed nothing.
    ///
    /// # Errors
    /// When a recording cannot be read.
    pub fn of(
        path: &PathSpec,
        direction: Direction,
        lasting: Span,
        directory: &RunDirectory,
        run: &Run,
    ) -> Result<Option<Baseline>, LabError> {
        let [Some(idle), Some(full)] = [run.cases.first(), run.cases.get(1)] else {
            return Ok(None);
        };
        let [Some(idle), Some(full)] = [idle, full].map(|case| case.trials.first()) else {
            return Ok(None);
        };
        let round_trips = round_trips(&load_trial(directory, idle)?, direction);
        let data = load_trial(directory, full)?;
        let Some(connection) = sent_trace(&data, direction).connections.first() else {
            return Ok(None);
        };
        let flow = data_flow(connection, direction);
        let [client, server] = [&connection.handshake.client, &connection.handshake.server];
        // With options of 12 B where both use timestamps (RFC 7323 section 3.2).
        let has_timestamps = client.timestamps && server.timestamps;
        let headers = if has_timestamps { WITH_TIMESTAMPS } else { WITHOUT_OPTIONS }.as_u64();
        // The first may have been larger than the path takes (RFC 1191).
        let found = flow.marks.mss_changes.last().map(|change| change.to);
        let segment = found.unwrap_or(flow.marks.largest).as_u64();
        let (Some([rtt, rtt_mean]), Some(capacity), 1..) =
            (round_trips, flow.transfer.capacity, segment)
        else {
            return Ok(None);
        };
        let whole = (segment + headers) as f64 / segment as f64;
        let of_packets = |payload: Rate| {
            Rate::from_bits_per_second((payload.bits_per_second() as f64 * whole) as u64)
        };
        let sustained = sustained(flow, capacity);
        Ok(Some(Baseline {
            mtu: Bytes::new(segment + headers),
            segment: Bytes::new(segment),
            rtt,
            rtt_mean,
            rate: of_packets(sustained.unwrap_or(capacity)),
            peak: sustained.map(|_| of_packets(capacity)),
            asked: Asked::of(path, direction, lasting),
        }))
    }

    /// Whether round trips on the idle path differ.
    pub fn varies(&self) -> bool {
        self.rtt_mean.as_secs_f64() > STEADY_RTT * self.rtt.as_secs_f64()
    }

    /// The bandwidth-delay product (section 3.3.1).
    pub fn bdp(&self) -> Bytes {
        self.rate.bytes_in(self.rtt)
    }

    /// The most payload a second: all of each packet but its headers.
    pub fn best(&self) -> Rate {
        let share = self.segment.as_u64() as f64 / self.mtu.as_u64().max(1) as f64;
        Rate::from_bits_per_second((self.rate.bits_per_second() as f64 * share).max(1.0) as u64)
    }
}

/// The payload a second that the path carries while it is the limit, where the closest spacing of
/// acknowledged data is not what it sustains: a bottleneck whose rate varies. What slow start sent
/// counts, too, so that it is rather too large.
fn sustained(flow: &Flow, closest: Rate) -> Option<Rate> {
    let time = flow.shares.spans[Limit::Path as usize];
    let rate = Rate::of(flow.totals.unique, time)?;
    let is_full = flow.shares.share(Limit::Path) >= FULL;
    let varies = closest.bits_per_second() as f64 > STEADY * rate.bits_per_second() as f64;
    (is_full && varies).then_some(rate)
}

/// The capture beside the sender of the data.
fn sent_trace(data: &TrialData, direction: Direction) -> &Trace {
    match direction {
        Direction::Forward => &data.client,
        Direction::Reverse => &data.server,
    }
}

fn data_flow(connection: &Connection, direction: Direction) -> &Flow {
    match direction {
        Direction::Forward => &connection.forward,
        Direction::Reverse => &connection.reverse,
    }
}

/// The least and the mean of connections with a segment each; none without any.
fn round_trips(data: &TrialData, direction: Direction) -> Option<[Span; 2]> {
    let flows = sent_trace(data, direction).connections.iter().map(|it| data_flow(it, direction));
    let all: Vec<Span> = flows.filter_map(|flow| flow.round_trips.mean_of_data).collect();
    let sum: u64 = all.iter().map(|it| it.as_nanos()).sum();
    let least = all.iter().min()?;
    let one = Span::from_micros(1);
    Some([*least, Span::from_nanos(sum / all.len() as u64)].map(|it| it.max(one)))
}

/// At least a few segments, and whole ones: no less than the product asks for.
fn window(bytes: u64, baseline: &Baseline) -> u64 {
    let segment = baseline.segment.as_u64().max(1);
    bytes.div_ceil(segment).max(FEWEST_SEGMENTS) * segment
}
