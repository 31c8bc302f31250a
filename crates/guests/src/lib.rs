//! Real Linux kernels as hosts in virtual time: user-mode Linux whose clock is tcplab's.
//!
//! A [`Guest`] is a process that runs a kernel image made by `tcplab kernel build`. It has no clock
//! but the one in the memory that it shares with its owner, who says when it runs and until when it
//! need not ask. Its network device and its message channel are rings in the same memory.
//!
//! All of it needs Linux, and is in `linux`. Elsewhere no guest can be started (`elsewhere`).
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "what the errors have for `linux` alone")
)]

#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
mod request;
mod sent;

#[cfg(target_os = "linux")]
mod linux {
    pub(crate) mod calendar;
    pub(crate) mod console;
    pub(crate) mod guest;
    pub(crate) mod launch;
    pub(crate) mod memory;
    pub(crate) mod pin;
    pub(crate) mod place;
    pub(crate) mod processor_time;
    pub(crate) mod ring;
    pub(crate) mod watch;

    pub use console::Console;
    pub use guest::Guest;
    pub use pin::pin;
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
pub use error::GuestError;
#[cfg(target_os = "linux")]
pub use linux::*;
pub use request::{GuestRequest, LONGEST_TURN};
pub use sent::Sent;
