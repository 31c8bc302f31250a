//! What is said on a connection, apart from how it is carried.

pub(crate) mod chargen;
pub(crate) mod http;
pub(crate) mod inetd;

use crate::calendar::Moment;
use crate::output::{After, Output};

/// Something that is served: it makes a session for each connection.
pub trait Service: Send + Sync {
    /// The server's side of a connection that was just made.
    fn open(&self) -> Box<dyn Session>;
}

/// The server's side of one connection: bytes in, bytes out. It knows no socket and no clock.
pub trait Session: Send {
    /// Goes on as far as it can: takes of `input` what it can use, adds to `output` until that is
    /// full, and gives how many bytes of `input` it took. What it left is shown again, with what
    /// came since.
    ///
    /// It is called when the connection is there (with no input), whenever there is input, and
    /// whenever all output was sent.
    fn advance(&mut self, input: &[u8], now: &Moment, output: &mut Output) -> usize;

    /// The client has ended its direction, and what is left of its input is `unread`.
    fn end(&mut self, _unread: &[u8], _now: &Moment, output: &mut Output) {
        output.end(After::Close);
    }

    /// What is going on.
    fn phase(&self) -> Phase {
        Phase::Idle
    }

    /// The request that is arriving takes too long: says so, if the service has a way to.
    fn late(&mut self, _now: &Moment, _output: &mut Output) {}

    /// The server is about to stop: this session ends with the next answer.
    fn stop(&mut self) {}

    /// Whether it takes input even while there is output to be sent.
    fn always_listens(&self) -> bool {
        false
    }
}

/// What a session is at, which decides how long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No response is pending: the connection may be closed.
    Idle,
    /// A request is arriving.
    Request,
}
