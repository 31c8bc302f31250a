//! The flags of `tcplab latency`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tcplab_units::Span;

use super::JsonArguments;
use super::duration::within;

const EXAMPLES: &str = "\
Examples:
  tcplab server --service latency --address 0.0.0.0 --port 5195   on the other host, first
  tcplab latency HOST:5195                                        ten seconds
  tcplab latency HOST:5195 --interval 100ms --duration 8h --svg night.svg
  tcplab latency HOST:5195 --upload HOST:9 -c 4                   idle, then while data is sent to
                                                                  `tcplab server --service discard`
  tcplab latency HOST:5195 --on-request 0.0.0.0:5196              on a third host; then here:
  tcplab latency HOST:5195 --upload HOST:9 --third THIRD:5196     what load does to others
  tcplab latency --together a.json b.json --svg both.svg          two hosts' --json=FILE, in one
                                                                  figure

The RTT is measured exactly. Each way is exact where both hosts have one clock. Else the sample with
the least RTT says how the clocks differ (RFC 5905), and each way may be wrong by half of that RTT;
it is right if the path without queues takes equally long there and back. Changes of each way are
exact in both cases. A steady drift of the clocks is estimated and taken out; where the time is too
short for that (below 5 s), each way may be wrong by 50 ppm of it more.

Exit codes: 0 probes were answered, 1 none was, or a load carried nothing, 2 no server answered at
all.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LatencyArguments {
    /// The host and the port of its `tcplab server --service latency`
    #[arg(
        value_name = "HOST:PORT",
        required_unless_present = "together",
        conflicts_with = "together"
    )]
    pub(crate) target: Option<String>,
    /// Send a probe of 64 bytes this often
    #[arg(long, value_name = "DURATION", default_value = "10 ms", value_parser = interval)]
    pub(crate) interval: Span,
    /// Send probes for this long, at most 8784 h (366 days)
    #[arg(long, value_name = "DURATION", default_value = "10 s", value_parser = duration)]
    pub(crate) duration: Span,
    /// Count a probe as lost without an answer in this time
    #[arg(long, value_name = "DURATION", default_value = "2 s", value_parser = timeout)]
    pub(crate) timeout: Span,
    /// Say whether both hosts have one clock
    #[arg(long, value_name = "CLOCKS", default_value = "auto")]
    pub(crate) clocks: ClockChoice,
    /// After a part without load, send data to this discard server (TCP)
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) upload: Option<String>,
    /// After a part without load, receive data from this chargen server (TCP)
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) download: Option<String>,
    /// Carry data in each direction with this many connections [default: 1]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: Option<u32>,
    /// Measure without load for this long before --upload and --download begin, less than
    /// --duration [default: half of it]
    #[arg(long, value_name = "DURATION", value_parser = timeout)]
    pub(crate) idle: Option<Span>,
    /// Put these results of --json=FILE, of several hosts and one server, into one figure
    ///
    /// Their times are aligned by the server's clock, which each of them knows.
    #[arg(long, value_name = "FILE", num_args = 1..=6,
        conflicts_with_all = ["json", "interval", "duration", "upload", "download"])]
    pub(crate) together: Vec<PathBuf>,
    /// Have a third host measure meanwhile, and put its result beside: it waits at this TCP address
    /// with --on-request
    ///
    /// What --upload and --download do to latency is then seen by another user of the line. Its
    /// times are aligned by the server's clock; it should measure to the same server.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "together")]
    pub(crate) third: Option<String>,
    /// Be the third host: wait at this TCP address, and measure when another host asks (--third)
    ///
    /// Interval, duration and timeout are those of who asks; where to is said here alone. For one
    /// host at a time, until Ctrl-C. Whoever reaches the address can ask.
    #[arg(long, value_name = "ADDRESS:PORT",
        conflicts_with_all = ["together", "third", "upload", "download", "json", "csv", "svg",
            "control", "interval", "duration", "timeout"])]
    pub(crate) on_request: Option<String>,
    /// Write the series over time as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a figure over time as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Print events as lines of JSON, and stop when standard input ends
    ///
    /// For programs that run tcplab: `part` before the parts without and with load, `progress` with
    /// the series and the latencies so far, and at last `finished` with what --json has, without
    /// its series.
    #[arg(long, conflicts_with_all = ["together", "quiet"])]
    pub(crate) control: bool,
    /// Suppress progress output
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockChoice {
    /// One clock if both run on one kernel
    Auto,
    /// One clock, which makes each way exact
    Same,
    /// Two clocks, whatever is found
    Separate,
}

fn interval(text: &str) -> Result<Span, String> {
    within(text, Span::from_millis(1), Span::from_secs(60))
}

fn timeout(text: &str) -> Result<Span, String> {
    within(text, Span::from_millis(10), Span::from_secs(3_600))
}

/// A tenth of a second to a year.
fn duration(text: &str) -> Result<Span, String> {
    within(text, Span::from_millis(100), Span::from_secs(366 * 86_400))
}
