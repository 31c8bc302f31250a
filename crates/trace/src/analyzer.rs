//! From frames to connections, in one pass.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tcplab_units::Instant;
use tcplab_wire::protocol::TCP;
use tcplab_wire::{FrameView, IpPacket, LinkType};

use crate::connection::ConnectionState;
use crate::packet::Packet;
use crate::{Ack, Connection, Episode, Flow, LimitPeriod, Needless, Note, Segment, Stall, Trace};

/// How many frames are named for one kind of remark.
const NAMED: u64 = 10;

/// One captured frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// When it was captured, nanoseconds since the Unix epoch.
    pub time_ns: u64,
    /// How its first bytes are to be read.
    pub link: LinkType,
    /// What was kept of it.
    pub captured: &'a [u8],
    /// How long it was, bytes.
    pub original_len: u32,
    /// The capture's comment on it.
    pub comment: Option<&'a str>,
}

/// A direction of a connection: the connection's place in the order of first packets, and
/// whether the data go from client to server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowId {
    /// The connection, counted from 0.
    pub connection: usize,
    /// From client to server.
    pub forward: bool,
}

/// Takes what the analyser finds out, as soon as it is certain.
///
/// Segments and acknowledgements come in the order of the capture, the episodes of a direction
/// in the order of their time; all before the connection itself, whose flows are empty but for
/// their sums.
pub trait Sink {
    /// A packet with data, SYN or FIN.
    fn segment(&mut self, flow: FlowId, segment: Segment);
    /// The acknowledgement in a packet, for the direction whose data it acknowledges.
    fn ack(&mut self, flow: FlowId, ack: Ack);
    /// A recovery episode that is over, or that the capture's end cut off.
    fn episode(&mut self, flow: FlowId, episode: Episode);
    /// A time in which the direction stood still, when it is over.
    fn stall(&mut self, flow: FlowId, stall: Stall);
    /// What bounded the direction's rate for a while; the periods of a direction come in order.
    fn limit(&mut self, flow: FlowId, period: LimitPeriod);
    /// A retransmission that came before, in this frame, turns out to have been needless.
    fn needless(&mut self, flow: FlowId, frame: u64, why: Needless);
    /// A connection, when all its packets are read.
    fn connection(&mut self, index: usize, connection: Connection);
}

/// Reads frames in the order of the capture; keeps of each connection only what is in flight and
/// what an unfinished recovery needs.
#[derive(Debug, Default)]
pub struct Analyzer<S = Collector> {
    sink: S,
    connections: Vec<ConnectionState>,
    /// The latest connection between two ends, the lower address first.
    latest: BTreeMap<(SocketAddr, SocketAddr), usize>,
    epoch_nanos: Option<u64>,
    latest_nanos: u64,
    frames: u64,
    remarks: Remarks,
}

impl Analyzer {
    /// An analyser that keeps everything for one [`Trace`].
    pub fn new() -> Analyzer {
        Analyzer::default()
    }

    /// Everything, when no more frames come.
    pub fn finish(self) -> Trace {
        let (trace, collector) = self.finish_into();
        Trace { connections: collector.into_connections(), ..trace }
    }
}

impl<S: Sink> Analyzer<S> {
    /// An analyser that hands everything over to `sink`.
    pub fn with_sink(sink: S) -> Analyzer<S> {
        Analyzer {
            sink,
            connections: Vec::new(),
            latest: BTreeMap::new(),
            epoch_nanos: None,
            latest_nanos: 0,
            frames: 0,
            remarks: Remarks::default(),
        }
    }

    /// Counts time from `epoch_nanos` after the Unix epoch, not from the first frame: so that the
    /// two captures of a trial share a zero. A frame from before counts as at zero.
    #[must_use]
    pub fn counting_from(mut self, epoch_nanos: u64) -> Analyzer<S> {
        self.epoch_nanos = Some(epoch_nanos);
        self
    }

    /// The next frame of the capture.
    pub fn packet(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        let epoch = *self.epoch_nanos.get_or_insert(frame.time_ns);
        if frame.time_ns < self.latest_nanos {
            self.remarks.add("was captured before the frame that precedes it", self.frames);
        }
        self.latest_nanos = frame.time_ns;
        let at = Instant::from_nanos(frame.time_ns.saturating_sub(epoch));
        let view = FrameView::new(frame.link, frame.captured, frame.original_len);
        if let Some(anomaly) = view.anomaly() {
            self.remarks.add(&anomaly.to_string(), self.frames);
        }
        let Some(tcp) = view.tcp() else {
            let is_later = |ip: IpPacket<'_>| ip.protocol() == TCP && ip.fragment().offset > 0;
            if view.ip().is_some_and(is_later) {
                let text = "a later part of a fragmented segment: only first parts are read";
                self.remarks.add(text, self.frames);
            }
            return;
        };
        if !tcp.options_complete() {
            self.remarks.add("TCP options are cut off: SACK blocks may be missing", self.frames);
        }
        self.tcp(&Packet::read(&tcp, at, self.frames, frame.comment));
    }

    /// A frame that is counted and not looked at, captured so many nanoseconds after the Unix
    /// epoch.
    pub fn pass_over(&mut self, time_ns: u64) {
        self.frames += 1;
        self.epoch_nanos.get_or_insert(time_ns);
    }

    /// A remark on the capture as a whole.
    pub fn note(&mut self, note: Note) {
        self.remarks.whole.push(note);
    }

    /// The trace without its connections, and the sink, when no more frames come.
    pub fn finish_into(mut self) -> (Trace, S) {
        for (index, state) in self.connections.into_iter().enumerate() {
            let (connection, forward, reverse) = state.finish();
            for (episodes, forward) in [(forward, true), (reverse, false)] {
                for episode in episodes {
                    self.sink.episode(FlowId { connection: index, forward }, episode);
                }
            }
            self.sink.connection(index, connection);
        }
        let trace = Trace {
            epoch_nanos: self.epoch_nanos.unwrap_or_default(),
            packets: self.frames,
            connections: Vec::new(),
            notes: self.remarks.into_notes(),
        };
        (trace, self.sink)
    }

    fn tcp(&mut self, packet: &Packet) {
        let index = self.connection_of(packet);
        let said = self.connections[index].packet(packet);
        if said.out_of_place {
            let text = "the sequence number is far outside the connection's window";
            self.remarks.add(text, packet.frame);
        }
        let own = FlowId { connection: index, forward: said.forward };
        let opposite = FlowId { forward: !said.forward, ..own };
        if let Some(segment) = said.segment {
            self.sink.segment(own, segment);
        }
        if let Some(ack) = said.heard.ack {
            self.sink.ack(opposite, ack);
        }
        for episode in said.heard.episodes {
            self.sink.episode(opposite, episode);
        }
    }

    fn connection_of(&mut self, packet: &Packet) -> usize {
        let ends = (packet.src.min(packet.dst), packet.src.max(packet.dst));
        match self.latest.get(&ends) {
            Some(&index) if !self.connections[index].is_succeeded_by(packet) => index,
            _ => {
                self.connections.push(ConnectionState::new(packet));
                self.latest.insert(ends, self.connections.len() - 1);
                self.connections.len() - 1
            }
        }
    }
}

/// Keeps everything.
#[derive(Debug, Default)]
pub struct Collector {
    flows: Vec<[Flow; 2]>,
    connections: Vec<Connection>,
}

impl Collector {
    fn flow(&mut self, id: FlowId) -> &mut Flow {
        if self.flows.len() <= id.connection {
            self.flows.resize_with(id.connection + 1, Default::default);
        }
        &mut self.flows[id.connection][usize::from(!id.forward)]
    }

    /// The connections with all their packets.
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
        self.connections.into_iter().zip(self.flows).map(fill).collect()
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
    fn needless(&mut self, flow: FlowId, frame: u64, why: Needless) {
        let segments = &mut self.flow(flow).segments;
        if let Ok(index) = segments.binary_search_by_key(&frame, |segment| segment.frame) {
            segments[index].proof.needless = Some(why);
        }
    }
    fn connection(&mut self, _index: usize, connection: Connection) {
        self.connections.push(connection);
    }
}

/// Remarks on the capture; of each kind the first few frames and how many there are.
#[derive(Debug, Default)]
struct Remarks {
    whole: Vec<Note>,
    kinds: BTreeMap<String, (Vec<u64>, u64)>,
}

impl Remarks {
    fn add(&mut self, text: &str, frame: u64) {
        if !self.kinds.contains_key(text) && self.kinds.len() as u64 >= NAMED * NAMED {
            return;
        }
        let (frames, count) = self.kinds.entry(text.to_owned()).or_default();
        *count += 1;
        if frames.len() as u64 == NAMED {
            return;
        }
        frames.push(frame);
    }

    fn into_notes(self) -> Vec<Note> {
        let mut notes = self.whole;
        for (text, (frames, count)) in self.kinds {
            let more = count - frames.len() as u64;
            notes.extend(
                frames.iter().map(|&frame| Note { frame: Some(frame), text: text.clone() }),
            );
            if more > 0 {
                notes.push(Note { frame: None, text: format!("{text}: {more} more frames") });
            }
        }
        notes
    }
}
