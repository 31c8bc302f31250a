//! Passes what the analyser finds to the history of a trial: of each direction what its sender's
//! end sees, which alone knows what is in flight.

use std::sync::Weak;

use tcplab_trace::{Ack, Connection, FlowId, Segment, Sink};
use tcplab_units::{Endpoint, Span};

use crate::latest::Packet;
use crate::trial::WatchedTrial;

pub(super) struct HistorySink {
    trial: Weak<WatchedTrial>,
    /// Where the capture was made.
    end: Endpoint,
    /// From the trial's zero to the first packet, which is the zero of its capture.
    shift: Span,
}

impl HistorySink {
    pub(super) fn new(trial: Weak<WatchedTrial>, end: Endpoint, shift: Span) -> HistorySink {
        HistorySink { trial, end, shift }
    }

    fn is_own(&self, flow: FlowId) -> bool {
        flow.forward == (self.end == Endpoint::Client)
    }
}

impl Sink for HistorySink {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        let Some(trial) = self.trial.upgrade() else { return };
        let (mut history, at) = (trial.history(), segment.at + self.shift);
        if self.is_own(flow) {
            history.segment(flow, &segment, at);
        }
        if self.end == Endpoint::Client {
            history.keep(Packet::Segment(flow, segment), at);
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        let Some(trial) = self.trial.upgrade() else { return };
        let (mut history, at) = (trial.history(), ack.at + self.shift);
        if self.is_own(flow) {
            history.ack(flow, &ack, at);
        }
        if self.end == Endpoint::Client {
            history.keep(Packet::Ack(flow, ack), at);
        }
    }
    fn connection(&mut self, _: usize, _: &Connection) {}
}
