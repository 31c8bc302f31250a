//! Everything about a few connections.

use std::collections::BTreeMap;
use tcplab_trace::{
    Ack, BareReset, Connection, Episode, FlowId, LimitPeriod, Segment, Sink, Spurious, Stall,
    UnusualPacket,
};

/// Keeps chosen connections with their packets.
#[derive(Debug, Default)]
pub struct Chosen {
    kept: BTreeMap<usize, KeptConnection>,
    /// Whether all connections are kept.
    all: bool,
    seen: usize,
}

#[derive(Debug, Default)]
struct KeptConnection {
    flows: [Kept; 2],
    connection: Option<Box<Connection>>,
}

/// What is found in a direction while the connection goes on. A flow takes kilobytes.
#[derive(Debug, Default)]
struct Kept {
    segments: Vec<Segment>,
    acks: Vec<Ack>,
    resets: Vec<BareReset>,
    unusual: Vec<UnusualPacket>,
    episodes: Vec<Episode>,
    stalls: Vec<Stall>,
    limits: Vec<LimitPeriod>,
}

impl KeptConnection {
    fn whole(self) -> Option<Connection> {
        let mut connection = *self.connection?;
        let Connection { forward, reverse, .. } = &mut connection;
        for (flow, found) in [forward, reverse].into_iter().zip(self.flows) {
            let Kept { segments, acks, resets, unusual, episodes, stalls, limits } = found;
            flow.segments = segments;
            flow.acks = acks;
            flow.resets = resets;
            flow.unusual = unusual;
            flow.episodes = episodes;
            flow.stalls = stalls;
            flow.limits = limits;
        }
        Some(connection)
    }
}

impl Chosen {
    /// Keeps the connections at these places in the order of first packets.
    pub fn new(places: impl IntoIterator<Item = usize>) -> Chosen {
        let kept = places.into_iter().map(|at| (at, KeptConnection::default())).collect();
        Chosen { kept, ..Chosen::default() }
    }
    /// Keeps all connections.
    pub fn all() -> Chosen {
        Chosen { all: true, ..Chosen::default() }
    }
    /// The number of all connections.
    pub fn seen(&self) -> usize {
        self.seen
    }
    /// The connections with their numbers.
    pub fn into_connections(self) -> Vec<(usize, Connection)> {
        let whole = |(place, kept): (usize, KeptConnection)| Some((place, kept.whole()?));
        self.kept.into_iter().filter_map(whole).collect()
    }
    /// Hands over a connection that has ended.
    pub fn take(&mut self, place: usize) -> Option<Connection> {
        self.kept.remove(&place)?.whole()
    }

    fn kept(&mut self, place: usize) -> Option<&mut KeptConnection> {
        if self.all {
            return Some(self.kept.entry(place).or_default());
        }
        self.kept.get_mut(&place)
    }

    fn in_flow(&mut self, id: FlowId, change: impl FnOnce(&mut Kept)) {
        if let Some(kept) = self.kept(id.connection) {
            change(&mut kept.flows[usize::from(!id.forward)]);
        }
    }
}

impl Sink for Chosen {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.in_flow(flow, |flow| {
            if flow.segments.is_empty() {
                // Most connections of a flood have no more than one.
                flow.segments.reserve_exact(1);
            }
            flow.segments.push(segment);
        });
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.in_flow(flow, |flow| flow.acks.push(ack));
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        for (flow, reset) in reset.in_both(flow) {
            self.in_flow(flow, |flow| flow.resets.push(reset));
        }
    }
    fn unusual(&mut self, flow: FlowId, packet: UnusualPacket) {
        self.in_flow(flow, |flow| flow.unusual.push(packet));
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.in_flow(flow, |flow| flow.episodes.push(episode));
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.in_flow(flow, |flow| flow.stalls.push(stall));
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.in_flow(flow, |flow| flow.limits.push(period));
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        self.in_flow(flow, |flow| {
            if let Some(place) = Segment::place_among(&flow.segments, frame) {
                flow.segments[place].proof.spurious = Some(why);
            }
        });
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.seen += 1;
        if let Some(kept) = self.kept(index) {
            kept.connection = Some(Box::new(connection.clone()));
        }
    }
}

/// Hands over each of the chosen connections when it ends: those that are open are in memory.
#[derive(Debug)]
pub struct Ended<F> {
    chosen: Chosen,
    take: F,
}

impl<F: FnMut(usize, Connection)> Ended<F> {
    /// Calls `take` with the number of each connection and the connection with its packets.
    pub fn new(chosen: Chosen, take: F) -> Ended<F> {
        Ended { chosen, take }
    }
    /// The number of all connections.
    pub fn seen(&self) -> usize {
        self.chosen.seen()
    }
}

impl<F: FnMut(usize, Connection)> Sink for Ended<F> {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.chosen.segment(flow, segment);
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.chosen.ack(flow, ack);
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        self.chosen.reset(flow, reset);
    }
    fn unusual(&mut self, flow: FlowId, packet: UnusualPacket) {
        self.chosen.unusual(flow, packet);
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.chosen.episode(flow, episode);
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.chosen.stall(flow, stall);
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.chosen.limit(flow, period);
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        self.chosen.spurious(flow, frame, why);
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.chosen.connection(index, connection);
        if let Some(whole) = self.chosen.take(index) {
            (self.take)(index, whole);
        }
    }
}
