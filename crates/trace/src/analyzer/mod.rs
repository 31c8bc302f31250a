//! From frames to connections, in one pass.

mod capture_clock;
mod duplicates;
mod ended_early;
mod found;
mod frame_log;
mod memory;
mod others;
mod output;
mod part;
mod parts;
mod reading;
mod remarks;
mod replay;
mod time_order;
mod time_unit;
mod workers;

pub(crate) use capture_clock::CaptureClock;
#[cfg(test)]
pub(crate) use capture_clock::{DECADES_AHEAD, SET_AHEAD, SET_BACK};
pub use frame_log::{FrameLog, LOG_LAG};
pub use reading::analyze;
pub use replay::{KnownConnection, ReplayError, replay};

use std::collections::BTreeMap;

use tcplab_units::rounded::counted;
use tcplab_units::{Bytes, Instant, Span};
use tcplab_wire::protocol::TCP;
use tcplab_wire::{
    Anomaly, Fragment, FrameView, IpPacket, LinkType, TcpPacket, is_damaged_too_big,
};

use crate::bounds::ENDS;
use crate::connection::TooBig;
use crate::filter::{Filter, ends_of};
use crate::fragments::Fragments;
use crate::packet::Packet;
use crate::time_order::TimeOrder;
use crate::{
    Ack, BareReset, Connection, Episode, Flow, FlowId, Frame, LimitPeriod, Note, Segment, Sink,
    Spurious, Stall, Trace, UnusualPacket,
};
use duplicates::Duplicates;
use others::{Kind, Others};
use output::Output;
use part::{OPEN, Shares};
use parts::{Parts, ROUND};
use time_unit::{COARSE, TimeUnit};

/// The latest time, 36 years after the first frame, so that sums of times fit 64 bits.
const LATEST: Instant = Instant::from_nanos(1 << 60);

/// The note on frames whose IP header claims more than they have, one for all sizes; `--hex` shows
/// the numbers.
const BEYOND_FRAME: &str = "the IP packet claims more bytes than the frame has";
/// No host believes it, though a sender may react to one whose checksum the capture lacks.
const DAMAGED_ICMP: &str = "ICMP \"packet too big\" with a wrong checksum: ignored";

const COARSE_NOTE: &str = "the capture counts time in milliseconds or more: what prompted a \
                           packet, and so what limits a sender, shows less surely";
/// From here on a step of time is longer than round trips and pauses, nanoseconds.
const COARSEST: u64 = 100_000_000;
const COARSEST_NOTE: &str = "the capture counts time in steps of 0.1 s or more: round trips, stalls \
                             and limits are those of its clock, not of the connection";
/// Notes on frames out of order: on those that are put in order, and on others.
const PUT_IN_ORDER: &str = "came into the capture behind a frame with a later time: analysed in \
                            order of time";
const OUT_OF_ORDER: &str = "is out of time order: its timestamp is before the previous frame's \
                            (reordercap puts frames in order)";
const SAME_TIME: &str = "all frames have the same time, or none: durations, round trips and rates \
                         are unknown";

/// Reads frames in capture order; stores only data in flight and unfinished recoveries.
#[derive(Debug)]
pub struct Analyzer<S: ?Sized = Collector> {
    /// None before the first frame.
    parts: Option<Parts>,
    most_open: usize,
    jobs: usize,
    /// The limit, if any.
    memory: Option<Bytes>,
    epoch_nanos: Option<u64>,
    latest_nanos: u64,
    clock: CaptureClock,
    /// The packets that may have to wait, and their comments.
    order: TimeOrder<Packet>,
    comments: BTreeMap<u64, String>,
    frames: u64,
    /// The next round ends behind this frame.
    round: u64,
    duplicates: Duplicates,
    fragments: Fragments<Option<Kind>>,
    filter: Option<Filter>,
    checks: bool,
    /// Times are of a millisecond or more.
    coarse: bool,
    time_unit: TimeUnit,
    /// Frames without a time.
    untimed: u64,
    others: Others,
    output: Output<S>,
}

/// An analyser with any sink, as for [`AnyOutput`](output::AnyOutput).
type AnyAnalyzer<'a> = Analyzer<dyn Sink + 'a>;

impl<S: Sink + Default> Default for Analyzer<S> {
    fn default() -> Analyzer<S> {
        Analyzer::with_sink(S::default())
    }
}

impl Analyzer {
    /// An analyser that stores everything in one [`Trace`].
    pub fn new() -> Analyzer {
        Analyzer::default()
    }

    /// The whole trace.
    pub fn finish(self) -> Trace {
        let (trace, collector) = self.finish_into();
        Trace { connections: collector.into_connections(), ..trace }
    }
}

impl<S: Sink> Analyzer<S> {
    /// An analyser that passes everything to `sink`.
    pub fn with_sink(sink: S) -> Analyzer<S> {
        Analyzer {
            parts: None,
            most_open: OPEN,
            jobs: 1,
            memory: None,
            epoch_nanos: None,
            latest_nanos: 0,
            clock: CaptureClock::default(),
            order: TimeOrder::default(),
            comments: BTreeMap::new(),
            frames: 0,
            round: ROUND,
            duplicates: Duplicates::default(),
            fragments: Fragments::default(),
            filter: None,
            checks: false,
            coarse: false,
            time_unit: TimeUnit::default(),
            untimed: 0,
            others: Others::default(),
            output: Output::new(sink),
        }
    }

    /// Sets the zero of time to `epoch_nanos` after the Unix epoch instead of the first frame, so
    /// that two captures share it. Earlier frames count as at zero.
    #[must_use]
    pub fn with_epoch(mut self, epoch_nanos: u64) -> Analyzer<S> {
        self.epoch_nanos = Some(epoch_nanos);
        self
    }

    /// Analyses connections in so many threads beside this one, which reads and has the sink; by
    /// default, and with [`with_memory`](Self::with_memory), in this one alone. The results are the
    /// same, but they come later.
    #[must_use]
    pub fn with_jobs(mut self, jobs: usize) -> Analyzer<S> {
        self.jobs = jobs;
        self
    }

    /// Limits the open connections tracked: 1 to 524,288; default 131,072. They are kept in parts
    /// by a hash of their ends, 32 of them by default, and each may have its share, and an eighth
    /// more.
    #[must_use]
    pub fn with_max_open_connections(mut self, connections: usize) -> Analyzer<S> {
        self.most_open = connections.clamp(1, ENDS.most() / 2);
        self
    }

    /// Analyses packets put together from fragments only if the filter admits them. Single frames
    /// are not judged here: see [`Filter::admits_frame`] and [`skip`](Self::skip).
    #[must_use]
    pub fn with_filter(mut self, filter: Option<Filter>) -> Analyzer<S> {
        self.filter = filter;
        self
    }

    /// Leaves out packets with a wrong checksum, if `checks`: they were damaged on the way, and who
    /// received them dropped them. They count as [`Trace::others`]. By default no checksum is
    /// looked at, except of SYN, FIN and RST: many captures are taken before network cards fill in
    /// theirs.
    #[must_use]
    pub fn with_checksums(mut self, checks: bool) -> Analyzer<S> {
        self.checks = checks;
        self
    }

    /// Times are exact, as of a trial in virtual time, whatever they are multiples of.
    #[must_use]
    pub fn with_exact_times(mut self) -> Analyzer<S> {
        self.time_unit.settled = true;
        self
    }

    /// Frames are analysed as they come, which tells at once what each comes to. By default those
    /// that are a little out of time order, as of a capture on several queues, get their place.
    #[must_use]
    pub fn as_they_come(mut self) -> Analyzer<S> {
        self.order = TimeOrder::off();
        self
    }

    /// Tells `log` which frames make up each connection, if the capture is
    /// [read](Self::read) from a file where one can jump.
    #[must_use]
    pub fn with_frame_log(mut self, log: Box<dyn FrameLog>) -> Analyzer<S> {
        self.output.log = Some(log);
        self
    }

    /// Analyses the next frame.
    pub fn packet(&mut self, frame: &Frame<'_>) {
        let any: &mut AnyAnalyzer<'_> = self;
        any.frame(frame);
    }

    /// The sink.
    pub fn sink(&self) -> &S {
        &self.output.sink
    }

    /// Counts a frame without analysing it, captured at this time after the Unix epoch.
    pub fn skip(&mut self, time_ns: u64) {
        let any: &mut AnyAnalyzer<'_> = self;
        any.next_frame(time_ns);
    }

    /// The capture counts time in units of so many nanoseconds. From a millisecond on, a note says
    /// that it shows little of what prompted what.
    pub fn counts_time_in(&mut self, nanos: u64) {
        let any: &mut AnyAnalyzer<'_> = self;
        any.tell_coarse(nanos);
    }

    /// The next frame has no time in the capture; that given is of the frame before.
    pub fn lacks_time(&mut self) {
        self.untimed += 1;
    }

    /// Adds a note on the whole capture.
    pub fn note(&mut self, note: Note) {
        self.output.remarks.whole.push(note);
    }

    /// The trace without its connections, and the sink.
    pub fn finish_into(mut self) -> (Trace, S) {
        let any: &mut AnyAnalyzer<'_> = &mut self;
        let trace = any.end();
        (trace, self.output.sink)
    }
}

impl AnyAnalyzer<'_> {
    fn tell_coarse(&mut self, nanos: u64) {
        if nanos >= COARSE && !self.coarse {
            self.coarse = true;
            let note = if nanos >= COARSEST { COARSEST_NOTE } else { COARSE_NOTE };
            self.output.note(note.to_owned());
        }
    }

    #[cold]
    fn look_at_time(&mut self, time_ns: u64) {
        let coarse = self.time_unit.see(time_ns).filter(|_| !self.coarse);
        if let Some(unit) = coarse {
            self.tell_coarse(unit);
            // Later packets are analysed otherwise.
            self.output.give_up_log();
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.next_frame(frame.time_ns);
        let epoch = self.epoch_nanos.unwrap_or(frame.time_ns);
        let is_late = frame.time_ns < self.latest_nanos;
        self.latest_nanos = frame.time_ns;
        let (time_ns, set) = self.clock.read(frame.time_ns);
        let is_behind = self.order.passes(time_ns);
        if let Some(note) = set {
            self.let_all_go();
            self.output.remarks.add(note, self.frames);
            self.output.give_up_log();
        }
        let is_placed = is_behind && set.is_none() && self.is_put_in_order();
        if is_late {
            let note = if is_placed { PUT_IN_ORDER } else { OUT_OF_ORDER };
            self.output.remarks.add(note, self.frames);
        }
        let mut at = Instant::from_nanos(time_ns.saturating_sub(epoch));
        if at > LATEST {
            at = LATEST;
            self.output
                .remarks
                .add("has a timestamp more than 36 years after the first frame's", self.frames);
        }
        if let Some(tcp) = TcpPacket::of_plain_frame(frame.link, frame.captured, frame.original_len)
        {
            if self.checks && tcp.is_damaged() == Some(true) {
                return self.others.add_damaged();
            }
            return self.tcp(&tcp, at, frame);
        }
        self.unusual(frame, at);
    }

    #[inline(never)]
    fn unusual(&mut self, frame: &Frame<'_>, at: Instant) {
        let view = FrameView::new(frame.link, frame.captured, frame.original_len);
        let fragment = view.ip().filter(|ip| ip.fragment() != Fragment::default());
        let Some(fragment) = fragment else { return self.view(&view, frame, at) };
        if let Some(log) = &mut self.output.log {
            log.is_fragment();
        }
        let since = Span::from_nanos(at.as_nanos());
        let filter = self.filter.as_ref();
        let admits = |view: &_| filter.is_none_or(|filter| filter.admits(ends_of(view), since));
        let alone = FrameView::Ip(fragment);
        // That of TCP is part of a packet that is analysed later, or of one that a note counts.
        let counts = fragment.protocol() != TCP && admits(&alone);
        let kind = counts.then(|| Others::kind(&alone));
        let Some(whole) = self.fragments.add(&fragment, (at, self.frames), kind) else {
            if counts {
                self.view(&alone, frame, at);
            }
            return;
        };
        let view = FrameView::new(LinkType::RawIp, &whole.bytes, whole.length);
        if admits(&view) {
            if view.tcp().is_some() {
                // It came in a tunnel, whose packet was cut.
                whole.frames.into_iter().flatten().for_each(|kind| self.others.take_back(kind));
            }
            self.view(&view, frame, at);
        }
    }

    fn view(&mut self, view: &FrameView<'_>, frame: &Frame<'_>, at: Instant) {
        let anomaly = view.anomaly();
        if let Some(anomaly) = anomaly {
            match anomaly {
                // One note for all: such frames differ in their sizes.
                Anomaly::IpBeyondFrame { .. } => {
                    self.output.remarks.add(BEYOND_FRAME, self.frames);
                }
                other => self.output.remarks.add(&other.to_string(), self.frames),
            }
        }
        let Some(tcp) = view.tcp().filter(|_| !is_damaged(view)) else {
            self.others.add(view);
            if let Some(ip) = view.ip() {
                if is_damaged_too_big(&ip) {
                    self.output.remarks.add(DAMAGED_ICMP, self.frames);
                }
                self.too_big(&ip, at);
            }
            return;
        };
        if !tcp.options_complete() {
            self.output
                .remarks
                .add("TCP options are truncated: SACK blocks may be missing", self.frames);
        }
        self.tcp(&tcp, at, frame);
    }

    #[inline(always)]
    fn tcp(&mut self, tcp: &TcpPacket<'_>, at: Instant, frame: &Frame<'_>) {
        let mut packet = Packet::read(tcp, at, self.frames, self.output.wants_packets);
        packet.coarse = self.coarse;
        if self.clock.step().is_some() {
            self.let_all_go();
            self.explain_step(&mut packet);
        }
        packet.radio_retry = frame.link.is_radio_retry(frame.captured);
        self.in_order(&mut packet, frame.comment);
    }

    /// The time jumped ahead or back before this packet: finds out whether the clock was set, and
    /// how much time passed.
    #[cold]
    fn explain_step(&mut self, packet: &mut Packet) {
        let (Some(step), Some(parts)) = (self.clock.step(), self.parts.as_mut()) else { return };
        let correction = self.clock.correct(parts.clock_error(packet, step, &mut self.output));
        if correction < 0 {
            self.output.remarks.add(capture_clock::SET_AHEAD, self.frames);
            self.output.give_up_log();
        }
        self.order.correct(correction);
        let corrected = packet.at.as_nanos().saturating_add_signed(correction);
        packet.at = Instant::from_nanos(corrected).min(LATEST);
    }

    #[inline]
    fn next_frame(&mut self, time_ns: u64) {
        match &self.parts {
            Some(_) if self.frames.is_multiple_of(ROUND) => self.round_passed(),
            Some(_) => {}
            None => self.begin_at(time_ns),
        }
        self.frames += 1;
        if !self.time_unit.settled {
            self.look_at_time(time_ns);
        }
    }

    #[cold]
    fn begin_at(&mut self, time_ns: u64) {
        let epoch = *self.epoch_nanos.get_or_insert(time_ns);
        self.output.sink.begins(epoch);
        let (in_one, jobs) = (self.memory.is_some(), self.jobs);
        let shares = Shares::new(self.most_open, in_one).telling(self.output.log.is_some());
        self.parts = Some(Parts::new(shares, jobs, self.memory));
    }

    fn too_big(&mut self, ip: &IpPacket<'_>, at: Instant) {
        let report = TooBig::of(ip, (at, self.frames));
        if report.is_some() {
            self.let_earlier_go();
        }
        if let Some((report, parts)) = report.zip(self.parts.as_mut()) {
            parts.on_too_big(&report, &mut self.output);
        }
    }

    /// Hands over what is open; the trace without its connections.
    fn end(&mut self) -> Trace {
        self.let_all_go();
        if let Some(parts) = self.parts.take() {
            parts.finish(&mut self.output);
        }
        self.output.remarks.whole.extend(std::mem::take(&mut self.fragments).finish());
        if self.time_unit.stands_still() {
            self.output.note(SAME_TIME.to_owned());
        } else if self.untimed > 0 {
            let frames = counted(self.untimed as usize, "frame has", "frames have");
            self.output.note(format!(
                "{frames} no time in the capture and that of the frame before here: durations, \
                 round trips and rates may be wrong"
            ));
        }
        let trace = Trace {
            epoch_nanos: self.epoch_nanos.unwrap_or_default(),
            packets: self.frames,
            others: std::mem::take(&mut self.others).into_list(),
            connections: Vec::new(),
            notes: std::mem::take(&mut self.output.remarks).into_notes(),
        };
        if let Some(log) = self.output.log.take() {
            log.finish(&trace, self.output.connections());
        }
        trace
    }
}

/// Receivers drop a segment whose header length is impossible (Linux: `tcp_v4_rcv`).
fn is_damaged(view: &FrameView<'_>) -> bool {
    matches!(view.anomaly(), Some(Anomaly::TcpDataOffset { .. }))
}

/// Keeps everything.
#[derive(Debug, Default)]
pub struct Collector {
    flows: Vec<[Flow; 2]>,
    connections: BTreeMap<usize, Connection>,
}

impl Collector {
    fn flow(&mut self, id: FlowId) -> &mut Flow {
        if self.flows.len() <= id.connection {
            self.flows.resize_with(id.connection + 1, Default::default);
        }
        &mut self.flows[id.connection][usize::from(!id.forward)]
    }

    fn into_connections(mut self) -> Vec<Connection> {
        self.flows.resize_with(self.connections.len(), Default::default);
        let fill = |(mut connection, [forward, reverse]): (Connection, [Flow; 2])| {
            for (flow, packets) in
                [(&mut connection.forward, forward), (&mut connection.reverse, reverse)]
            {
                let Flow { segments, acks, resets, unusual, .. } = packets;
                let Flow { episodes, stalls, limits, .. } = packets;
                let sums = std::mem::take(flow);
                *flow = Flow { segments, acks, resets, unusual, ..sums };
                (flow.episodes, flow.stalls, flow.limits) = (episodes, stalls, limits);
            }
            connection
        };
        self.connections.into_values().zip(self.flows).map(fill).collect()
    }
}

impl Sink for Collector {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.flow(flow).segments.push(segment);
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.flow(flow).acks.push(ack);
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        for (flow, reset) in reset.in_both(flow) {
            self.flow(flow).resets.push(reset);
        }
    }
    fn unusual(&mut self, flow: FlowId, packet: UnusualPacket) {
        self.flow(flow).unusual.push(packet);
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.flow(flow).episodes.push(episode);
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.flow(flow).stalls.push(stall);
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.flow(flow).limits.push(period);
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        if let Some(segment) = self.flow(flow).segment_in_mut(frame) {
            segment.proof.spurious = Some(why);
        }
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.connections.insert(index, connection.clone());
    }
}
