//! The calls that a link makes to its elements.

use std::fmt::Debug;

use tcplab_units::{Bytes, Instant};

use super::outbox::Outbox;
use super::transit::Transit;
use crate::verdict::Cause;

/// How an element behaves.
///
/// Time never goes backwards between calls, and everything due at or before an instant is done
/// before a packet is accepted at that instant. So what an element does depends only on which
/// packets came when, never on how often it was looked at. An element may hold a packet, pass on
/// any number, drop at any time, and change bytes.
pub(crate) trait Behaviour: Debug + Send {
    /// Handles a packet that arrives now.
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox);

    /// Why a packet of `size` that arrives now is dropped, if it is; asked of [gates](Gate) only.
    fn refuse(&mut self, _now: Instant, _size: Bytes) -> Option<Cause> {
        unreachable!("only a link of gates is asked")
    }

    /// What it does when no packet arrives.
    fn between_arrivals(&self) -> BetweenArrivals {
        BetweenArrivals::Nothing
    }

    /// When it next acts without an arrival.
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

/// What an element does when no packet arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BetweenArrivals {
    /// It never acts then.
    Nothing,
    /// It hands packets on, and drops none.
    HandsOn,
    /// It hands packets on in the order in which they came, and drops none.
    HandsOnInOrder,
    /// It may do anything.
    Anything,
}

/// An element that does nothing but let each packet pass or not, at once, and only looks at its
/// size: most of what a world with much to do asks of links, so it can be asked without moving the
/// packet.
pub(crate) trait Gate: Debug + Send {
    /// Why a packet of `size` that arrives now is dropped, if it is.
    fn refuse(&mut self, now: Instant, size: Bytes) -> Option<Cause>;
}

impl<G: Gate> Behaviour for G {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match Gate::refuse(self, now, packet.packet.size()) {
            Some(cause) => out.drop(now, packet, cause),
            None => out.pass(packet),
        }
    }
    fn refuse(&mut self, now: Instant, size: Bytes) -> Option<Cause> {
        Gate::refuse(self, now, size)
    }
}
