//! Results of all parts as one: connections are numbered in order of their first packets.

use std::collections::BTreeMap;

use super::found::Found;
use super::frame_log::FrameLog;
use super::remarks::Remarks;
use crate::{Ack, BareReset, Connection, FlowId, Note, Segment, Sink};

/// Passes results to the sink. They come in order of frames.
#[derive(Debug)]
pub(super) struct Output<S: ?Sized> {
    pub(super) remarks: Remarks,
    /// The number of connections.
    connections: usize,
    /// By part, the index of the connection with each number.
    indices: Vec<Vec<u32>>,
    /// Of unfinished connections, which earlier one had the same ends.
    reuses: BTreeMap<u32, usize>,
    pub(super) log: Option<Box<dyn FrameLog>>,
    /// What the log knows of it.
    pub(super) copies_usual: bool,
    /// Whether the sink uses packets.
    pub(super) wants_packets: bool,
    pub(super) sink: S,
}

/// An output to any sink: what handles packets exists once, for all sinks.
pub(super) type AnyOutput<'a> = Output<dyn Sink + 'a>;

impl<S: Sink> Output<S> {
    pub(super) fn new(sink: S) -> Output<S> {
        Output {
            remarks: Remarks::default(),
            connections: 0,
            indices: Vec::new(),
            reuses: BTreeMap::new(),
            log: None,
            copies_usual: false,
            wants_packets: sink.wants_packets(),
            sink,
        }
    }
}

impl AnyOutput<'_> {
    /// Adds a note on the whole capture.
    pub(super) fn note(&mut self, text: String) {
        self.remarks.whole.push(Note { frame: None, text });
    }

    /// The first connection that begins has this index.
    pub(super) fn begin_at(&mut self, index: usize, reuses: Option<usize>) {
        self.connections = index;
        self.reuses.extend(reuses.map(|earlier| (index as u32, earlier)));
    }

    #[cold]
    pub(super) fn log_copies(&mut self, frame: u64, usual: bool) {
        self.copies_usual = usual;
        if let Some(log) = &mut self.log {
            log.copies_are_usual(frame, usual);
        }
    }

    pub(super) fn give_up_log(&mut self) {
        if let Some(log) = &mut self.log {
            log.gives_up();
        }
    }

    /// The index of a connection in order of first packets.
    pub(super) fn index(&self, part: usize, number: u32) -> usize {
        self.indices[part][number as usize] as usize
    }
    /// The number of connections so far.
    pub(super) fn connections(&self) -> usize {
        self.connections
    }

    /// Takes what was found in this frame, which has a comment. Returns the sums of a connection,
    /// which the thread that made them drops soonest.
    #[inline(never)]
    pub(super) fn take(
        &mut self,
        part: usize,
        found: Found,
        at: (u64, Option<&str>),
    ) -> Option<Box<Connection>> {
        let (frame, comment) = at;
        let comment = || comment.map(str::to_owned);
        match found {
            Found::Begun { number, reuses } => self.begin(part, number, reuses),
            Found::Segment(flow, segment) => {
                let flow = self.flow(part, flow);
                self.sink.segment(flow, Segment { comment: comment(), ..*segment });
            }
            Found::Ack(flow, ack) => {
                let flow = self.flow(part, flow);
                self.sink.ack(flow, Ack { comment: comment(), ..*ack });
            }
            Found::Reset(flow, reset) => {
                let flow = self.flow(part, flow);
                self.sink.reset(flow, BareReset { comment: comment(), ..*reset });
            }
            Found::Unusual(flow, packet) => self.sink.unusual(self.flow(part, flow), *packet),
            Found::Episode(flow, episode) => self.sink.episode(self.flow(part, flow), *episode),
            Found::Stall(flow, stall) => self.sink.stall(self.flow(part, flow), stall),
            Found::Limit(flow, period) => self.sink.limit(self.flow(part, flow), period),
            Found::Spurious(flow, frame, why) => {
                self.sink.spurious(self.flow(part, flow), frame, why);
            }
            Found::States(number, states) => self.sink.states(self.index(part, number), states),
            Found::Connection(number, mut connection) => {
                let index = self.index(part, number);
                connection.reuses = self.reuses.remove(&(index as u32));
                self.sink.connection(index, &connection);
                return Some(connection);
            }
            Found::Remark(text, frame) => self.remarks.add_known(text, frame),
            Found::Owner(number) => {
                let index = self.index(part, number);
                if let Some(log) = &mut self.log {
                    log.owns(index, frame);
                }
            }
            Found::PutAside(number) => {
                let index = self.index(part, number);
                if let Some(log) = &mut self.log {
                    log.leaves_out(index);
                }
            }
        }
        None
    }

    fn begin(&mut self, part: usize, number: u32, reuses: Option<u32>) {
        let index = u32::try_from(self.connections).expect("fewer than 4 billion connections");
        self.connections += 1;
        if let Some(earlier) = reuses {
            let earlier = self.index(part, earlier);
            self.reuses.insert(index, earlier);
            if let Some(log) = &mut self.log {
                log.reuses(index as usize, earlier);
            }
        }
        if self.indices.len() <= part {
            self.indices.resize_with(part + 1, Vec::new);
        }
        let indices = &mut self.indices[part];
        match indices.get_mut(number as usize) {
            Some(place) => *place = index,
            // Numbers are given one after the other.
            None => indices.push(index),
        }
    }

    fn flow(&self, part: usize, flow: FlowId) -> FlowId {
        FlowId { connection: self.index(part, flow.connection as u32), ..flow }
    }
}
