//! A thread for each connection.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use crate::carry::Carrier;
use crate::door::Door;
use crate::entrance::{Entrance, Next};
use crate::error::ServeError;
use crate::hall::{Drain, Hall, Watch};

/// Of each thread: what it calls is shallow, and thousands of them have to find room.
pub(super) const STACK: usize = 128 << 10;

pub(super) fn serve(hall: &Hall<'_>, door: Door, watch: &mut Watch<'_>) -> Result<(), ServeError> {
    let mut entrance = Entrance::new(hall, door, hall.counters.slot(0))?;
    std::thread::scope(|scope| {
        let mut number = 0;
        loop {
            watch.tick();
            match entrance.next() {
                Next::Came(socket) => {
                    number += 1;
                    carry(scope, hall, socket, number, &mut entrance);
                }
                Next::Nobody => {}
                Next::Stop => break,
            }
        }
        entrance.close_to_new();
        let drain = Drain::begin(hall.limits());
        while let Some(socket) = entrance.rest(&drain) {
            number += 1;
            carry(scope, hall, socket, number, &mut entrance);
        }
        drop(entrance);
    });
    Ok(())
}

/// Has a new thread carry the connection; where there can be none, this one does.
fn carry<'scope>(
    scope: &'scope Scope<'scope, '_>,
    hall: &'scope Hall<'_>,
    socket: OwnedFd,
    number: usize,
    entrance: &mut Entrance<'_>,
) {
    // Where no thread is made, the connection must not be lost with what the thread was given.
    let parcel = Arc::new(Mutex::new(Some(socket)));
    let given = Arc::clone(&parcel);
    let thread = move || {
        if let Some(socket) = given.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let slot = hall.counters.slot(number);
            Carrier::new().carry(hall, &socket, slot, &mut || ());
        }
    };
    if Builder::new().stack_size(STACK).spawn_scoped(scope, thread).is_err() {
        entrance.pause();
        if let Some(socket) = parcel.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Carrier::new().carry(hall, &socket, hall.counters.slot(number), &mut || ());
        }
    }
}
