//! packetdrill's scripts on real Linux kernels, in virtual time.
//!
//! A [`KernelSubject`] is a guest of `tcplab-guests` whose first program makes the system calls of
//! a script and moves the packets of a TUN device. The interpreter of `tcplab-packetdrill` drives
//! it as it drives a model: the guest runs up to the script's time and stands there.

mod bytes;
mod calls;
mod control;
mod error;
mod guest;
mod host;
mod info;
mod results;
mod shell;
mod subject;

pub use error::ConformanceError;
pub use host::Host;
pub use subject::KernelSubject;
pub use tcplab_guests::pin;
