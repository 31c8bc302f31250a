//! A thread for each connection.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use crate::acceptor::{AcceptEvent, Acceptor};
use crate::carry::Carrier;
use crate::context::{Drain, Observer, ServerContext};
use crate::error::ServeError;
use crate::listener::Listener;

/// Of each thread: what it calls is shallow, and thousands of them have to find room.
pub(super) const STACK: usize = 128 << 10;

pub(super) fn serve(
    context: &ServerContext<'_>,
    listener: Listener,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    let mut acceptor = Acceptor::new(context, listener, context.counters.slot(0))?;
    observer.report();
    std::thread::scope(|scope| {
        let mut number = 0;
        loop {
            observer.tick();
            match acceptor.next() {
                AcceptEvent::Connection(socket) => {
                    number += 1;
                    carry(scope, context, socket, number, &mut acceptor);
                }
                AcceptEvent::Idle => {}
                AcceptEvent::Stop => break,
            }
        }
        acceptor.close_to_new();
        let drain = Drain::begin(context.limits());
        while let Some(socket) = acceptor.rest(&drain) {
            number += 1;
            carry(scope, context, socket, number, &mut acceptor);
        }
        drop(acceptor);
    });
    Ok(())
}

/// Has a new thread carry the connection; where there can be none, this one does.
fn carry<'scope>(
    scope: &'scope Scope<'scope, '_>,
    context: &'scope ServerContext<'_>,
    socket: OwnedFd,
    number: usize,
    acceptor: &mut Acceptor<'_>,
) {
    // Where no thread is made, the connection must not be lost with what the thread was given.
    let parcel = Arc::new(Mutex::new(Some(socket)));
    let given = Arc::clone(&parcel);
    let thread = move || {
        if let Some(socket) = given.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let slot = context.counters.slot(number);
            Carrier::new().carry(context, &socket, slot, &mut || ());
        }
    };
    if Builder::new().stack_size(STACK).spawn_scoped(scope, thread).is_err() {
        acceptor.pause();
        if let Some(socket) = parcel.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Carrier::new().carry(context, &socket, context.counters.slot(number), &mut || ());
        }
    }
}
