//! The flags of `tcplab load`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tcplab_units::Span;

const EXAMPLES: &str = "\
Examples:
  tcplab load http://127.0.0.1:8080/                    ten connections, ten seconds
  tcplab load http://127.0.0.1:8080/ -c 100 --rate 5000 what it does at 5000 requests a second
  tcplab load 127.0.0.1:7 --size 1000 --requests 100000 an echo server, 100,000 messages
  tcplab load 127.0.0.1:9 --bulk upload --seconds 5     how much a discard server swallows

Closed loop (the default): each connection sends its next request when the one before is answered,
so a slow server is asked less. Open loop (--rate): requests are due at a constant rate, and what
each takes is counted from the time it was due, so a server that stands still for a second is seen
to keep all those waiting that came meanwhile.

Exit code 1 when some requests were not answered as they should be.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct LoadArguments {
    /// The server: http://HOST[:PORT]/PATH, or HOST:PORT of an echo server
    #[arg(value_name = "URL|ADDRESS")]
    pub(crate) target: String,
    /// Connections at once; by default 10, and 1 with --bulk
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: Option<u32>,
    /// Requests a second over all connections, whatever the server does (open loop)
    #[arg(long, value_name = "N", conflicts_with = "bulk")]
    pub(crate) rate: Option<f64>,
    /// A new connection for each request
    #[arg(long, conflicts_with = "bulk")]
    pub(crate) no_keep_alive: bool,
    /// How long it goes on
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// End after so many requests instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with_all = ["seconds", "bulk"])]
    pub(crate) requests: Option<u64>,
    /// How long nothing is counted at first
    #[arg(long, value_name = "SPAN", default_value = "0 s", conflicts_with = "bulk")]
    pub(crate) warm_up: Span,
    /// How long an answer may take
    #[arg(long, value_name = "SPAN", default_value = "10 s", conflicts_with = "bulk")]
    pub(crate) timeout: Span,
    /// Threads of the generator
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "bulk",
        value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
    /// Bytes of a message to an echo server
    #[arg(long, value_name = "BYTES", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..=67_108_864))]
    pub(crate) size: u32,
    /// Answers must have this file's content; by default that of the first good answer
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_check", "bulk"])]
    pub(crate) expect: Option<PathBuf>,
    /// Answers may differ from one another
    #[arg(long, conflicts_with = "bulk")]
    pub(crate) no_check: bool,
    /// Carry data one way: to a discard server, or from a chargen server
    #[arg(long, value_name = "WAY")]
    pub(crate) bulk: Option<Way>,
    /// Show nothing while it goes on
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print as JSON; times are nanoseconds
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// To a server that throws it away
    Upload,
    /// From a server that sends without end
    Download,
}

/// Reads how many seconds, from a thousandth of one to a day.
fn seconds(text: &str) -> Result<f64, String> {
    const RANGE: std::ops::RangeInclusive<f64> = 0.001..=86_400.0;
    match text.parse() {
        Ok(seconds) if RANGE.contains(&seconds) => Ok(seconds),
        _ => Err("seconds are a number from 0.001 to 86400".into()),
    }
}
