//! Links as a world uses them.

mod closed_loop;
mod events;
mod fairness;
mod impairments;
mod jitter_laws;
mod loss_laws;
mod properties;
mod queues;
mod servers;
mod specs;
mod support;
mod timeline;
