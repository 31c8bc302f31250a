//! A sink that writes down what it gets.

use crate::{Ack, Connection, Episode, FlowId, LimitPeriod, Segment, Sink, Spurious, Stall};

/// Everything, or everything but single packets, as text.
#[derive(Debug)]
pub(super) struct All {
    wants_packets: bool,
    notes_packets: bool,
    /// Each with the connection that it is about.
    lines: Vec<(Option<usize>, String)>,
}

impl All {
    pub(super) fn new(wants_packets: bool) -> All {
        All { wants_packets, notes_packets: true, lines: Vec::new() }
    }
    /// Does not write packets down, whether it wants them or not.
    pub(super) fn but_packets(wants_packets: bool) -> All {
        All { notes_packets: false, ..All::new(wants_packets) }
    }
    pub(super) fn note(&mut self, what: impl std::fmt::Debug) {
        self.lines.push((None, format!("{what:?}\n")));
    }
    fn note_of(&mut self, connection: usize, what: impl std::fmt::Debug) {
        self.lines.push((Some(connection), format!("{connection}: {what:?}\n")));
    }
    /// What it got, in order.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|(_, line)| line.as_str()).collect()
    }
    /// What it got of each connection, in order.
    pub(super) fn by_connection(mut self) -> String {
        self.lines.sort_by_key(|(connection, _)| *connection);
        self.text()
    }
}

impl Sink for All {
    fn begins(&mut self, epoch_nanos: u64) {
        self.note(epoch_nanos);
    }
    fn wants_packets(&self) -> bool {
        self.wants_packets
    }
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        if self.notes_packets {
            self.note_of(flow.connection, (flow.forward, segment));
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        if self.notes_packets {
            self.note_of(flow.connection, (flow.forward, ack));
        }
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.note_of(flow.connection, (flow.forward, episode));
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.note_of(flow.connection, (flow.forward, stall));
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.note_of(flow.connection, (flow.forward, period));
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        self.note_of(flow.connection, (flow.forward, frame, why));
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.note_of(index, connection);
    }
}
