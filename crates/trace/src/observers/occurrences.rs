//! Occurrences that most connections never have.

use tcplab_units::Instant;

use crate::Occurrences;
use crate::fold::folded;

/// [`Occurrences`] allocated with the first.
#[derive(Debug, Default)]
pub(crate) struct RareOccurrences(Option<Box<Occurrences>>);
folded! { tuple RareOccurrences }

impl RareOccurrences {
    #[inline(never)]
    pub(crate) fn add(&mut self, at: Instant, frame: u64) {
        self.0.get_or_insert_default().add(at, frame);
    }
    pub(crate) fn occurrences(&self) -> Occurrences {
        self.0.as_deref().cloned().unwrap_or_default()
    }
}
