//! Links as a world uses them.

mod impairments;
mod jitter_laws;
mod loss_laws;
mod properties;
mod refused;
mod support;
mod timeline;
