//! The services, independent of how connections are carried.

pub(crate) mod chargen;
pub(crate) mod http;
pub(crate) mod inetd;

use crate::calendar::Moment;
use crate::output::{After, Output};

/// A service: it makes a session for each connection.
pub trait Service: Send + Sync {
    /// The server's side of a connection that was just made.
    fn open(&self) -> Box<dyn Session>;
}

/// The server's side of one connection: bytes in, bytes out. It knows no socket and no clock.
pub trait Session: Send {
    /// Advances as far as it can: consumes `input`, adds to `output` until that is full, and
    /// returns how many bytes it consumed. The rest is passed again, with later input.
    /// It is called when the connection is established (with no input), when there is input, and
    /// when all output was sent.
    fn advance(&mut self, input: &[u8], now: &Moment, output: &mut Output) -> usize;

    /// The client has sent its FIN; `unread` is the rest of its input.
    fn end(&mut self, _unread: &[u8], _now: &Moment, output: &mut Output) {
        output.end(After::Close);
    }

    /// The state of the session.
    fn phase(&self) -> Phase {
        Phase::Idle
    }

    /// The arriving request has timed out: answers so, if the protocol can.
    fn late(&mut self, _now: &Moment, _output: &mut Output) {}

    /// The server is about to stop: this session ends with the next answer.
    fn stop(&mut self) {}

    /// Whether it takes input even while there is output to be sent.
    fn always_listens(&self) -> bool {
        false
    }
}

/// The state of a session, which decides its timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No response is pending: the connection may be closed.
    Idle,
    /// A request is arriving.
    Request,
}
