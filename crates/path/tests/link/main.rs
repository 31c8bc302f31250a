//! Links as a world uses them.

mod loss_laws;
mod properties;
mod support;
mod timeline;
