//! A sink that writes down what it gets.

use std::fmt::Write;

use crate::{Ack, Connection, Episode, FlowId, LimitPeriod, Segment, Sink, Spurious, Stall};

/// Everything, or everything but single packets, as text.
#[derive(Debug)]
pub(super) struct All {
    wants_packets: bool,
    notes_packets: bool,
    pub(super) text: String,
}

impl All {
    pub(super) fn new(wants_packets: bool) -> All {
        All { wants_packets, notes_packets: true, text: String::new() }
    }
    /// Does not write packets down, whether it wants them or not.
    pub(super) fn but_packets(wants_packets: bool) -> All {
        All { notes_packets: false, ..All::new(wants_packets) }
    }
    pub(super) fn note(&mut self, what: impl std::fmt::Debug) {
        let _ = writeln!(self.text, "{what:?}");
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
            self.note((flow, segment));
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        if self.notes_packets {
            self.note((flow, ack));
        }
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.note((flow, episode));
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.note((flow, stall));
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.note((flow, period));
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        self.note((flow, frame, why));
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.note((index, connection));
    }
}
