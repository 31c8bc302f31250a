//! An analysed capture as tables and as JSON.

mod connections;
mod csv;
mod details;
mod directions;
mod events;
mod json;
mod names;
mod packets;
mod periods;
mod segments;
mod tables;

pub use csv::ConnectionsCsv;
pub use json::{ConnectionJson, TraceLines};
pub use tables::{TraceTable, TraceTables, WrittenTable};

#[cfg(test)]
pub(crate) use csv::explained;
