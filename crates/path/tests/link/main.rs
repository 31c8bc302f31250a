//! Links as a world uses them.

mod impairments;
mod jitter_laws;
mod properties;
mod support;
mod timeline;
mod timing_specs;
