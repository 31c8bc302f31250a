//! Links as a world uses them.

mod closed_loop;
mod fairness;
mod properties;
mod queues;
mod support;
mod timeline;
