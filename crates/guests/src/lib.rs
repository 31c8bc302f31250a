//! Real Linux kernels as hosts in virtual time: user-mode Linux whose clock is tcplab's.
//!
//! A [`Guest`] is a process that runs a kernel image made by `tcplab kernel build`. It has no clock
//! but the one in the memory that it shares with its owner, who says when it runs and until when it
//! need not ask. Its network device and its message channel are [rings](ring) in the same memory.

mod calendar;
mod error;
mod guest;
mod launch;
mod memory;
mod pin;
mod place;
mod ring;

pub use error::GuestError;
pub use guest::{Guest, Sent};
pub use launch::{GuestRequest, LONGEST_TURN};
pub use pin::pin;
