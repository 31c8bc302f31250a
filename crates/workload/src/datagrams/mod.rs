//! Requests and answers in datagrams, over a channel that is not reliable: timeout and retry.
//!
//! The client has one request under way at a time. It sends it, waits for its answer as long as a
//! timeout says, and sends it again so often as it is told; then it gives it up. Answers are told
//! apart by the number of the request, so that one which comes late is not taken for that to the
//! next. The server answers each datagram that it reads, also those that it has read before: it
//! cannot know whether its first answer arrived.

mod client;
mod ledger;
mod server;
mod spec;

pub use spec::Datagrams;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tcplab_units::{Endpoint, Instant, Span};

use crate::{AppReport, Payload};
use client::Client;
use server::Server;

/// What one end would do next on its socket.
#[derive(Debug, PartialEq, Eq)]
pub enum DatagramWant<'a> {
    /// Name the other end with `connect`; report with `did`.
    Connect,
    /// Send this datagram; report with `sent`.
    Send(&'a [u8]),
    /// Wait for a datagram, until then at most; report with `received`, or, when the time has come,
    /// with `failed("EAGAIN")`.
    Receive(Option<Instant>),
    /// Nothing until then; ask again.
    Sleep(Instant),
    /// Close the socket; report with `did`.
    Close,
    /// Nothing any more.
    Nothing,
}

/// One end of [`Datagrams`], as a state machine. A call that failed is reported with `failed`.
#[derive(Debug, Clone)]
pub struct Correspondent(End);

#[derive(Debug, Clone)]
enum End {
    Client(Client),
    Server(Server),
}

impl Correspondent {
    /// The application at one end; `seed` makes the contents.
    pub fn new(side: Endpoint, spec: &Datagrams, seed: u64) -> Correspondent {
        Correspondent(match side {
            Endpoint::Client => End::Client(Client::new(spec, seed)),
            Endpoint::Server => End::Server(Server::new(spec, seed)),
        })
    }

    /// What it would do next. Asking again changes nothing that can be seen; the first time, the
    /// call begins.
    pub fn want(&mut self, now: Instant) -> DatagramWant<'_> {
        match &mut self.0 {
            End::Client(client) => client.want(now),
            End::Server(server) => server.want(now),
        }
    }

    /// The socket took the datagram.
    pub fn sent(&mut self, now: Instant) {
        match &mut self.0 {
            End::Client(client) => client.sent(now),
            End::Server(server) => server.sent(now),
        }
    }

    /// A datagram came.
    pub fn received(&mut self, datagram: &[u8], now: Instant) {
        match &mut self.0 {
            End::Client(client) => client.received(datagram, now),
            End::Server(server) => server.received(datagram, now),
        }
    }

    /// It is connected, or closed.
    pub fn did(&mut self, now: Instant) {
        match &mut self.0 {
            End::Client(client) => client.did(now),
            End::Server(server) => server.did(now),
        }
    }

    /// The call failed, with the name of its error as `errno.h` has it.
    pub fn failed(&mut self, errno: impl Into<Cow<'static, str>>, now: Instant) {
        let errno = errno.into();
        match &mut self.0 {
            End::Client(client) => client.failed(errno, now),
            End::Server(server) => server.failed(errno, now),
        }
    }

    /// Nobody asks any more: a server, which would wait for ever, closes.
    pub fn stop(&mut self) {
        if let End::Server(server) = &mut self.0 {
            server.stop();
        }
    }

    /// Its account so far.
    pub fn report(&self) -> AppReport {
        match &self.0 {
            End::Client(client) => client.report(),
            End::Server(server) => server.report(),
        }
    }
}

/// What one end counted of its datagrams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramReport {
    /// Datagrams that its socket took.
    pub sent: u64,
    /// Datagrams that it read.
    pub received: u64,
    /// Client: answers to requests that had one already. Server: requests that it had read
    /// already, sent again or copied.
    pub duplicates: u64,
    /// Client: answers to requests that it had given up.
    pub late: u64,
    /// Datagrams that were not what they should be.
    pub damaged: u64,
    /// The client's requests, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestReport>,
}

impl DatagramReport {
    /// Requests that were sent again, each time counted.
    pub fn resent(&self) -> u64 {
        self.requests.iter().map(|request| request.tries.len().saturating_sub(1) as u64).sum()
    }

    /// Requests without an answer in time.
    pub fn unanswered(&self) -> u64 {
        self.requests.iter().filter(|request| request.answered.is_none()).count() as u64
    }
}

/// A request of the client, and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestReport {
    /// When the call began that sent it first.
    #[serde(rename = "asked_ns")]
    pub asked: Instant,
    /// When the socket took it, try after try.
    #[serde(rename = "tries_ns")]
    pub tries: Vec<Instant>,
    /// When its answer was read, if one was in time.
    #[serde(rename = "answered_ns")]
    pub answered: Option<Instant>,
    /// Which try that answer belongs to, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_to: Option<u32>,
    /// The error that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Answers that were read after it was given up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u64,
    /// Answers that were read after the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicates: u64,
}

impl RequestReport {
    /// From first sending it until its answer was read.
    pub fn response_time(&self) -> Option<Span> {
        Some(self.answered?.since(self.asked))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What stands at the beginning of each datagram: four bytes each, the most significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatagramMark {
    /// The number of the request, from 1.
    pub request: u32,
    /// Which try of it, from 1; of an answer, of the try that it answers.
    pub attempt: u32,
}

impl DatagramMark {
    /// Bytes.
    pub const LEN: usize = 8;

    /// The mark of a datagram, if it is long enough to have one.
    pub fn read(datagram: &[u8]) -> Option<DatagramMark> {
        let (request, rest) = datagram.split_first_chunk()?;
        let attempt = rest.first_chunk()?;
        Some(DatagramMark {
            request: u32::from_be_bytes(*request),
            attempt: u32::from_be_bytes(*attempt),
        })
    }

    fn write(self, out: &mut [u8]) {
        out[..4].copy_from_slice(&self.request.to_be_bytes());
        out[4..8].copy_from_slice(&self.attempt.to_be_bytes());
    }
}

/// Makes the datagrams of both directions; either end knows all of them, to tell whether what came
/// is what was sent.
#[derive(Debug, Clone)]
struct Letters {
    seed: u64,
    request: usize,
    /// None: the request comes back as it is.
    response: Option<usize>,
}

impl Letters {
    fn new(spec: &Datagrams, seed: u64) -> Letters {
        Letters {
            seed,
            request: spec.request.as_u64() as usize,
            response: spec.response.map(|size| size.as_u64() as usize),
        }
    }

    fn request(&self, mark: DatagramMark) -> Vec<u8> {
        datagram(mark, self.request, Payload::new(self.seed_of(mark)))
    }

    fn answer(&self, mark: DatagramMark) -> Vec<u8> {
        match self.response {
            None => self.request(mark),
            Some(size) => datagram(mark, size, Payload::answering(self.seed_of(mark))),
        }
    }

    /// Tries of one request differ in their mark only.
    fn seed_of(&self, mark: DatagramMark) -> u64 {
        self.seed.rotate_left(32).wrapping_add(mark.request.into())
    }
}

fn datagram(mark: DatagramMark, size: usize, mut payload: Payload) -> Vec<u8> {
    let mut bytes = vec![0; size];
    payload.fill(&mut bytes[DatagramMark::LEN..]);
    mark.write(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests;
