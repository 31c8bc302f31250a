//! From frames to connections, in one pass.

mod capture_clock;
mod ended_early;
mod fragments;
mod memory;
mod others;
mod reading;
mod remarks;

#[cfg(test)]
pub(crate) use capture_clock::{SET_AHEAD, SET_BACK};
pub use reading::analyze;

use std::collections::{BTreeMap, VecDeque};

use tcplab_units::{Instant, Span};
use tcplab_wire::protocol::TCP;
use tcplab_wire::{Anomaly, Fragment, FrameView, LinkType, TcpPacket};

use crate::bounds::{ENDS, OVER};
use crate::connection::{ConnectionState, Entry, PacketOutcome, PlainOutcome, Table};
use crate::direction::COPIES_SHARE;
use crate::filter::{Filter, ends_of};
use crate::observers::Event;
use crate::packet::Packet;
use crate::{
    Ack, Connection, Episode, Flow, FlowId, Frame, LimitPeriod, Note, Segment, Sink, Spurious,
    Stall, Trace,
};
use capture_clock::CaptureClock;
use ended_early::EndedEarly;
use fragments::Fragments;
use others::Others;
use remarks::Remarks;

/// The most open connections tracked by default, about 600 bytes each while they are idle.
const OPEN: usize = 1 << 17;

/// The latest time, 36 years after the first frame, so that sums of times fit 64 bits.
const LATEST: Instant = Instant::from_nanos(1 << 60);

/// A closed connection that is still tracked: packets come after FINs and RSTs.
#[derive(Debug)]
struct Lingering {
    /// Its last known packet.
    frame: u64,
    /// Its place in the table.
    at: usize,
    index: usize,
}

/// Reads frames in capture order; stores only data in flight and unfinished recoveries.
#[derive(Debug)]
pub struct Analyzer<S = Collector> {
    sink: S,
    table: Table,
    /// The number of connections.
    connections: usize,
    lingering: VecDeque<Lingering>,
    /// The number of open connections.
    open: usize,
    most_open: usize,
    /// The most bytes for connections, if limited.
    most_memory: Option<usize>,
    early: EndedEarly,
    epoch_nanos: Option<u64>,
    latest_nanos: u64,
    clock: CaptureClock,
    frames: u64,
    /// The number of duplicated frames.
    copies: u64,
    fragments: Fragments,
    filter: Option<Filter>,
    others: Others,
    remarks: Remarks,
}

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
            sink,
            table: Table::default(),
            connections: 0,
            lingering: VecDeque::new(),
            open: 0,
            most_open: OPEN,
            most_memory: None,
            early: EndedEarly::default(),
            epoch_nanos: None,
            latest_nanos: 0,
            clock: CaptureClock::default(),
            frames: 0,
            copies: 0,
            fragments: Fragments::default(),
            filter: None,
            others: Others::default(),
            remarks: Remarks::default(),
        }
    }

    /// Sets the zero of time to `epoch_nanos` after the Unix epoch instead of the first frame, so
    /// that two captures share it. Earlier frames count as at zero.
    #[must_use]
    pub fn with_epoch(mut self, epoch_nanos: u64) -> Analyzer<S> {
        self.epoch_nanos = Some(epoch_nanos);
        self
    }

    /// Limits the open connections tracked: 1 to 524,288; default 131,072.
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

    /// Analyses the next frame.
    pub fn packet(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        if self.frames == 1 {
            self.begin_at(frame.time_ns);
        }
        let epoch = self.epoch_nanos.unwrap_or(frame.time_ns);
        if frame.time_ns < self.latest_nanos {
            self.remarks.add(
                "is out of time order: its timestamp is before the previous frame's",
                self.frames,
            );
        }
        self.latest_nanos = frame.time_ns;
        let (time_ns, set_back) = self.clock.read(frame.time_ns);
        if set_back {
            self.remarks.add(capture_clock::SET_BACK, self.frames);
        }
        let mut at = Instant::from_nanos(time_ns.saturating_sub(epoch));
        if at > LATEST {
            at = LATEST;
            self.remarks
                .add("has a timestamp more than 36 years after the first frame's", self.frames);
        }
        if let Some(tcp) = TcpPacket::of_plain_frame(frame.link, frame.captured, frame.original_len)
        {
            return self.tcp(&tcp, at, frame.comment);
        }
        self.unusual(frame, at);
    }

    #[inline(never)]
    fn unusual(&mut self, frame: &Frame<'_>, at: Instant) {
        let view = FrameView::new(frame.link, frame.captured, frame.original_len);
        let fragment = view.ip().filter(|ip| ip.fragment() != Fragment::default());
        let Some(fragment) = fragment else { return self.view(&view, frame, at) };
        let whole = self.fragments.add(&fragment, (at, self.frames));
        let view = match &whole {
            Some((packet, length)) => FrameView::new(LinkType::RawIp, packet, *length),
            // Part of a packet that is analysed later, or of one that a note counts.
            None if fragment.protocol() == TCP => return,
            None => FrameView::Ip(fragment),
        };
        let since = Span::from_nanos(at.as_nanos());
        if self.filter.as_ref().is_none_or(|filter| filter.admits(ends_of(&view), since)) {
            self.view(&view, frame, at);
        }
    }

    fn view(&mut self, view: &FrameView<'_>, frame: &Frame<'_>, at: Instant) {
        let anomaly = view.anomaly();
        if let Some(anomaly) = anomaly {
            self.remarks.add(&anomaly.to_string(), self.frames);
        }
        // Receivers drop a segment whose header length is impossible (Linux: `tcp_v4_rcv`).
        let is_damaged = matches!(anomaly, Some(Anomaly::TcpDataOffset { .. }));
        let Some(tcp) = view.tcp().filter(|_| !is_damaged) else {
            self.others.add(view);
            if let Some(ip) = view.ip() {
                self.table.on_too_big(&ip, (at, self.frames));
            }
            return;
        };
        if !tcp.options_complete() {
            self.remarks.add("TCP options are truncated: SACK blocks may be missing", self.frames);
        }
        self.tcp(&tcp, at, frame.comment);
    }

    #[inline(always)]
    fn tcp(&mut self, tcp: &TcpPacket<'_>, at: Instant, comment: Option<&str>) {
        let mut packet = Packet::read(tcp, at, self.frames, self.sink.wants_packets());
        packet.copies_usual = (self.copies + 1) * COPIES_SHARE >= self.frames;
        if self.clock.leap().is_some() {
            self.explain_leap(&mut packet);
        }
        self.analyse(&packet, comment);
        if self.lingering.len() > OVER.most() {
            self.close_lingering(OVER.most());
        }
        self.table.fold_idle(self.frames);
        if let Some(most) = self.most_memory {
            self.bound_memory(most);
        }
    }

    /// The time jumped ahead before this packet: finds out whether the clock was set.
    #[cold]
    fn explain_leap(&mut self, packet: &mut Packet) {
        let Some(leap) = self.clock.leap() else { return };
        let state = self.table.find(&packet.ends).and_then(|at| {
            let entry = self.table.at(at);
            entry.begin();
            entry.state.as_ref()
        });
        let set = state.and_then(|state| state.clock_set_ahead(packet)).map(|set| set.min(leap));
        let Some(set) = set else { return self.clock.time_passed() };
        self.clock.was_set_ahead(set);
        self.remarks.add(capture_clock::SET_AHEAD, self.frames);
        packet.at = Instant::from_nanos(packet.at.as_nanos().saturating_sub(set.as_nanos()));
    }

    /// The sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// Counts a frame without analysing it, captured at this time after the Unix epoch.
    pub fn skip(&mut self, time_ns: u64) {
        self.frames += 1;
        if self.frames == 1 {
            self.begin_at(time_ns);
        }
    }

    #[cold]
    fn begin_at(&mut self, time_ns: u64) {
        let epoch = *self.epoch_nanos.get_or_insert(time_ns);
        self.sink.begins(epoch);
    }

    /// Adds a note on the whole capture.
    pub fn note(&mut self, note: Note) {
        self.remarks.whole.push(note);
    }

    /// The trace without its connections, and the sink.
    pub fn finish_into(mut self) -> (Trace, S) {
        let sink = &mut self.sink;
        self.table.finish(self.connections, |index, state| hand_over(sink, index, state));
        self.remarks.whole.extend(self.early.note());
        self.remarks.whole.extend(self.fragments.finish());
        let trace = Trace {
            epoch_nanos: self.epoch_nanos.unwrap_or_default(),
            packets: self.frames,
            others: self.others.into_list(),
            connections: Vec::new(),
            notes: self.remarks.into_notes(),
        };
        (trace, self.sink)
    }

    #[inline]
    fn analyse(&mut self, packet: &Packet, comment: Option<&str>) {
        let known = self.table.find(&packet.ends);
        if let Some(at) = known
            && packet.plain
        {
            let entry = self.table.at(at);
            let index = entry.index;
            if let Some(state) = entry.only()
                && let Some(outcome) = state.packet_in_passing(packet)
            {
                emit_events_of(&mut self.sink, index, state);
                if packet.wanted {
                    self.emit_plain(index, outcome, comment);
                }
                return;
            }
        }
        self.analyse_slow(known, packet, comment);
    }

    /// [`Analyzer::analyse`] for any packet; `known` is the place of its connection.
    #[inline(never)]
    fn analyse_slow(&mut self, known: Option<usize>, packet: &Packet, comment: Option<&str>) {
        let Some(at) = known.or_else(|| self.begin(packet)) else { return };
        let entry = self.table.at(at);
        if entry.puts_off(packet) {
            return;
        }
        entry.begin();
        if packet.syn() {
            self.start_successor(at, packet);
        }
        let entry = self.table.at(at);
        let latest = entry.index;
        let Some((index, state)) = entry.owner(packet) else {
            let text = "came after its connection, and then many others, had closed: counted in \
                        no connection";
            return self.remarks.add(text, packet.frame);
        };
        let outcome = state.packet(packet);
        if state.is_over() && !state.lingers {
            state.lingers = true;
            // What is put aside does not count.
            self.open -= usize::from(index == latest);
            self.lingering.push_back(Lingering { frame: packet.frame, at, index });
        }
        emit_events_of(&mut self.sink, index, state);
        if let Some((index, mut state)) = entry.outlived() {
            hand_over(&mut self.sink, index, &mut state);
        }
        self.emit(index, outcome, packet, comment);
    }

    fn emit(
        &mut self,
        index: usize,
        outcome: PacketOutcome,
        packet: &Packet,
        comment: Option<&str>,
    ) {
        if outcome.out_of_place {
            let text = "sequence number out of range: another connection, forged or damaged; \
                        counted but not analysed";
            self.remarks.add(text, packet.frame);
        }
        if outcome.gave_up {
            let text = "too much unacknowledged data to track: the oldest is dropped";
            self.remarks.add(text, packet.frame);
        }
        self.copies += u64::from(outcome.copy);
        if outcome.is_ordinary() {
            return;
        }
        let own = FlowId { connection: index, forward: outcome.forward };
        let opposite = FlowId { forward: !outcome.forward, ..own };
        let comment = || comment.map(str::to_owned);
        if let Some(segment) = outcome.segment {
            self.sink.segment(own, Segment { comment: comment(), ..*segment });
        }
        if let Some(ack) = outcome.heard.ack {
            self.sink.ack(opposite, Ack { comment: comment(), ..*ack });
        }
        for episode in outcome.heard.episodes {
            self.sink.episode(opposite, episode);
        }
        for (frame, why) in outcome.heard.spurious {
            self.sink.spurious(opposite, frame, why);
        }
    }

    /// [`Analyzer::emit`] for a packet on the fast path.
    fn emit_plain(&mut self, index: usize, outcome: PlainOutcome, comment: Option<&str>) {
        let own = FlowId { connection: index, forward: outcome.forward };
        let opposite = FlowId { forward: !outcome.forward, ..own };
        let comment = || comment.map(str::to_owned);
        if let Some(segment) = outcome.segment {
            self.sink.segment(own, Segment { comment: comment(), ..*segment });
        }
        if let Some(ack) = outcome.ack {
            self.sink.ack(opposite, Ack { comment: comment(), ..*ack });
        }
    }

    /// The first packet between two endpoints; returns the place of the connection to analyse.
    #[inline(never)]
    fn begin(&mut self, packet: &Packet) -> Option<usize> {
        if self.table.is_full() {
            let text = "too many closed connections to remember: later packets of the oldest \
                        count as a new connection";
            self.forget(false, None, (text, packet.frame));
        }
        self.connections += 1;
        let (entry, asks) = Entry::new(packet, self.connections - 1);
        let at = self.table.add(entry);
        self.opened(at, packet.frame);
        (!asks).then_some(at)
    }

    /// A packet opened the connection at `at`: makes room if there are too many.
    fn opened(&mut self, at: usize, frame: u64) {
        self.open += 1;
        if self.open <= self.most_open {
            return;
        }
        let text = "too many open connections to track: an idle one is dropped, and its later \
                    packets count as a new connection";
        self.forget(true, Some(at), (text, frame));
    }

    /// Makes room and adds the note if something was dropped.
    #[cold]
    fn forget(&mut self, open: bool, busy: Option<usize>, (text, frame): (&str, u64)) {
        let Some(forgotten) = self.table.forget(open, busy) else { return };
        self.open -= usize::from(open);
        self.remarks.add(text, frame);
        for (index, mut state) in forgotten.into_iter().flatten() {
            hand_over(&mut self.sink, index, &mut state);
        }
    }

    /// If the packet opens another connection between the same endpoints, starts it at `at`. A
    /// closed predecessor is finished; an open one is kept until the new one is answered.
    #[inline(never)]
    fn start_successor(&mut self, at: usize, packet: &Packet) {
        let entry = self.table.at(at);
        let succeeded = match &entry.state {
            Some(state) => state.is_succeeded_by(packet),
            None => packet.ack.is_none() && entry.is_unknown(packet),
        };
        if !succeeded {
            return;
        }
        let earlier = entry.index;
        let state = Box::new(ConnectionState::new(packet).reusing(Some(earlier)));
        entry.index = self.connections;
        self.connections += 1;
        let reopened = entry.state.as_ref().is_none_or(|state| state.lingers);
        let replaced = entry.state.replace(state).map(|state| (earlier, state));
        let (done, aside) = match replaced {
            Some(replaced) if !replaced.1.is_over() => (None, Some(replaced)),
            done => (done, None),
        };
        let before = entry.put_aside(aside);
        for (index, mut state) in [before, done].into_iter().flatten() {
            hand_over(&mut self.sink, index, &mut state);
        }
        if reopened {
            self.opened(at, packet.frame);
        }
    }

    /// Hands over the closed connections beyond so many, those without a packet for longest
    /// first.
    #[inline(never)]
    fn close_lingering(&mut self, most: usize) {
        while self.lingering.len() > most
            && let Some(Lingering { frame, at, index }) = self.lingering.pop_front()
        {
            let entry = self.table.at(at);
            if entry.index != index {
                continue;
            }
            let Some(mut state) = entry.state.take() else { continue };
            if !state.is_over() {
                state.lingers = false;
                entry.state = Some(state);
                self.open += 1;
            } else if state.last_frame() > frame {
                self.lingering.push_back(Lingering { frame: state.last_frame(), at, index });
                entry.state = Some(state);
            } else {
                entry.over(&state);
                hand_over(&mut self.sink, index, &mut state);
            }
        }
    }
}

fn hand_over<S: Sink>(sink: &mut S, index: usize, state: &mut ConnectionState) {
    let (connection, forward, reverse) = state.finish();
    for (episodes, forward) in [(forward, true), (reverse, false)] {
        let flow = FlowId { connection: index, forward };
        for episode in episodes {
            sink.episode(flow, episode);
        }
        pass_events(sink, flow, state.found(forward));
    }
    sink.connection(index, connection);
}

#[inline]
fn emit_events_of(sink: &mut impl Sink, connection: usize, state: &mut ConnectionState) {
    for forward in [true, false] {
        pass_events(sink, FlowId { connection, forward }, state.found(forward));
    }
}

#[inline]
fn pass_events(sink: &mut impl Sink, flow: FlowId, events: &mut Vec<Event>) {
    if !events.is_empty() {
        drain_events(sink, flow, events);
    }
}

#[inline(never)]
fn drain_events(sink: &mut impl Sink, flow: FlowId, events: &mut Vec<Event>) {
    for event in events.drain(..) {
        match event {
            Event::Stall(stall) => sink.stall(flow, stall),
            Event::Limit(period) => sink.limit(flow, period),
        }
    }
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
                let Flow { segments, acks, episodes, stalls, limits, .. } = packets;
                *flow = Flow { segments, acks, episodes, stalls, limits, ..std::mem::take(flow) };
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
        let segments = &mut self.flow(flow).segments;
        if let Ok(index) = segments.binary_search_by_key(&frame, |segment| segment.frame) {
            segments[index].proof.spurious = Some(why);
        }
    }
    fn connection(&mut self, index: usize, connection: Connection) {
        self.connections.insert(index, connection);
    }
}
