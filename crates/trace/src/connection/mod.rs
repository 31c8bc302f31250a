//! One connection: how it opened, the states of both ends, how it closed, and the table of all.

mod handshake;
mod history;
mod lifetime;
mod reuse;
mod state;
mod state_walk;
mod table;
mod unread;

pub(crate) use state::{ConnectionState, Said};
pub(crate) use table::{Entry, Table};
