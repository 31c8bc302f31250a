//! The calls that a link makes to its elements.

use std::fmt;

use tcplab_units::{Bytes, Instant};

use super::outbox::Outbox;
use super::transit::Transit;
use crate::event::Change;
use crate::verdict::Cause;

/// How an element behaves.
///
/// Time never goes backwards between calls, and everything due at or before an instant is done
/// before a packet is accepted at that instant. So what an element does depends only on which
/// packets came when, never on how often it was looked at. An element may hold a packet, pass on
/// any number, drop at any time, and change bytes.
pub(crate) trait Behaviour: fmt::Debug + Send {
    /// Handles a packet that arrives now.
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox);

    /// Why a packet of `size` that arrives now is dropped, if it is; asked of gates only.
    fn judge(&mut self, _now: Instant, _size: Bytes) -> Option<Cause> {
        unreachable!("only a link of gates is asked")
    }

    /// When it next acts without an arrival.
    fn poll_at(&self) -> Option<Instant> {
        None
    }
    /// Does what is due now; called only when [`poll_at`](Self::poll_at) is `now`, and again for
    /// as long as it stays so.
    fn advance(&mut self, _now: Instant, _out: &mut Outbox) {}

    /// Makes a change that holds from `at` on, an instant after all that happened on the link so
    /// far; only one that the link's plan found it to be able of.
    fn change(&mut self, _at: Instant, change: Change) {
        unreachable!("{change:?} is for another element")
    }

    /// The packets that it will let go, and when, whatever comes after them; first the next.
    fn settled(&self) -> Box<dyn Iterator<Item = (Instant, &Transit)> + '_> {
        Box::new(std::iter::empty())
    }

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
pub(crate) trait Gate: fmt::Debug + Send {
    /// Why a packet of `size` that arrives now is dropped, if it is.
    fn refuse(&mut self, now: Instant, size: Bytes) -> Option<Cause>;

    /// See [`Behaviour::change`].
    fn change(&mut self, _at: Instant, change: Change) {
        unreachable!("{change:?} is for another element")
    }
}

impl<G: Gate> Behaviour for G {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match self.refuse(now, packet.packet.size()) {
            Some(cause) => out.drop(now, packet, cause),
            None => out.pass(packet),
        }
    }
    fn judge(&mut self, now: Instant, size: Bytes) -> Option<Cause> {
        self.refuse(now, size)
    }
    fn change(&mut self, at: Instant, change: Change) {
        Gate::change(self, at, change);
    }
}
