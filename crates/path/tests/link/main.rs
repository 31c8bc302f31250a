//! Links as a world uses them.

mod loss_laws;
mod properties;
mod refused;
mod support;
mod timeline;
