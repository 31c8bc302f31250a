//! Requests and answers in datagrams, over a channel that is not reliable: timeout and retry.
//! The client has one outstanding request. It sends it, waits for the answer until a timeout,
//! retries a set number of times, then gives it up. The number of the request identifies its
//! answer, so that a late one does not count for the next. The server answers each datagram that it
//! reads, also those that it has read before: it cannot know whether its first answer arrived.

mod client;
mod contents;
mod ledger;
mod mark;
mod server;
mod spec;
mod want;

pub use mark::DatagramMark;
pub use spec::Datagrams;
pub use want::DatagramWant;

use std::borrow::Cow;

use tcplab_units::{Endpoint, Instant};

use crate::report::AppReport;
use client::Client;
use server::Server;

/// The application at one end of [`Datagrams`], as a state machine. Report failed calls with
/// `failed`.
#[derive(Debug, Clone)]
pub struct DatagramApplication(End);

#[derive(Debug, Clone)]
enum End {
    Client(Client),
    Server(Server),
}

/// What either end does.
macro_rules! of_end {
    ($which:expr, $end:ident => $does:expr) => {
        match $which {
            End::Client($end) => $does,
            End::Server($end) => $does,
        }
    };
}

impl DatagramApplication {
    /// The application at one end; `seed` makes the contents.
    pub fn new(side: Endpoint, spec: &Datagrams, seed: u64) -> DatagramApplication {
        DatagramApplication(match side {
            Endpoint::Client => End::Client(Client::new(spec, seed)),
            Endpoint::Server => End::Server(Server::new(spec, seed)),
        })
    }

    /// What it does next. The first call starts the operation; asking again changes nothing.
    pub fn want(&mut self, now: Instant) -> DatagramWant<'_> {
        of_end!(&mut self.0, end => end.want(now))
    }

    /// The socket took the datagram.
    pub fn sent(&mut self, now: Instant) {
        of_end!(&mut self.0, end => end.sent(now));
    }

    /// A datagram came.
    pub fn received(&mut self, datagram: &[u8], now: Instant) {
        of_end!(&mut self.0, end => end.received(datagram, now));
    }

    /// It is connected, or closed.
    pub fn did(&mut self, now: Instant) {
        of_end!(&mut self.0, end => end.did(now));
    }

    /// The call failed, with the name of its error as `errno.h` has it.
    pub fn failed(&mut self, errno: impl Into<Cow<'static, str>>, now: Instant) {
        let errno = errno.into();
        of_end!(&mut self.0, end => end.failed(errno, now));
    }

    /// There are no more requests: a server, which would wait for ever, closes.
    pub fn stop(&mut self) {
        if let End::Server(server) = &mut self.0 {
            server.stop();
        }
    }

    /// Its report so far.
    pub fn report(&self) -> AppReport {
        of_end!(&self.0, end => end.report())
    }
}

#[cfg(test)]
mod tests;
