//! What happened in a trial so far, in sums over intervals.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tcplab_path::{Direction, Fate, Verdict};
use tcplab_recording::Sample;
use tcplab_trace::{Ack, FlowId, Segment, SegmentKind};
use tcplab_units::{Endpoint, Instant, Span};

use crate::latest::{Latest, Packet};

/// An interval: ten times as fine as a page is told, and as samples are by default.
pub const INTERVAL: Span = Span::from_millis(10);
/// Intervals of a series: 20 minutes; 10 MB for a trial. A note says when there were more.
const INTERVALS: usize = 120_000;
/// Directions of connections that are shown, those that began first.
const FLOWS: usize = 32;
/// Marks of single packets.
const MARKS: usize = 50_000;

/// One direction of a connection in an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FlowSums {
    pub(crate) interval: u64,
    /// The end of the highest data sent, and of what was acknowledged, bytes of the stream.
    sent: u64,
    acknowledged: u64,
    /// How far the receiver lets it send.
    allowed: Option<u64>,
    /// At the last segment.
    pub(crate) in_flight: u64,
    /// Of new data.
    pub(crate) bytes: u64,
    segments: u64,
    pub(crate) retransmissions: u64,
}

/// One direction of the path in an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PathSums {
    pub(crate) interval: u64,
    /// The longest time in the queue.
    pub(crate) waited: Span,
    pub(crate) bytes: u64,
    pub(crate) dropped: u64,
}

/// The latest sample of an interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleOf {
    pub(crate) interval: u64,
    pub(crate) sample: Sample,
}

/// A packet that is worth a mark.
#[derive(Debug, Clone)]
struct Mark {
    at: Instant,
    kind: &'static str,
    /// The direction: from the client.
    forward: bool,
    /// The place in the stream, if known.
    sequence: Option<u64>,
    what: String,
}

/// A direction of a connection: which, and the first of its numbers that was seen.
#[derive(Debug, Default)]
pub(crate) struct FlowSeries {
    connection: usize,
    pub(crate) forward: bool,
    pub(crate) sums: Vec<FlowSums>,
}

/// Series of each direction of connections, each socket and each direction of the path; marks.
#[derive(Debug, Default)]
pub struct History {
    pub(crate) flows: Vec<FlowSeries>,
    places: BTreeMap<(usize, bool), usize>,
    pub(crate) samples: [Vec<SampleOf>; 2],
    pub(crate) path: [Vec<PathSums>; 2],
    marks: Vec<Mark>,
    latest: Latest,
    /// Packets that the path dropped, by the name of the cause.
    pub(crate) drops: BTreeMap<&'static str, u64>,
    /// Whether something was left out, as there was too much.
    is_cut: bool,
    /// Readers that have come to an end.
    ended: usize,
    /// Counts changes.
    changes: u64,
}

/// How much of a history a page has.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    flows: Vec<usize>,
    samples: [usize; 2],
    path: [usize; 2],
    marks: usize,
    latest: u64,
    changes: Option<u64>,
}

/// The slow start threshold before there is one (Linux: `TCP_INFINITE_SSTHRESH`).
pub(crate) const NO_THRESHOLD: u64 = 0x7fff_ffff;
/// Readers of a recording.
const READERS: usize = 4;

fn interval_of(at: Instant) -> u64 {
    at.as_nanos() / INTERVAL.as_nanos()
}

/// The sums of this interval, or of the latest where time went back.
fn current<T: Default + Copy>(
    sums: &mut Vec<T>,
    interval: u64,
    of: impl Fn(&T) -> u64,
    begin: impl FnOnce(Option<T>) -> T,
    is_cut: &mut bool,
) -> Option<usize> {
    let is_new = sums.last().is_none_or(|last| of(last) < interval);
    if is_new && sums.len() >= INTERVALS {
        *is_cut = true;
        return None;
    }
    if is_new {
        let begun = begin(sums.last().copied());
        sums.push(begun);
    }
    Some(sums.len() - 1)
}

impl History {
    fn flow(&mut self, flow: FlowId, at: Instant) -> Option<&mut FlowSums> {
        let key = (flow.connection, flow.forward);
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None if self.flows.len() < FLOWS => {
                let (connection, forward) = key;
                self.flows.push(FlowSeries { connection, forward, sums: Vec::new() });
                self.places.insert(key, self.flows.len() - 1);
                self.flows.len() - 1
            }
            None => {
                self.is_cut = true;
                return None;
            }
        };
        self.changes += 1;
        let (series, interval) = (&mut self.flows[place].sums, interval_of(at));
        let begin = |last: Option<FlowSums>| {
            let last = last.unwrap_or_default();
            FlowSums { interval, bytes: 0, segments: 0, retransmissions: 0, ..last }
        };
        let at = current(series, interval, |it| it.interval, begin, &mut self.is_cut)?;
        Some(&mut series[at])
    }

    pub(crate) fn segment(&mut self, flow: FlowId, segment: &Segment, at: Instant) {
        let again = segment.kind.is_retransmission();
        if let Some(sums) = self.flow(flow, at) {
            sums.sent = sums.sent.max(segment.range.end.as_u64());
            sums.in_flight = segment.in_flight.as_u64();
            sums.segments += 1;
            sums.retransmissions += u64::from(again);
            if !again {
                sums.bytes += segment.payload.as_u64();
            }
        }
        if segment.kind != SegmentKind::New {
            self.mark(Mark {
                at,
                kind: "segment",
                forward: flow.forward,
                sequence: Some(segment.range.start.as_u64()),
                what: segment.kind.name().into(),
            });
        }
    }

    pub(crate) fn ack(&mut self, flow: FlowId, ack: &Ack, at: Instant) {
        if let Some(sums) = self.flow(flow, at) {
            sums.acknowledged = sums.acknowledged.max(ack.ack.as_u64());
            let allowed = ack.window.map(|window| ack.ack.as_u64() + window.as_u64());
            sums.allowed = allowed.or(sums.allowed);
        }
    }

    pub(crate) fn sample(&mut self, sample: &Sample) {
        let interval = interval_of(sample.at);
        let of = &mut self.samples[sample.endpoint.index()];
        self.changes += 1;
        if let Some(last) = of.last_mut().filter(|last| last.interval >= interval) {
            last.sample = *sample;
        } else if of.len() < INTERVALS {
            of.push(SampleOf { interval, sample: *sample });
        } else {
            self.is_cut = true;
        }
    }

    pub(crate) fn verdict(&mut self, verdict: &Verdict) {
        let interval = interval_of(verdict.left);
        let place = usize::from(verdict.direction == Direction::Reverse);
        self.changes += 1;
        let begin = |_| PathSums { interval, ..PathSums::default() };
        let sums = &mut self.path[place];
        let at = current(sums, interval, |it| it.interval, begin, &mut self.is_cut);
        if let Some(sums) = at.map(|at| &mut sums[at]) {
            let waited = verdict.transmission.map_or(Span::ZERO, |it| it.waited());
            sums.waited = sums.waited.max(waited);
            match verdict.fate {
                Fate::Dropped(_) => sums.dropped += 1,
                _ => sums.bytes += verdict.size.as_u64(),
            }
        }
        if let Fate::Dropped(cause) = verdict.fate {
            *self.drops.entry(cause.name()).or_default() += 1;
            let forward = verdict.direction == Direction::Forward;
            let what = cause.to_string();
            self.mark(Mark { at: verdict.left, kind: "drop", forward, sequence: None, what });
        }
    }

    pub(crate) fn keep(&mut self, packet: Packet, at: Instant) {
        self.latest.keep(packet, at);
        self.changes += 1;
    }

    fn mark(&mut self, mark: Mark) {
        if self.marks.len() < MARKS {
            self.marks.push(mark);
        } else {
            self.is_cut = true;
        }
    }

    /// A reader has come to its end.
    pub(crate) fn ended(&mut self) {
        self.ended += 1;
        self.changes += 1;
    }

    /// Whether all there is was read.
    pub fn is_over(&self) -> bool {
        self.ended >= READERS
    }

    /// What a page does not have yet, as JSON; the latest interval of each series once more, as it
    /// may have grown. None if nothing has changed.
    pub fn since(&self, cursor: &mut Cursor) -> Option<Value> {
        if cursor.changes == Some(self.changes) {
            return None;
        }
        cursor.changes = Some(self.changes);
        cursor.flows.resize(self.flows.len(), 0);
        let mut flows = Vec::new();
        for (series, from) in self.flows.iter().zip(&mut cursor.flows) {
            flows.push(json!({
                "connection": series.connection,
                "forward": series.forward,
                "intervals": rest(&series.sums, from).iter().map(flow_row).collect::<Vec<_>>(),
            }));
        }
        let [client, server] = Endpoint::BOTH.map(|end| {
            let rows = rest(&self.samples[end.index()], &mut cursor.samples[end.index()]);
            rows.iter().map(sample_row).collect::<Vec<_>>()
        });
        let [forward, reverse] = [0, 1].map(|place| {
            let rows = rest(&self.path[place], &mut cursor.path[place]);
            rows.iter().map(path_row).collect::<Vec<_>>()
        });
        let marks = &self.marks[cursor.marks..];
        cursor.marks = self.marks.len();
        let has_packets = cursor.latest != self.latest.count;
        cursor.latest = self.latest.count;
        Some(json!({
            "interval_ns": INTERVAL.as_nanos(),
            "flows": flows,
            "samples": { "client": client, "server": server },
            "path": { "forward": forward, "reverse": reverse },
            "marks": marks.iter().map(mark_row).collect::<Vec<_>>(),
            "latest": has_packets.then(|| self.latest.rows()),
            "is_cut": self.is_cut,
            "is_over": self.is_over(),
        }))
    }
}

/// What follows what was told before, whose last item is told again.
fn rest<'a, T>(all: &'a [T], told: &mut usize) -> &'a [T] {
    let from = told.saturating_sub(1).min(all.len());
    *told = all.len();
    &all[from..]
}

fn flow_row(sums: &FlowSums) -> Value {
    let FlowSums {
        interval,
        sent,
        acknowledged,
        allowed,
        in_flight,
        bytes,
        segments,
        retransmissions,
    } = sums;
    json!([interval, sent, acknowledged, allowed, in_flight, bytes, segments, retransmissions])
}

fn sample_row(of: &SampleOf) -> Value {
    let Sample { cwnd_segments, ssthresh_segments, rtt_us, snd_mss_bytes, state, ca_state, .. } =
        of.sample;
    let ssthresh = (ssthresh_segments != NO_THRESHOLD).then_some(ssthresh_segments);
    let srtt_ns = rtt_us * 1_000;
    json!([of.interval, cwnd_segments, ssthresh, srtt_ns, snd_mss_bytes, state, ca_state])
}

fn path_row(sums: &PathSums) -> Value {
    let PathSums { interval, waited, bytes, dropped } = sums;
    json!([interval, waited.as_nanos(), bytes, dropped])
}

fn mark_row(mark: &Mark) -> Value {
    let Mark { at, kind, forward, sequence, what } = mark;
    json!({
        "at_ns": at, "kind": kind, "forward": forward, "sequence": sequence, "what": what,
    })
}
