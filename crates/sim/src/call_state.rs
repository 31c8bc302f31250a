//! What is kept between the calls of an application.

use tcplab_units::{Instant, Span};

/// The state of an application's calls.
#[derive(Debug, Default)]
pub(crate) struct CallState {
    /// SO_RCVTIMEO and SO_SNDTIMEO; none: no timeout.
    pub(crate) timeouts: [Option<Span>; 2],
    /// SO_RCVTIMEO of the listening socket, for `accept`.
    pub(crate) accept_timeout: Option<Span>,
    /// When the application continues even if nothing happens.
    pub(crate) wake: Option<Instant>,
    /// When `connect` or `accept` returned a connection.
    pub(crate) connected: Option<Instant>,
    /// The application has nothing to do any more.
    pub(crate) is_over: bool,
    /// A call has returned the error of the connection, which happens once (`sock_error`).
    pub(crate) has_returned_error: bool,
    /// SHUT_RD: a read without data returns the end of the stream.
    pub(crate) is_read_shut: bool,
    /// `close` was called, and waits until then at most (SO_LINGER).
    pub(crate) closing: Option<Instant>,
    /// What a read is copied into.
    pub(crate) buffer: Vec<u8>,
}
