//! Servers in the seven designs of the textbooks: one service, many ways to carry connections.
//!
//! A [`Service`] defines the protocol: bytes in, bytes out, no socket and no clock. A
//! [design](tcplab_units::ServerDesign) carries the connections: one after the other, a process or
//! a thread for each, a fixed number of either, or an event loop. They meet in [`Session`], so
//! designs are compared with the same protocol code.
//!
//! ```no_run
//! use tcplab_servers::{Config, Server, Stop, Subject};
//! use tcplab_units::ServerDesign;
//!
//! let stop = Stop::new()?;
//! let server = Server::open(&Config::new(ServerDesign::Epoll, Subject::Echo))?;
//! println!("listening on {}", server.address());
//! let tally = server.serve(&stop, &mut |_| {})?;
//! println!("{} connections", tally.accepted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acceptor;
mod calendar;
mod carry;
mod config;
mod context;
mod conversation;
mod counters;
mod datagrams;
mod design;
mod error;
mod listener;
mod output;
mod pump;
mod server;
mod service;
mod sessions;
mod stop;
mod sys;
mod utmp;

pub use calendar::Moment;
pub use config::{Config, Limits, Subject, Transport};
pub use counters::Tally;
pub use error::ServeError;
pub use output::{After, FilePart, Output};
pub use server::Server;
pub use service::http::{Body, Files, Found, Http, Missing};
pub use service::{Phase, Service, Session};
pub use stop::{Stop, has_input_ended};

/// Opens a server and serves until it is asked to stop.
///
/// The designs with processes fork: call this from a process with a single thread.
///
/// # Errors
/// When it cannot listen, and when what it needs to serve at all is refused.
pub fn run(config: &Config, stop: &Stop) -> Result<Tally, ServeError> {
    Server::open(config)?.serve(stop, &mut |_| {})
}
