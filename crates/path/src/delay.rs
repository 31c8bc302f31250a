//! Propagation: a packet comes out as it went in, a constant time later.

use std::collections::VecDeque;

use tcplab_units::{Instant, Span};

use crate::element::{Behaviour, Outbox, Transit};

#[derive(Debug)]
pub(crate) struct Delay {
    delay: Span,
    /// With the instant each is due; the delay being constant, in order of it.
    under_way: VecDeque<(Instant, Transit)>,
}

impl Delay {
    pub(crate) fn new(delay: Span) -> Delay {
        Delay { delay, under_way: VecDeque::new() }
    }
}

impl Behaviour for Delay {
    fn accept(&mut self, now: Instant, packet: Transit, _out: &mut Outbox) {
        self.under_way.push_back((now + self.delay, packet));
    }
    fn poll_at(&self) -> Option<Instant> {
        self.under_way.front().map(|(due, _)| *due)
    }
    fn advance(&mut self, _now: Instant, out: &mut Outbox) {
        if let Some((_, packet)) = self.under_way.pop_front() {
            out.pass(packet);
        }
    }
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.under_way.iter().map(|(_, packet)| packet))
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.under_way.drain(..).map(|(_, packet)| packet));
    }
}
