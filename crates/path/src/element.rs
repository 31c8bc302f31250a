//! What all elements of a link have in common.

use std::collections::VecDeque;

use tcplab_units::{Bytes, Instant, Rng};

use crate::bottleneck::Bottleneck;
use crate::corruption::Corruption;
use crate::cross_traffic::CrossTraffic;
use crate::delay::Delay;
use crate::drop_rules::DropRules;
use crate::duplication::Duplication;
use crate::interruption::{Blackhole, Interruption};
use crate::loss::Loss;
use crate::mark::Mark;
use crate::mtu::MtuLimit;
use crate::policer::Policer;
use crate::reordering::Reordering;
use crate::{
    Cause, Departure, Direction, ElementPlan, FIRST_MADE_ID, Fate, Packet, Transmission, Verdict,
};

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

/// An element that does nothing but let each packet pass or not, at once, and only looks at its
/// size: most of what a world with much to do asks of links, so it can be asked without moving the
/// packet.
pub(crate) trait Gate {
    /// Why a packet of `size` that arrives now is dropped, if it is.
    fn refuse(&mut self, now: Instant, size: Bytes) -> Option<Cause>;
}

impl<G: Gate> Behaviour for G {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match self.refuse(now, packet.packet.size()) {
            Some(cause) => out.drop(now, packet, cause),
            None => out.pass(packet),
        }
    }
}

/// Where an element takes its randomness from: streams with names of their own, so other elements
/// can come and go without shifting its draws.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streams {
    pub(crate) seed: u64,
    pub(crate) direction: Direction,
    pub(crate) kind: &'static str,
    /// Which of its kind it is on this link, from 1.
    pub(crate) number: usize,
}

impl Streams {
    /// The element's own stream, such as `forward/loss/1`.
    pub(crate) fn own(self) -> Rng {
        let Streams { seed, direction, kind, number } = self;
        Rng::new(seed, &format!("{direction}/{kind}/{number}"))
    }
    /// A stream that elements of both directions may share, by the whole of its name, such as
    /// `interruption/1`.
    pub(crate) fn shared(self, name: &str) -> Rng {
        Rng::new(self.seed, name)
    }
    /// Another stream of the element, such as `forward/corrupt/1/bits`.
    pub(crate) fn named(self, name: &str) -> Rng {
        let Streams { seed, direction, kind, number } = self;
        Rng::new(seed, &format!("{direction}/{kind}/{number}/{name}"))
    }
}

impl Element {
    /// As [`Gate::refuse`], of an element that is a gate.
    pub(crate) fn refuse(&mut self, now: Instant, size: Bytes) -> Option<Cause> {
        match self {
            Element::Policer(gate) => gate.refuse(now, size),
            Element::Interruption(gate) => gate.refuse(now, size),
            Element::Blackhole(gate) => gate.refuse(now, size),
            Element::Loss(gate) => gate.refuse(now, size),
            _ => unreachable!("only a link of gates is asked"),
        }
    }
}

impl Element {
    /// Whether it does nothing but while a packet arrives.
    pub(crate) fn is_passive(&self) -> bool {
        match self {
            Element::Mtu(_)
            | Element::Policer(_)
            | Element::Interruption(_)
            | Element::Blackhole(_)
            | Element::Loss(_)
            | Element::Drop(_)
            | Element::Mark(_)
            | Element::Corruption(_)
            | Element::Duplication(_) => true,
            Element::CrossTraffic(_)
            | Element::Bottleneck(_)
            | Element::Reordering(_)
            | Element::Delay(_) => false,
        }
    }

    /// Whether what it does of its own accord is to hand packets on, and no more.
    pub(crate) fn only_hands_on(&self) -> bool {
        matches!(self, Element::Bottleneck(bottleneck) if bottleneck.only_hands_on())
    }
}

/// Declares the elements of a link once: each has a plan of the same name, from which it is made.
macro_rules! elements {
    ($($name:ident($type:ty),)*) => {
        /// An element of a link at work.
        #[derive(Debug)]
        pub(crate) enum Element {
            $($name($type),)*
        }

        impl Element {
            /// The element planned, drawing from `streams` if it is a random one.
            pub(crate) fn new(plan: &ElementPlan, streams: Streams) -> Element {
                match plan {
                    $(ElementPlan::$name(plan) => Element::$name(<$type>::new(plan, streams)),)*
                }
            }
        }

        impl Behaviour for Element {
            fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
                match self {
                    $(Element::$name(element) => element.accept(now, packet, out),)*
                }
            }
            fn poll_at(&self) -> Option<Instant> {
                match self {
                    $(Element::$name(element) => element.poll_at(),)*
                }
            }
            fn advance(&mut self, now: Instant, out: &mut Outbox) {
                match self {
                    $(Element::$name(element) => element.advance(now, out),)*
                }
            }
            fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
                match self {
                    $(Element::$name(element) => element.held(),)*
                }
            }
            fn release(&mut self, into: &mut Vec<Transit>) {
                match self {
                    $(Element::$name(element) => element.release(into),)*
                }
            }
        }
    };
}

elements! {
    Mtu(MtuLimit),
    Policer(Policer),
    CrossTraffic(CrossTraffic),
    Bottleneck(Bottleneck),
    Interruption(Interruption),
    Blackhole(Blackhole),
    Loss(Loss),
    Drop(DropRules),
    Mark(Mark),
    Corruption(Corruption),
    Duplication(Duplication),
    Reordering(Reordering),
    Delay(Delay),
}

/// A packet on its way, with what its verdict will need.
#[derive(Debug)]
pub(crate) struct Transit {
    pub(crate) packet: Packet,
    pub(crate) entered: Instant,
    pub(crate) transmission: Option<Transmission>,
    /// See [`Verdict::origin`].
    pub(crate) origin: Option<u64>,
    /// See [`Verdict::marked`].
    pub(crate) marked: bool,
    /// See [`Verdict::corrupted`].
    pub(crate) corrupted: Option<u32>,
    /// Whether it is cross traffic, which leaves the path behind the bottleneck.
    pub(crate) is_background: bool,
}

impl Transit {
    /// A packet that comes to the link now.
    pub(crate) fn new(packet: Packet, now: Instant) -> Transit {
        Transit {
            packet,
            entered: now,
            transmission: None,
            origin: None,
            marked: false,
            corrupted: None,
            is_background: false,
        }
    }

    /// A copy of it with an id of its own, as far on its way.
    pub(crate) fn copy(&self, id: u64) -> Transit {
        let packet = if self.packet.bytes.is_empty() {
            Packet::of_size(id, self.packet.size())
        } else {
            Packet::new(id, self.packet.bytes.clone())
        };
        let origin = Some(self.origin.unwrap_or(self.packet.id));
        Transit { packet, origin, ..*self }
    }

    /// The end of its way.
    pub(crate) fn depart(self, direction: Direction, left: Instant, fate: Fate) -> Departure {
        let Transit { packet, entered, transmission, origin, marked, corrupted, .. } = self;
        let (id, size) = (packet.id, packet.size());
        let verdict = Verdict {
            id,
            direction,
            size,
            entered,
            transmission,
            left,
            fate,
            origin,
            marked,
            corrupted,
        };
        Departure { packet, verdict }
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
    /// How many packets the link has made itself.
    made: u64,
}

impl Outbox {
    pub(crate) fn new(direction: Direction) -> Outbox {
        Outbox { direction, passed: Vec::new(), departures: VecDeque::new(), made: 0 }
    }
    /// Passes a packet on to the next element.
    pub(crate) fn pass(&mut self, packet: Transit) {
        self.passed.push(packet);
    }
    /// Drops a packet now.
    pub(crate) fn drop(&mut self, now: Instant, packet: Transit, cause: Cause) {
        self.departures.push_back(packet.depart(self.direction, now, Fate::Dropped(cause)));
    }
    /// Takes cross traffic off the path now.
    pub(crate) fn absorb(&mut self, now: Instant, packet: Transit) {
        self.departures.push_back(packet.depart(self.direction, now, Fate::Absorbed));
    }
    /// Hands a packet of the link's own, about the packet `origin`, back to where that came from,
    /// now.
    pub(crate) fn answer(&mut self, now: Instant, origin: u64, bytes: Vec<u8>) {
        let answer = Transit {
            origin: Some(origin),
            ..Transit::new(Packet::new(self.next_id(), bytes), now)
        };
        let back = self.direction.opposite();
        self.departures.push_back(answer.depart(back, now, Fate::Delivered));
    }
    /// Delivers what has passed the last element.
    pub(crate) fn deliver(&mut self, now: Instant) {
        if let [_] = self.passed[..] {
            // The usual case, without the machinery of the others.
            if let Some(packet) = self.passed.pop() {
                self.leave(now, packet);
            }
            return;
        }
        let mut passed = std::mem::take(&mut self.passed);
        for packet in passed.drain(..) {
            self.leave(now, packet);
        }
        self.passed = passed;
    }
    /// Delivers a packet now.
    pub(crate) fn leave(&mut self, now: Instant, packet: Transit) {
        let fate = if packet.is_background { Fate::Absorbed } else { Fate::Delivered };
        self.departures.push_back(packet.depart(self.direction, now, fate));
    }
    /// The id of the next packet that the link makes itself: even ones on the forward link, odd
    /// ones on the reverse link, so that none is given twice in a trial.
    pub(crate) fn next_id(&mut self) -> u64 {
        let id = FIRST_MADE_ID + 2 * self.made + u64::from(self.direction == Direction::Reverse);
        self.made += 1;
        id
    }
}
