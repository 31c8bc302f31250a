//! Captures that a page brings: kept as files, read in this process while the page shows the rows,
//! and explained in depth by commands.
//!
//! What is kept of a capture in memory does not grow with it: the rows of the connections that lost
//! most time, and sums of all.

mod name;
mod place;
mod product;
mod reading;
mod store;
mod table;
mod upload;

pub(crate) use product::{Product, Wish};
pub(crate) use store::Captures;
pub(crate) use upload::{LARGEST, Uploaded};
