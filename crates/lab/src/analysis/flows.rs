//! Several flows in one trial: what each got, and how they shared the path.

mod sharing;

use std::collections::BTreeMap;
use std::iter;

use tcplab_path::{Direction, Fate, PathSpec, Verdict};
use tcplab_recording::{
    AppLog, ConnectionLog, FlowLog, LostPacket, Recording, RecordingError, Sample, TrialRecord,
};
use tcplab_results::{FlowConnectionRow, FlowRow, FlowSeries, Metric};
use tcplab_scenario::{MetricInfo, metric, metrics};
use tcplab_trace::{Connection, Trace};
use tcplab_units::{Bytes, Endpoint, Instant, Rate, Span};
use tcplab_workload::Exchange;

use super::captures::ports;
use super::episodes::drops;
use super::ideal::Ideal;
use super::metrics::{Sources, named};
use super::sender::{flow_of, sending_end};
use super::sizes::Sizes;
use sharing::Arrivals;

/// The largest number of intervals of a trial.
const INTERVALS: u64 = 240;
/// None is shorter: a few packets at a Mbit/s.
const SHORTEST: Span = Span::from_millis(100);

/// What is known of the flows of a trial.
pub(crate) struct FlowSources<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) app: &'a AppLog,
    pub(crate) path: &'a PathSpec,
    /// Packets that did not arrive; nothing, where the path has no log.
    pub(crate) lost: &'a [LostPacket],
    pub(crate) record: &'a TrialRecord,
    pub(crate) sizes: &'a Sizes,
    /// As captured at the client and at the server.
    pub(crate) traces: [&'a Trace; 2],
}

/// The results of the flows of a trial; none where it has no flows.
#[derive(Debug, Default)]
pub(crate) struct FlowResults {
    pub(crate) rows: Vec<FlowRow>,
    /// What they are together.
    together: Vec<Metric>,
}

impl FlowResults {
    /// The metrics of the trial, given those of the connection that it is about.
    pub(crate) fn metrics(&self, first: Vec<Metric>) -> Vec<Metric> {
        let mut metrics = match self.rows.iter().find(|flow| !flow.background) {
            Some(subject) => typical(subject, first),
            None => first,
        };
        metrics.extend(self.together.iter().cloned());
        metrics
    }
}

/// Of several connections, what each has, in place of `first`'s: the median.
fn typical(flow: &FlowRow, first: Vec<Metric>) -> Vec<Metric> {
    let typical = |known: Metric| match metric(&known.name) {
        // That is of all of them.
        Some(info) if *info == *metrics::PAYLOAD_INTACT => known,
        Some(info) => Metric { value: flow.median(info).unwrap_or(known.value), ..known },
        None => known,
    };
    if flow.connections.len() > 1 { first.into_iter().map(typical).collect() } else { first }
}

/// The yardstick for a transfer in each direction.
type Ideals = [(Direction, Option<Ideal>); 2];
/// The yardstick for a transfer in a direction.
type IdealOf<'a> = dyn Fn(Direction) -> Option<Ideal> + 'a;

impl FlowSources<'_> {
    /// The flows, and the metrics that the trial has of them together.
    pub(crate) fn examine(&self, ideal: &IdealOf<'_>) -> Result<FlowResults, RecordingError> {
        if self.app.flows.is_empty() {
            return Ok(FlowResults::default());
        }
        let ideals = Direction::BOTH.map(|way| (way, ideal(way)));
        let captured = self.traces.map(|trace| {
            let first = trace.connections.iter().filter(|it| !self.is_later_subflow(it));
            first.map(|it| (ports(it), it)).collect::<BTreeMap<_, _>>()
        });
        let mut rows = Vec::new();
        let mut subjects = Vec::new();
        let mut all = Vec::new();
        let subject = self.app.flows.iter().position(|flow| !flow.background);
        for (index, log) in self.app.flows.iter().enumerate() {
            let samples = if subject == Some(index) {
                self.recording.samples()?
            } else {
                self.recording.samples_of(&log.name)?
            };
            let mut arrivals = Vec::new();
            let mut connections = Vec::new();
            for (nth, connection) in log.connections.iter().enumerate() {
                let at = |end: Endpoint| captured[end as usize].get(&connection.ports).copied();
                let samples = if nth == 0 { &samples[..] } else { &[] };
                connections.push(self.connection(connection, &at, samples, &ideals));
                let subflows = if nth == 0 { self.later_subflows(connection) } else { Vec::new() };
                arrivals.push(arrived(connection, &at, subflows));
            }
            rows.push(self.row(log, connections, &arrivals));
            if !log.background {
                subjects.extend(arrivals.iter().cloned());
            }
            all.extend(arrivals);
        }
        let together = named(self.together(&subjects, &all, self.utilisation()?)).collect();
        Ok(FlowResults { rows, together })
    }

    /// Whether a connection is a subflow on the second path.
    fn is_later_subflow(&self, connection: &Connection) -> bool {
        self.record.is_on_second_path(connection.client.ip())
    }

    /// The subflows on the second path of the connections to the server's port of this one, as they
    /// passed their receiver. They do not say whose they are.
    fn later_subflows(&self, log: &ConnectionLog) -> Vec<Arrivals> {
        let app = AppLog::of(log.client.clone(), log.server.clone());
        let end = sending_end(&app);
        let all = self.traces[end.other() as usize].connections.iter();
        let own = all.filter(|it| self.is_later_subflow(it) && it.server.port() == log.ports[1]);
        own.map(|it| Arrivals::of(&flow_of(it, end).segments)).collect()
    }

    fn row(
        &self,
        log: &FlowLog,
        connections: Vec<FlowConnectionRow>,
        arrivals: &[Arrivals],
    ) -> FlowRow {
        let interval = (self.record.duration / INTERVALS).max(SHORTEST);
        let count = self.record.duration.as_nanos().div_ceil(interval.as_nanos());
        let until = |n: u64| {
            let at = Instant::ZERO + interval * n;
            arrivals.iter().map(|it| it.until(at)).sum::<u64>()
        };
        let bytes = (0..count).map(|n| until(n + 1) - until(n)).collect();
        let series = FlowSeries { interval_s: interval.as_secs_f64(), bytes };
        FlowRow { name: log.name.clone(), background: log.background, connections, series }
    }

    fn connection<'c>(
        &self,
        log: &ConnectionLog,
        captured: &dyn Fn(Endpoint) -> Option<&'c Connection>,
        samples: &[Sample],
        ideals: &Ideals,
    ) -> FlowConnectionRow {
        let app = AppLog::of(log.client.clone(), log.server.clone());
        let end = sending_end(&app);
        let way = Direction::from_sender(end);
        let receiver = match end {
            Endpoint::Client => &log.server,
            Endpoint::Server => &log.client,
        };
        let own = captured(end).map(|connection| {
            let flow = flow_of(connection, end);
            let lost = || drops(flow, self.lost, way).len();
            let lost = self.record.has_truth().then(lost);
            let ideal = ideals.iter().find(|(of, _)| *of == way).and_then(|(_, it)| it.clone());
            let ideal = ideal.map(|it| it.between_ports(self.path, log.ports));
            let size = self.sizes.of_ports(log.ports);
            Sources { app: &app, size, flow, samples, lost, ideal }.metrics()
        });
        let answered = |it: &Exchange| Some(it.answered?.since(it.asked).as_millis_f64());
        FlowConnectionRow {
            ports: log.ports,
            start_s: log.client.started.unwrap_or(log.start).as_secs_f64(),
            bytes: receiver.bytes.as_u64(),
            metrics: own.unwrap_or_default(),
            response_times_ms: log.client.exchanges.iter().filter_map(answered).collect(),
        }
    }

    /// What the flows are together: those that the trial is about, and all.
    fn together(
        &self,
        subjects: &[Arrivals],
        all: &[Arrivals],
        utilisation: Option<f64>,
    ) -> Vec<(&'static MetricInfo, f64)> {
        let logs = || self.app.flows.iter();
        let started = |flow: &FlowLog| {
            let each = flow.connections.iter().filter_map(|it| it.client.started);
            each.collect::<Vec<_>>()
        };
        let last_start = logs().filter(|it| !it.background).flat_map(started).max();
        let first_start = logs().flat_map(started).min();
        let end = all.iter().filter_map(Arrivals::span).map(|(_, last)| last).max();
        let lasted = first_start.zip(end).map(|(from, to)| to.since(from));
        let bytes = Bytes::new(all.iter().map(Arrivals::total).sum());
        let goodput = lasted.and_then(|span| Rate::mbit_f64_of(bytes, span));
        // Of several connections of a flow, whose a subflow on the second path is, is not known.
        let is_clear =
            self.record.second_path.is_none() || logs().all(|it| it.connections.len() < 2);
        let subjects = if is_clear { subjects } else { &[] };
        let settled = last_start.and_then(|start| sharing::convergence(subjects, start));
        let values = [
            (metrics::FAIRNESS, sharing::fairness(subjects)),
            (metrics::CONVERGENCE, settled.map(Span::as_secs_f64)),
            (metrics::AGGREGATE_GOODPUT, goodput),
            (metrics::PATH_UTILISATION, utilisation),
        ];
        values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// How much of what the path could forward it did, from the first packet to the last, in the
    /// direction that forwarded more; nothing where that has no rate.
    fn utilisation(&self) -> Result<Option<f64>, RecordingError> {
        let mut ways = Direction::BOTH.map(Forwarded::nothing);
        if self.record.has_truth() {
            for row in self.recording.truth_rows()? {
                let verdict = row?.verdict;
                for way in &mut ways {
                    way.see(&verdict);
                }
            }
        }
        let [forward, reverse] = ways;
        let busier = if forward.bytes >= reverse.bytes { forward } else { reverse };
        let Some((from, to)) = busier.time else { return Ok(None) };
        let paths = iter::once(self.path).chain(&self.record.second_path);
        let each = paths.map(|path| {
            let link = path.link(busier.way).ok()?;
            let possible = link.carries(from, to)?.as_u64();
            Some((possible, link.carries_copies(from, to)))
        });
        let Some(each) = each.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let possible: u64 = each.iter().map(|(possible, _)| possible).sum();
        let copies = each.iter().zip(busier.copies).filter(|((_, counts), _)| *counts);
        let bytes = busier.bytes + copies.map(|(_, bytes)| bytes).sum::<u64>();
        Ok((possible > 0).then(|| 100.0 * bytes as f64 / possible as f64))
    }
}

/// What the path forwarded in a direction.
#[derive(Debug, Clone, Copy)]
struct Forwarded {
    way: Direction,
    /// Without copies.
    bytes: u64,
    /// Of copies, on each path.
    copies: [u64; 2],
    /// When the first came to the path, and the last left it.
    time: Option<(Instant, Instant)>,
}

impl Forwarded {
    fn nothing(way: Direction) -> Forwarded {
        Forwarded { way, bytes: 0, copies: [0; 2], time: None }
    }

    fn see(&mut self, verdict: &Verdict) {
        if verdict.direction == self.way && verdict.fate == Fate::Delivered {
            let (from, to) = self.time.unwrap_or((verdict.entered, verdict.left));
            self.time = Some((from.min(verdict.entered), to.max(verdict.left)));
            // Later fragments have ids of their own, the first keeps its packet's.
            let is_copy = verdict.is_made() && verdict.fragment.is_none_or(|begins| begins == 0);
            let of = if is_copy {
                &mut self.copies[usize::from(verdict.second_path)]
            } else {
                &mut self.bytes
            };
            *of += verdict.size.as_u64();
        }
    }
}

/// The payload of a connection, and of its later subflows, as it passed its receiver.
fn arrived<'c>(
    log: &ConnectionLog,
    captured: &dyn Fn(Endpoint) -> Option<&'c Connection>,
    subflows: Vec<Arrivals>,
) -> Arrivals {
    let app = AppLog::of(log.client.clone(), log.server.clone());
    let end = sending_end(&app);
    let first = captured(end.other())
        .map(|connection| Arrivals::of(&flow_of(connection, end).segments))
        .unwrap_or_default();
    if subflows.is_empty() {
        first
    } else {
        Arrivals::together(subflows.into_iter().chain([first]))
    }
}

#[cfg(test)]
mod tests;
