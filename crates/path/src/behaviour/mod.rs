//! What all elements of a link have in common: the calls they answer, the packets they handle, and
//! where their randomness comes from.

pub(crate) mod ecn;
mod element;
mod outbox;
mod streams;
mod transit;

pub(crate) use element::{Behaviour, Gate};
pub(crate) use outbox::Outbox;
pub(crate) use streams::{Streams, exponential, standard_exponential};
pub(crate) use transit::Transit;
