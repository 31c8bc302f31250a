//! One connection after the other: all others wait, in the kernel's queue.

use crate::carry::Carrier;
use crate::door::Door;
use crate::entrance::{Entrance, Next};
use crate::error::ServeError;
use crate::hall::{Drain, Hall, Watch};

pub(super) fn serve(hall: &Hall<'_>, door: Door, watch: &mut Watch<'_>) -> Result<(), ServeError> {
    one_by_one(hall, door, 0, &mut || watch.tick())
}

/// Accepts and carries, until asked to stop and done.
pub(super) fn one_by_one(
    hall: &Hall<'_>,
    door: Door,
    worker: usize,
    tick: &mut dyn FnMut(),
) -> Result<(), ServeError> {
    let slot = hall.counters.slot(worker);
    let mut carrier = Carrier::new();
    let mut entrance = Entrance::new(hall, door, slot)?;
    while !carrier.is_stopping() {
        tick();
        match entrance.next() {
            Next::Came(socket) => carrier.carry(hall, &socket, slot, tick),
            Next::Nobody => {}
            Next::Stop => carrier.note_stop(hall),
        }
    }
    entrance.close_to_new();
    let drain = Drain::begin(hall.limits());
    while let Some(socket) = entrance.rest(&drain) {
        carrier.carry(hall, &socket, slot, tick);
    }
    Ok(())
}
