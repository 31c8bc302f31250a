//! What is kept between the calls of an application.

use tcplab_stack::{Data, ReadError};
use tcplab_units::{Instant, Span};

/// The state of an application's calls.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
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
    /// The read at hand sleeps.
    pub(crate) is_asleep: bool,
    /// What it has taken so far; while it sleeps less than SO_RCVLOWAT asks for.
    pub(crate) taken: Vec<Data>,
    /// It waits in `accept`.
    pub(crate) is_accepting: bool,
}

impl CallState {
    /// Bytes that the read at hand has taken.
    pub(crate) fn count_taken(&self) -> usize {
        self.taken.iter().map(|data| data.len() as usize).sum()
    }

    /// How many bytes a read returns that `got` so many more. It goes on where it has less than
    /// `least`, unless it `is_last`. An error comes with the next call, if there is data.
    pub(crate) fn gather(
        &self,
        got: Result<usize, ReadError>,
        least: u64,
        is_last: bool,
    ) -> Result<usize, ReadError> {
        let count = self.count_taken();
        match got {
            Ok(1..) if !is_last && (count as u64) < least => Err(ReadError::WouldBlock),
            Err(ReadError::WouldBlock) if !is_last => Err(ReadError::WouldBlock),
            _ if count > 0 => Ok(count),
            got => got,
        }
    }
}
