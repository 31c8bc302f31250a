//! The elements of a path beside the queueing disciplines of a Linux kernel: the same packets at
//! the same times through both, and how far apart what comes out is.
//!
//! The kernel's side is a guest in virtual time. A source sends each packet at a known nanosecond,
//! and the guest's link shows when it left the queueing discipline. `tcplab path tc` has written
//! the commands that set that up.

pub(crate) mod arrivals;
pub(crate) mod cases;
pub(crate) mod crossing;
pub(crate) mod distance;
pub(crate) mod kernel;
pub(crate) mod off;
pub(crate) mod quantity;
