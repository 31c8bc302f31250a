//! The flags of `tcplab server`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use tcplab_units::{ServerDesign, Span};

const EXAMPLES: &str = "\
Examples:
  tcplab server --file index.html                      one file over HTTP, by an event loop
  tcplab server --service echo --design fork           a process for each connection
  tcplab server --service time --port 5194             times exchanged in datagrams
  tcplab load http://127.0.0.1:PORT/                   what it makes of load (port as printed)

SIGINT and SIGTERM end it: who was accepted, or waits to be, is answered first (--drain). A second
one ends it at once. SIGUSR1 prints the counters on standard error.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServerArguments {
    /// How connections are carried
    #[arg(long, value_name = "DESIGN", default_value = "epoll", value_parser = designs())]
    pub(crate) design: ServerDesign,
    /// Processes of prefork, threads of thread-pool, event loops of epoll and io-uring; by default
    /// 8 of the former, one per processor of the latter
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// What is served
    #[arg(long, value_name = "SERVICE", default_value = "echo")]
    pub(crate) service: Service,
    /// Serve this file, or what is in this folder, over HTTP/1.1
    #[arg(long, value_name = "PATH", conflicts_with_all = ["service", "udp"])]
    pub(crate) file: Option<PathBuf>,
    /// Serve datagrams instead of connections: iterative or thread-pool
    #[arg(long)]
    pub(crate) udp: bool,
    /// Listen at this address; others than 127.0.0.1 can be reached from elsewhere
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) address: IpAddr,
    /// Listen at this port; 0 takes one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Connections that may wait to be accepted, at most net.core.somaxconn
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) backlog: u32,
    /// Connections that may be open; more wait to be accepted
    #[arg(long, value_name = "N", default_value_t = 20_000,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// How long nothing may happen on a connection
    #[arg(long, value_name = "SPAN", default_value = "60 s")]
    pub(crate) idle: Span,
    /// How long the head of a request may take to arrive, however it trickles
    #[arg(long, value_name = "SPAN", default_value = "10 s")]
    pub(crate) request: Span,
    /// How long what was accepted may take to be finished once the server is to stop
    #[arg(long, value_name = "SPAN", default_value = "5 s")]
    pub(crate) drain: Span,
    /// Print the counters on standard error each second
    #[arg(long)]
    pub(crate) live: bool,
    /// Print as JSON, a line each: where it listens, and at the end the counters
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a design by its name; `--help` lists all.
fn designs() -> impl TypedValueParser<Value = ServerDesign> {
    let listed = ServerDesign::ALL.map(|it| PossibleValue::new(it.name()).help(it.about()));
    let parsed = |name: String| ServerDesign::from_name(&name).expect("clap accepts these only");
    PossibleValuesParser::new(listed).map(parsed)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    /// What comes goes back (RFC 862)
    Echo,
    /// The time of day as text, and the end (RFC 867)
    Daytime,
    /// What comes is thrown away (RFC 863)
    Discard,
    /// Characters without end (RFC 864)
    Chargen,
    /// Datagrams: the client tells its time, the server answers with its own
    Time,
    /// Datagrams: the client names a user, the server says whether that user is logged in
    Users,
}
