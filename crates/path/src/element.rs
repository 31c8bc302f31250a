//! What all elements of a link have in common.

use std::collections::VecDeque;

use tcplab_units::{Instant, Rng};

use crate::bottleneck::Bottleneck;
use crate::delay::Delay;
use crate::interruption::Interruption;
use crate::loss::Loss;
use crate::{Cause, Departure, Direction, ElementPlan, Fate, Packet, Transmission, Verdict};

/// How an element behaves.
///
/// Time never goes backwards between calls, and everything due at or before an instant is done
/// before a packet is accepted at that instant. So what an element does depends only on which
/// packets came when, never on how often it was looked at. An element may hold a packet, pass on
/// any number, drop at any time, and change bytes.
pub(crate) trait Behaviour {
    /// Takes a packet that arrives now.
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox);

    /// When it next does something of its own accord.
    fn poll_at(&self) -> Option<Instant> {
        None
    }
    /// Does what is due now; called only when [`poll_at`](Self::poll_at) is `now`, and again for
    /// as long as it stays so.
    fn advance(&mut self, _now: Instant, _out: &mut Outbox) {}

    /// The packets it holds, next to leave first.
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(std::iter::empty())
    }
    /// Lets go of all it holds, in the order of [`held`](Self::held), and becomes idle.
    fn release(&mut self, _into: &mut Vec<Transit>) {}
}

/// An element of a link at work.
#[derive(Debug)]
pub(crate) enum Element {
    Bottleneck(Bottleneck),
    Interruption(Interruption),
    Loss(Loss),
    Delay(Delay),
}

impl Element {
    /// The element planned, drawing from `stream` if it is a random one.
    pub(crate) fn new(plan: &ElementPlan, stream: impl FnOnce() -> Rng) -> Element {
        match *plan {
            ElementPlan::Bottleneck { rate, queue } => {
                Element::Bottleneck(Bottleneck::new(rate, queue))
            }
            ElementPlan::Interruption(plan) => Element::Interruption(Interruption::new(plan)),
            ElementPlan::Loss { probability } => Element::Loss(Loss::new(probability, stream())),
            ElementPlan::Delay { delay } => Element::Delay(Delay::new(delay)),
        }
    }
}

/// Calls the same method of whichever element it is.
macro_rules! whichever {
    ($self:ident, $element:ident => $call:expr) => {
        match $self {
            Element::Bottleneck($element) => $call,
            Element::Interruption($element) => $call,
            Element::Loss($element) => $call,
            Element::Delay($element) => $call,
        }
    };
}

impl Behaviour for Element {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        whichever!(self, element => element.accept(now, packet, out));
    }
    fn poll_at(&self) -> Option<Instant> {
        whichever!(self, element => element.poll_at())
    }
    fn advance(&mut self, now: Instant, out: &mut Outbox) {
        whichever!(self, element => element.advance(now, out));
    }
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        whichever!(self, element => element.held())
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        whichever!(self, element => element.release(into));
    }
}

/// A packet on its way, with what its verdict will need.
#[derive(Debug)]
pub(crate) struct Transit {
    pub(crate) packet: Packet,
    pub(crate) entered: Instant,
    pub(crate) transmission: Option<Transmission>,
}

impl Transit {
    /// The end of its way.
    pub(crate) fn depart(self, direction: Direction, left: Instant, fate: Fate) -> Departure {
        let Transit { packet, entered, transmission } = self;
        let (id, size) = (packet.id, packet.size());
        Departure {
            packet,
            verdict: Verdict { id, direction, size, entered, transmission, left, fate },
        }
    }
}

/// Where elements put what leaves them.
#[derive(Debug)]
pub(crate) struct Outbox {
    direction: Direction,
    /// Packets on their way to the next element, in order.
    pub(crate) passed: Vec<Transit>,
    /// Packets that have left the link, in order of time.
    pub(crate) departures: VecDeque<Departure>,
}

impl Outbox {
    pub(crate) fn new(direction: Direction) -> Outbox {
        Outbox { direction, passed: Vec::new(), departures: VecDeque::new() }
    }
    /// Passes a packet on to the next element.
    pub(crate) fn pass(&mut self, packet: Transit) {
        self.passed.push(packet);
    }
    /// Drops a packet now.
    pub(crate) fn drop(&mut self, now: Instant, packet: Transit, cause: Cause) {
        self.departures.push_back(packet.depart(self.direction, now, Fate::Dropped(cause)));
    }
    /// Delivers what has passed the last element.
    pub(crate) fn deliver(&mut self, now: Instant) {
        for packet in self.passed.drain(..) {
            self.departures.push_back(packet.depart(self.direction, now, Fate::Delivered));
        }
    }
}
