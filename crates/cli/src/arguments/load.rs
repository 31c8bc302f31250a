//! The flags of `tcplab load`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tcplab_units::{ServerDesign, Span};

use super::JsonArguments;
use super::amount::{bytes, per_second};
use super::duration::within;
use super::live::LiveChoice;
use super::server::designs;

const EXAMPLES: &str = "\
Examples:
  tcplab load http://127.0.0.1:8080/                    ten connections, ten seconds
  tcplab load http://127.0.0.1:8080/ -c 100 --rate 5000 5000 requests per second
  tcplab load echo://127.0.0.1:7 --size 1000 --requests 100000
                                                        an echo server, 100,000 messages
  tcplab load --server fork,epoll -c 100                two designs of test servers, compared
  tcplab load echo://127.0.0.1:9 --bulk upload --duration 5s
                                                        a discard server's upload rate

Closed loop (the default): each connection sends its next request when the previous one is answered,
so a slow server receives fewer requests. Open loop (--rate): requests are due at a constant rate
on connections that take turns, all opened at the start; response times count from the due time, so a
server that stalls for a second delays all requests of that second.

Exit codes: 0 all requests were answered correctly, 1 some were not, 2 the server was not reached.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct LoadArguments {
    /// The server: http://HOST[:PORT]/PATH, or echo://HOST:PORT of an echo server
    #[arg(
        value_name = "URL|ADDRESS",
        required_unless_present = "server",
        conflicts_with = "server"
    )]
    pub(crate) target: Option<String>,
    /// Start a test server of each of these designs on this machine instead, one after the other,
    /// and compare them
    #[arg(long, value_name = "DESIGN,…", value_delimiter = ',', value_parser = designs(),
        conflicts_with = "bulk")]
    pub(crate) server: Vec<ServerDesign>,
    /// Have these servers serve this file over HTTP [default: they echo]
    #[arg(long, value_name = "FILE", requires = "server",
        conflicts_with_all = ["target", "bulk"])]
    pub(crate) serve: Option<PathBuf>,
    /// Keep this many connections open [default: 10; 1 with --bulk]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: Option<u32>,
    /// Send this many requests per second over all connections (open loop)
    #[arg(long, value_name = "N", conflicts_with = "bulk", value_parser = per_second)]
    pub(crate) rate: Option<f64>,
    /// Open a connection for each request
    #[arg(long, conflicts_with = "bulk")]
    pub(crate) no_keep_alive: bool,
    /// Send load for this long
    #[arg(long, value_name = "DURATION", default_value = "10 s", value_parser = duration)]
    pub(crate) duration: Span,
    /// Stop after this many requests instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with_all = ["duration", "bulk"])]
    pub(crate) requests: Option<u64>,
    /// Exclude this time at the start from the results
    #[arg(long, value_name = "DURATION", default_value = "0 s", conflicts_with = "bulk")]
    pub(crate) warm_up: Span,
    /// Count an answer as failed this long after its request was sent, or its connection begun
    #[arg(long, value_name = "DURATION", default_value = "10 s", conflicts_with = "bulk")]
    pub(crate) timeout: Span,
    /// Generate load with this many threads
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "bulk",
        value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
    /// Message size for an echo server, such as `1000` or `64KB` [default: 64]
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["bulk", "serve"],
        value_parser = |text: &str| bytes(text, 1, 67_108_864))]
    pub(crate) size: Option<u32>,
    /// Require answers of a web server with this file's content [default: that of the first good
    /// answer]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_check", "bulk"])]
    pub(crate) expect: Option<PathBuf>,
    /// Accept answers of any content
    #[arg(long, conflicts_with = "bulk")]
    pub(crate) no_check: bool,
    /// Transfer bulk data: to a discard server, or from a chargen server
    #[arg(long, value_name = "DIRECTION")]
    pub(crate) bulk: Option<BulkDirection>,
    /// Print what happens as lines of JSON, and stop when standard input ends
    ///
    /// For programs that run tcplab: `part` before each server, `progress` with the latencies so
    /// far, `loaded` with the outcome, and at last `finished`.
    #[arg(long, conflicts_with_all = ["bulk", "json", "live", "quiet"])]
    pub(crate) control: bool,
    #[command(flatten)]
    pub(crate) live: LiveChoice,
    /// Suppress progress output
    #[arg(long, short, conflicts_with = "live")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BulkDirection {
    /// To a server that discards it
    Upload,
    /// From a server that sends without end
    Download,
}

/// A thousandth of a second to a day.
fn duration(text: &str) -> Result<Span, String> {
    within(text, Span::from_millis(1), Span::from_secs(86_400))
}
