//! The flags of `tcplab server`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use tcplab_units::{ServerDesign, Span};

const EXAMPLES: &str = "\
Examples:
  tcplab server --file index.html                      serve one file over HTTP
  tcplab server --service echo --design fork           fork a process for each connection
  tcplab server --service time --port 5194             exchange times in datagrams
  tcplab server --service latency --address 0.0.0.0 --port 5195
                                                       answer `tcplab latency` on other hosts
  tcplab load http://127.0.0.1:PORT/                   load-test it (port as printed)

SIGINT or SIGTERM stops the server after it has answered all open and waiting connections
(--drain-timeout). A second one stops it at once. SIGUSR1 prints the counters to standard error.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct ServerArguments {
    /// Choose the server design [default: epoll; iterative with --udp]
    #[arg(long, value_name = "DESIGN", value_parser = designs())]
    pub(crate) design: Option<ServerDesign>,
    /// Run this many processes (prefork), threads (thread-pool) or event loops (epoll, io-uring);
    /// other designs have no fixed number
    /// [default: 8 processes or threads, one event loop per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Choose the service
    #[arg(long, value_name = "SERVICE", default_value = "echo")]
    pub(crate) service: Service,
    /// Serve this file or folder over HTTP/1.1
    #[arg(long, value_name = "PATH", conflicts_with_all = ["service", "udp"])]
    pub(crate) file: Option<PathBuf>,
    /// Serve datagrams instead of connections (iterative or thread-pool)
    #[arg(long)]
    pub(crate) udp: bool,
    /// Listen on this address; other machines can reach any but 127.0.0.1
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) address: IpAddr,
    /// Listen on this port; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Let this many connections wait for accept (the kernel caps it at net.core.somaxconn)
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) backlog: u32,
    /// Keep at most this many connections open; others wait for accept
    #[arg(long, value_name = "N", default_value_t = 20_000,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// Close connections that are idle for this long
    #[arg(long, value_name = "DURATION", default_value = "60 s")]
    pub(crate) idle_timeout: Span,
    /// Close connections whose request head takes longer than this
    #[arg(long, value_name = "DURATION", default_value = "10 s")]
    pub(crate) request_timeout: Span,
    /// Stop after this time even if connections are open
    #[arg(long, value_name = "DURATION", default_value = "5 s")]
    pub(crate) drain_timeout: Span,
    /// Print the counters to standard error every second
    #[arg(long)]
    pub(crate) live: bool,
    /// Print two JSON lines instead of text: the address, and at the end the counters
    #[arg(long)]
    pub(crate) json: bool,
    /// As --json, and stop when standard input ends: for programs that run tcplab
    #[arg(long)]
    pub(crate) control: bool,
}

/// Reads a design by its name; `--help` lists all.
pub(super) fn designs() -> impl TypedValueParser<Value = ServerDesign> {
    let listed = ServerDesign::ALL.map(|it| PossibleValue::new(it.name()).help(it.about()));
    let parsed = |name: String| ServerDesign::from_name(&name).expect("clap accepts these only");
    PossibleValuesParser::new(listed).map(parsed)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    /// Send data back (RFC 862)
    Echo,
    /// Send the time of day as text and close (RFC 867)
    Daytime,
    /// Discard data (RFC 863)
    Discard,
    /// Send characters without end (RFC 864)
    Chargen,
    /// Exchange times in datagrams
    Time,
    /// Answer the datagrams of `tcplab latency` with this host's times
    Latency,
    /// Answer in datagrams whether a user is logged in
    Users,
}
