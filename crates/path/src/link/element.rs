//! The elements of a link at work, all of them in one type.

use tcplab_units::{Bytes, Instant};

use super::plan::ElementPlan;
use crate::behaviour::{Behaviour, Gate, Outbox, Streams, Transit};
use crate::bottleneck::Bottleneck;
use crate::elements::{
    Blackhole, Corruption, CrossTraffic, Delay, DropRules, Duplication, Interruption, Loss, Mark,
    MtuLimit, Policer, Reordering,
};
use crate::verdict::Cause;

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
