//! Sightings that most connections never have.

use tcplab_units::Instant;

use crate::Sightings;

/// [`Sightings`] that take room only once there is one.
#[derive(Debug, Default)]
pub(crate) struct Seen(Option<Box<Sightings>>);

impl Seen {
    /// One more.
    #[inline(never)]
    pub(crate) fn add(&mut self, at: Instant, frame: u64) {
        self.0.get_or_insert_default().add(at, frame);
    }
    /// All.
    pub(crate) fn sightings(&self) -> Sightings {
        self.0.as_deref().cloned().unwrap_or_default()
    }
}
