//! Links as a world uses them.

mod properties;
mod refusals;
mod servers;
mod support;
mod timeline;
