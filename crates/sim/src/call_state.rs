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
    /// What a read is copied into.
    pub(crate) buffer: Vec<u8>,
    /// The read at hand sleeps.
    pub(crate) is_asleep: bool,
    /// What it has copied: less than SO_RCVLOWAT asks for.
    pub(crate) copied: Vec<u8>,
    /// It waits in `accept`.
    pub(crate) is_accepting: bool,
}

impl CallState {
    /// What a read returns that has `got` this: what it had copied before, too. Nothing yet where
    /// that is less than `least`, unless it `is_last`. An error comes with the next call, if there
    /// is data.
    pub(crate) fn gather(
        &mut self,
        got: Result<Data, ReadError>,
        least: u64,
        is_last: bool,
    ) -> Result<Data, ReadError> {
        match got {
            Ok(data) if !data.is_empty() => {
                let is_enough =
                    is_last || (self.copied.len() as u64 + u64::from(data.len())) >= least;
                if is_enough && self.copied.is_empty() {
                    return Ok(data);
                }
                self.copied.extend_from_slice(data.as_slice());
                if is_enough { Ok(self.all_copied()) } else { Err(ReadError::WouldBlock) }
            }
            Err(ReadError::WouldBlock) if !is_last => Err(ReadError::WouldBlock),
            _ if !self.copied.is_empty() => Ok(self.all_copied()),
            got => got,
        }
    }

    fn all_copied(&mut self) -> Data {
        Data::copy_of(&std::mem::take(&mut self.copied))
    }
}
