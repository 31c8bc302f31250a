//! Passes what the analyser finds to the history of a trial: of each direction what its sender's
//! end sees, which alone knows what is in flight.

use std::sync::{Arc, Weak};

use tcplab_trace::{Ack, Connection, FlowId, Segment, Sink};
use tcplab_units::{Endpoint, Span};

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

    /// The trial, if this direction is told from here.
    fn trial_of(&self, flow: FlowId) -> Option<Arc<WatchedTrial>> {
        let is_own = flow.forward == (self.end == Endpoint::Client);
        self.trial.upgrade().filter(|_| is_own)
    }
}

impl Sink for HistorySink {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        if let Some(trial) = self.trial_of(flow) {
            trial.history().segment(flow, &segment, segment.at + self.shift);
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        if let Some(trial) = self.trial_of(flow) {
            trial.history().ack(flow, &ack, ack.at + self.shift);
        }
    }
    fn connection(&mut self, _: usize, _: &Connection) {}
}
