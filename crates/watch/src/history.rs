//! What happened in a trial so far, in sums over intervals: of a long one the latest.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use serde_json::{Value, json};
use tcplab_capture::UnixTime;
use tcplab_path::{Cause, Direction, Fate, Verdict};
use tcplab_recording::Sample;
use tcplab_trace::{Ack, Segment, SegmentKind, TcpState};
use tcplab_units::{Bytes, Endpoint, Instant, Offset, Span};

use crate::ladder::{Ladder, PacketRow};
use crate::latest::Latest;

/// An interval: ten times as fine as a page is told, and as samples are by default.
pub const INTERVAL: Span = Span::from_millis(10);
/// The latest intervals of a series that are kept: 20 minutes. A note says when there were more.
const INTERVALS: usize = 120_000;
/// Intervals of all directions of connections together: 40 MB.
const FLOW_INTERVALS: usize = 4 * INTERVALS;
/// Directions of connections that are shown: one takes another's place that rests.
const FLOWS: usize = 32;
/// A direction rests that has had no packet for so many intervals.
const RESTING: u64 = 100;
/// The latest marks of single packets that are kept.
const MARKS: usize = 50_000;
/// The latest connections whose numbers are known.
const CONNECTIONS: usize = 1_000;
/// The latest connections whose states are told.
const MET: usize = 100;

/// One direction of a connection in an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FlowSums {
    pub(crate) interval: u64,
    /// The end of the highest data sent, and of what was acknowledged, bytes of the stream: SYN and
    /// FIN are none.
    sent: u64,
    acknowledged: u64,
    /// How far the receiver lets it send.
    allowed: Option<u64>,
    /// Whether the stream has ended with what was sent.
    is_ended: bool,
    /// After the last segment or acknowledgement.
    pub(crate) in_flight: u64,
    /// Of new data.
    pub(crate) bytes: u64,
    segments: u64,
    pub(crate) retransmissions: u64,
    /// The latest RTT of a segment that was sent once, as its sender sees it.
    rtt: Option<Span>,
    /// What the sender's socket says, where it can be asked.
    socket: Option<SenderSocket>,
}

/// What a sender's socket says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderSocket {
    /// The congestion window, bytes.
    pub cwnd: Bytes,
    /// The slow start threshold, bytes; none before there is one.
    pub ssthresh: Option<Bytes>,
    /// The smoothed RTT, once there is one.
    pub srtt: Option<Span>,
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
    /// The number of its connection; none of what the path dropped.
    connection: Option<usize>,
    /// The direction: from the client.
    forward: bool,
    /// The place in the stream, if known.
    sequence: Option<u64>,
    /// When it came to the path, of what the path dropped: the time at which packets list it.
    sent: Option<Instant>,
    what: String,
}

/// The data that one end of a connection sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlowKey {
    /// The number of the connection.
    pub(crate) connection: usize,
    /// Whether the client's end of the path sends it.
    pub(crate) forward: bool,
    /// Sender and receiver, if known.
    pub(crate) ends: Option<[SocketAddr; 2]>,
}

/// A connection, and where its packets say that both ends are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetConnection {
    /// Its number.
    pub connection: usize,
    /// The address here, at the end of the path that sends forward, and the other.
    pub ends: [SocketAddr; 2],
    /// The states of these ends, as far as they are known.
    pub states: [Option<TcpState>; 2],
}

/// A direction of a connection.
#[derive(Debug)]
pub(crate) struct FlowSeries {
    /// Of all there ever were.
    number: u64,
    pub(crate) key: FlowKey,
    pub(crate) sums: Latest<FlowSums>,
}

/// Series of each direction of connections, each socket and each direction of the path; marks.
#[derive(Debug, Default)]
pub struct History {
    pub(crate) flows: Vec<FlowSeries>,
    flows_begun: u64,
    /// Those of all flows.
    flow_intervals: usize,
    /// The ends of a connection, the lower one first, which of those between these ends it is, and
    /// its number: both captures have it, and not in one order.
    connections: VecDeque<([SocketAddr; 2], usize, usize)>,
    connections_begun: usize,
    /// The latest ones, the one whose state has changed last at the end.
    met: VecDeque<MetConnection>,
    pub(crate) samples: [Latest<SampleOf>; 2],
    pub(crate) path: [Latest<PathSums>; 2],
    marks: Latest<Mark>,
    /// The latest packets, and how many of them are kept beyond those that are told.
    ladder: Ladder,
    kept_packets: usize,
    /// Packets that the path dropped, by the name of the cause.
    pub(crate) drops: BTreeMap<&'static str, u64>,
    /// Of all flows, also of those that are not kept.
    pub(crate) retransmissions: u64,
    /// Whether something was left out, as there was too much.
    is_cut: bool,
    /// When the zero of the trial was, once a packet was read.
    zero: Option<UnixTime>,
    /// How far time has come, where something else than packets says so.
    reached: Option<Instant>,
    /// Readers that have come to an end.
    ended: usize,
    /// Counts changes.
    changes: u64,
}

/// How much of a history a page has.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    /// By the numbers of the flows.
    flows: BTreeMap<u64, usize>,
    samples: [usize; 2],
    path: [usize; 2],
    marks: usize,
    packets: u64,
    changes: Option<u64>,
}

/// Packets that are kept of what is not recorded to stay: 10 MB.
const PACKETS: usize = 50_000;
/// The slow start threshold before there is one (Linux: `TCP_INFINITE_SSTHRESH`).
pub(crate) const NO_THRESHOLD: u64 = 0x7fff_ffff;
/// Readers of a recording.
const READERS: usize = 4;
/// A packet is read so much later than it passed: by the writer's 50 ms, and by a reader's rest.
const READ_AFTER: Span = Span::from_millis(100);

fn interval_of(at: Instant) -> u64 {
    at.as_nanos() / INTERVAL.as_nanos()
}

/// The interval from which on nothing waited, where a packet came to a queue that had been empty
/// for longer than one.
fn rest_between(last: &PathSums, verdict: &Verdict) -> Option<PathSums> {
    // What has no room finds a queue, whoever left it when.
    if let Fate::Dropped(Cause::QueueFull { .. } | Cause::Aqm { .. }) = verdict.fate {
        return None;
    }
    let in_queue = verdict.transmission.map_or(Span::ZERO, |it| it.ended.since(it.queued));
    // As if it had come later by the delay behind the queue, which all have.
    let came = verdict.left - in_queue;
    let interval = last.interval + 1;
    let is_rest = interval < interval_of(came);
    is_rest.then(|| PathSums { interval, ..PathSums::default() })
}

/// How many bytes of the stream precede a place in the space of sequence numbers, which begins with
/// the SYN.
fn in_stream(place: Offset) -> u64 {
    place.as_u64().saturating_sub(1)
}

impl FlowSums {
    /// The acknowledgement of a FIN acknowledges no byte more.
    fn limit_to_stream(&mut self) {
        if self.is_ended {
            self.acknowledged = self.acknowledged.min(self.sent);
        }
    }
}

/// The sums of this interval, or of the latest where time went back; whether they are new.
fn current<T: Default + Copy>(
    sums: &mut Latest<T>,
    interval: u64,
    of: impl Fn(&T) -> u64,
    begin: impl FnOnce(Option<T>) -> T,
) -> (&mut T, bool) {
    let is_new = sums.last().is_none_or(|last| of(last) < interval);
    if is_new {
        let begun = begin(sums.last().copied());
        sums.push(begun);
    }
    (sums.last_mut().expect("there is one"), is_new)
}

impl History {
    /// One that keeps many packets, too.
    pub(crate) fn with_packets() -> History {
        History { kept_packets: PACKETS, ..History::default() }
    }

    /// The number of a connection between these ends, the `nth` between them.
    pub(crate) fn connection(&mut self, mut ends: [SocketAddr; 2], nth: usize) -> usize {
        ends.sort();
        let is_it = |it: &&([SocketAddr; 2], usize, usize)| (it.0, it.1) == (ends, nth);
        if let Some((.., number)) = self.connections.iter().rev().find(is_it) {
            return *number;
        }
        self.connections.push_back((ends, nth, self.connections_begun));
        self.connections_begun += 1;
        if self.connections.len() > CONNECTIONS {
            self.connections.pop_front();
        }
        self.connections_begun - 1
    }

    /// The states of a connection's ends have changed.
    pub(crate) fn met(&mut self, met: MetConnection) {
        self.met.retain(|it| it.connection != met.connection);
        self.met.push_back(met);
        if self.met.len() > MET {
            self.met.pop_front();
        }
        self.changes += 1;
    }

    /// The latest connections, in the order of their numbers.
    pub fn connections(&self) -> Vec<MetConnection> {
        let mut all: Vec<MetConnection> = self.met.iter().copied().collect();
        all.sort_by_key(|it| it.connection);
        all
    }

    fn place_of(&mut self, key: FlowKey, interval: u64) -> Option<usize> {
        let is_it =
            |it: &FlowSeries| (it.key.connection, it.key.forward) == (key.connection, key.forward);
        if let Some(place) = self.flows.iter().position(is_it) {
            return Some(place);
        }
        if self.flows.len() >= FLOWS {
            let last = |flow: &FlowSeries| flow.sums.last().map_or(0, |sums| sums.interval);
            self.is_cut = true;
            let (at, oldest) = self.flows.iter().enumerate().min_by_key(|(_, it)| last(it))?;
            if last(oldest) + RESTING > interval {
                return None;
            }
            self.flow_intervals -= self.flows.remove(at).sums.len();
        }
        let number = self.flows_begun;
        self.flows_begun += 1;
        self.flows.push(FlowSeries { number, key, sums: Latest::default() });
        Some(self.flows.len() - 1)
    }

    fn flow(&mut self, key: FlowKey, at: Instant) -> Option<&mut FlowSums> {
        let interval = interval_of(at);
        let place = self.place_of(key, interval)?;
        self.changes += 1;
        if self.flow_intervals >= FLOW_INTERVALS {
            let first = |it: &FlowSeries| it.sums.first().map_or(u64::MAX, |it| it.interval);
            let oldest = self.flows.iter_mut().min_by_key(|it| first(it))?;
            self.flow_intervals -= usize::from(oldest.sums.forget_first());
            self.is_cut = true;
        }
        let begin = |last: Option<FlowSums>| {
            let last = last.unwrap_or_default();
            FlowSums { interval, bytes: 0, segments: 0, retransmissions: 0, rtt: None, ..last }
        };
        let (sums, is_new) =
            current(&mut self.flows[place].sums, interval, |it| it.interval, begin);
        self.flow_intervals += usize::from(is_new);
        Some(sums)
    }

    pub(crate) fn segment(&mut self, flow: FlowKey, segment: &Segment, at: Instant) {
        let again = segment.kind.is_retransmission();
        self.retransmissions += u64::from(again);
        if let Some(sums) = self.flow(flow, at) {
            let end = in_stream(segment.range.end).saturating_sub(u64::from(segment.fin));
            sums.sent = sums.sent.max(end);
            sums.is_ended |= segment.fin;
            sums.limit_to_stream();
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
                connection: Some(flow.connection),
                forward: flow.forward,
                sequence: Some(in_stream(segment.range.start)),
                sent: None,
                what: segment.kind.name().into(),
            });
        }
    }

    pub(crate) fn ack(&mut self, flow: FlowKey, ack: &Ack, at: Instant, rtt: Option<Span>) {
        if let Some(sums) = self.flow(flow, at) {
            sums.rtt = rtt.or(sums.rtt);
            sums.acknowledged = sums.acknowledged.max(in_stream(ack.ack));
            sums.limit_to_stream();
            sums.in_flight = ack.in_flight.as_u64();
            let allowed = ack.window.map(|window| in_stream(ack.ack) + window.as_u64());
            sums.allowed = allowed.or(sums.allowed);
        }
    }

    /// What the socket of the near or the far end says now of the latest connection between these
    /// addresses, its own first. It counts from the latest interval in which packets were read.
    pub fn socket(&mut self, end: Endpoint, ends: [SocketAddr; 2], says: SenderSocket) {
        let forward = end == Endpoint::Client;
        let is_it = |it: &&mut FlowSeries| (it.key.forward, it.key.ends) == (forward, Some(ends));
        let flow = self.flows.iter_mut().filter(is_it).max_by_key(|it| it.number);
        let Some(sums) = flow.and_then(|it| it.sums.last_mut()) else { return };
        if sums.socket != Some(says) {
            sums.socket = Some(says);
            self.changes += 1;
        }
    }

    pub(crate) fn sample(&mut self, sample: &Sample) {
        let interval = interval_of(sample.at);
        let of = &mut self.samples[sample.endpoint.index()];
        self.changes += 1;
        if let Some(last) = of.last_mut().filter(|last| last.interval >= interval) {
            last.sample = *sample;
        } else {
            of.push(SampleOf { interval, sample: *sample });
            self.is_cut |= of.len() > INTERVALS && of.forget_first();
        }
    }

    pub(crate) fn verdict(&mut self, verdict: &Verdict) {
        let interval = interval_of(verdict.left);
        let place = usize::from(verdict.direction == Direction::Reverse);
        self.changes += 1;
        let begin = |_| PathSums { interval, ..PathSums::default() };
        let sums = &mut self.path[place];
        if let Some(rest) = sums.last().and_then(|last| rest_between(last, verdict)) {
            sums.push(rest);
        }
        let (latest, _) = current(sums, interval, |it| it.interval, begin);
        let waited = verdict.transmission.map_or(Span::ZERO, |it| it.waited());
        latest.waited = latest.waited.max(waited);
        match verdict.fate {
            Fate::Dropped(_) => latest.dropped += 1,
            _ => latest.bytes += verdict.size.as_u64(),
        }
        self.is_cut |= sums.len() > INTERVALS && sums.forget_first();
        if let Fate::Dropped(cause) = verdict.fate {
            *self.drops.entry(cause.name()).or_default() += 1;
            let forward = verdict.direction == Direction::Forward;
            let (at, what) = (verdict.left, cause.to_string());
            self.mark(Mark {
                at,
                kind: "drop",
                connection: None,
                forward,
                sequence: None,
                sent: Some(verdict.entered),
                what,
            });
        }
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
        self.is_cut |= self.marks.len() > MARKS && self.marks.forget_first();
    }

    /// Keeps a packet.
    pub(crate) fn packet(&mut self, put: impl FnOnce(&mut Ladder)) {
        put(&mut self.ladder);
        self.ladder.trim(self.kept_packets);
    }

    /// The latest packets between two times, at most so many: the first ones, or the last; few
    /// where packets are not kept.
    pub fn packets(&self, between: [Instant; 2], most: usize, are_last: bool) -> Vec<PacketRow> {
        self.ladder.between(between, most, are_last)
    }

    /// The zero of the trial was then.
    pub(crate) fn begun(&mut self, zero: UnixTime) {
        self.zero.get_or_insert(zero);
    }

    /// Time has come to `now`, though nothing may have happened: of a path that is used in real
    /// time.
    pub fn reach(&mut self, now: UnixTime) {
        let Some(zero) = self.zero else { return };
        let reached = Instant::ZERO + now.since(zero) - READ_AFTER;
        if self.reached.is_none_or(|before| before < reached) && !self.is_over() {
            self.reached = Some(reached);
            self.changes += 1;
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
        let of = |number| move |it: &FlowSeries| it.number == number;
        cursor.flows.retain(|number, _| self.flows.iter().any(of(*number)));
        let mut flows = Vec::new();
        for FlowSeries { number, key, sums } in &self.flows {
            let told = cursor.flows.entry(*number).or_default();
            flows.push(json!({
                "connection": key.connection,
                "forward": key.forward,
                "ends": key.ends,
                "intervals": rest(sums, told).map(flow_row).collect::<Vec<_>>(),
            }));
        }
        let [client, server] = Endpoint::BOTH.map(|end| {
            let rows = rest(&self.samples[end.index()], &mut cursor.samples[end.index()]);
            rows.map(sample_row).collect::<Vec<_>>()
        });
        let [forward, reverse] = [0, 1].map(|place| {
            let rows = rest(&self.path[place], &mut cursor.path[place]);
            rows.map(path_row).collect::<Vec<_>>()
        });
        let marks = self.marks.since(cursor.marks);
        cursor.marks = self.marks.count();
        let has_packets = cursor.packets != self.ladder.count();
        cursor.packets = self.ladder.count();
        Some(json!({
            "interval_ns": INTERVAL.as_nanos(),
            "reached_ns": self.reached,
            "flows": flows,
            "samples": { "client": client, "server": server },
            "path": { "forward": forward, "reverse": reverse },
            "marks": marks.map(mark_row).collect::<Vec<_>>(),
            "latest": has_packets.then(|| self.ladder.latest()),
            "is_cut": self.is_cut,
            "is_over": self.is_over(),
        }))
    }
}

/// What follows what was told before, whose last item is told again.
fn rest<'a, T>(all: &'a Latest<T>, told: &mut usize) -> impl Iterator<Item = &'a T> + use<'a, T> {
    let from = told.saturating_sub(1);
    *told = all.count();
    all.since(from)
}

fn flow_row(sums: &FlowSums) -> Value {
    let FlowSums {
        interval,
        sent,
        acknowledged,
        allowed,
        is_ended: _,
        in_flight,
        bytes,
        segments,
        retransmissions,
        rtt,
        socket,
    } = sums;
    let rtt_ns = rtt.map(Span::as_nanos);
    let mut row = vec![
        json!(interval),
        json!(sent),
        json!(acknowledged),
        json!(allowed),
        json!(in_flight),
        json!(bytes),
        json!(segments),
        json!(retransmissions),
        json!(rtt_ns),
    ];
    if let Some(SenderSocket { cwnd, ssthresh, srtt }) = socket {
        row.push(json!(cwnd.as_u64()));
        row.push(json!(ssthresh.map(Bytes::as_u64)));
        row.push(json!(srtt.map(Span::as_nanos)));
    }
    Value::Array(row)
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
    let Mark { at, kind, connection, forward, sequence, sent, what } = mark;
    json!({
        "at_ns": at, "kind": kind, "connection": connection, "forward": forward,
        "sequence": sequence, "sent_ns": sent, "what": what,
    })
}

#[cfg(test)]
mod tests;
