//! One connection after the other: all others wait, in the kernel's queue.

use crate::acceptor::{AcceptEvent, Acceptor};
use crate::carry::Carrier;
use crate::context::{Drain, Observer, ServerContext};
use crate::error::ServeError;
use crate::listener::Listener;

pub(super) fn serve(
    context: &ServerContext<'_>,
    listener: Listener,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    observer.report();
    one_by_one(context, listener, 0, &mut || observer.tick())
}

/// Accepts and carries, until asked to stop and done.
pub(super) fn one_by_one(
    context: &ServerContext<'_>,
    listener: Listener,
    worker: usize,
    tick: &mut dyn FnMut(),
) -> Result<(), ServeError> {
    let slot = context.counters.slot(worker);
    let mut carrier = Carrier::new();
    let mut acceptor = Acceptor::new(context, listener, slot)?;
    while !carrier.is_stopping() {
        tick();
        match acceptor.next() {
            AcceptEvent::Connection(socket) => carrier.carry(context, &socket, slot, tick),
            AcceptEvent::Idle => {}
            AcceptEvent::Stop => carrier.note_stop(context),
        }
    }
    acceptor.close_to_new();
    let drain = Drain::begin(context.limits());
    while let Some(socket) = acceptor.rest(&drain) {
        carrier.carry(context, &socket, slot, tick);
    }
    Ok(())
}
