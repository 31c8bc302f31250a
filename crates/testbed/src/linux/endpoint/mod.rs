//! The two endpoints: the kernel's sockets, driven by the applications of the workload.

mod calls;
mod connections;
mod datagrams;
mod listener;
mod prepared;
mod socket;
mod wait;
mod watch;

pub(crate) use prepared::{Outcome, Prepared};
