//! The silence before a close: idle timeouts of hosts, firewalls and load balancers end it.

use tcplab_units::{Bytes, Offset, Span};

use crate::Close;
use crate::direction::DirectionState;
use crate::fold::folded;

/// The latest time without a packet, while nothing was in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Silence {
    lasted: Span,
    /// The end that broke it is the client.
    forward: bool,
    /// The end of what the end that broke it had sent, and of what the other one had.
    sent: [Offset; 2],
}
folded! { Silence { lasted, forward, sent } }

impl Silence {
    /// A shorter time is a round trip.
    pub(super) const LEAST: Span = Span::from_millis(500);

    /// One that a packet of the client (`forward`) or of the server ends, if nothing was in flight.
    #[cold]
    pub(super) fn ended(
        lasted: Span,
        forward: bool,
        own: &DirectionState,
        other: &DirectionState,
    ) -> Option<Silence> {
        let sent = [own.high(), other.high()];
        let is_idle = sent == [own.acked(), other.acked()];
        is_idle.then_some(Silence { lasted, forward, sent })
    }

    /// Its length, if the end that closes now (`forward`: the client) has since acknowledged
    /// nothing of the other end's, nor sent more than a farewell.
    pub(super) fn before_close(
        &self,
        forward: bool,
        own: &DirectionState,
        other: &DirectionState,
    ) -> Option<Span> {
        let [mut own_before, mut other_before] = self.sent;
        if forward != self.forward {
            (own_before, other_before) = (other_before, own_before);
        }
        // Its FIN counts as a byte.
        let farewell = Close::FAREWELL + Bytes::new(1);
        let is_next = other.acked() <= other_before && own.high().since(own_before) <= farewell;
        is_next.then_some(self.lasted)
    }
}

/// What a FIN or an RST found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AtClose {
    /// The silence before it.
    pub(super) idle: Option<Span>,
    /// The end of the other end's data that its sender had acknowledged.
    pub(super) acked: Offset,
    /// The other end has data in flight.
    pub(super) crossed: bool,
}
