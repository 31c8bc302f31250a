//! Links as a world uses them.

mod properties;
mod support;
mod timeline;
