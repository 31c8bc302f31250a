//! What is kept between the calls of an application.

use tcplab_units::{Instant, Span};

/// How the calls of an application stand.
#[derive(Debug, Default)]
pub(crate) struct CallState {
    /// SO_RCVTIMEO and SO_SNDTIMEO; none: they wait for ever.
    pub(crate) timeouts: [Option<Span>; 2],
    /// When the application is to be looked at, whatever happens.
    pub(crate) wake: Option<Instant>,
    /// The application has nothing to do any more.
    pub(crate) is_over: bool,
    /// The error of the connection was told; it is told once (`sock_error`).
    pub(crate) has_told: bool,
    /// SHUT_RD: a read that finds nothing is at the end.
    pub(crate) is_read_shut: bool,
    /// `close` was called, and waits until then at most (SO_LINGER).
    pub(crate) closing: Option<Instant>,
    /// What a read is copied into.
    pub(crate) buffer: Vec<u8>,
}
