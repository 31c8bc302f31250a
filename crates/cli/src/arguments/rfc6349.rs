//! The flags of `tcplab rfc6349`.

use std::net::SocketAddr;

use clap::Args;
use tcplab_units::Span;

use super::duration::of_measurement;
use super::{ResultArguments, World};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Rfc6349Arguments {
    /// The path: the name of a preset (`tcplab path presets`), a path file, or a scenario file
    /// (*.toml); `-` is an empty path with the keys of --set
    #[arg(long, value_name = "PATH", required_unless_present_any = ["target", "set"],
        default_value_if("set", clap::builder::ArgPredicate::IsPresent, "-"))]
    pub(crate) path: Option<String>,
    /// Set a key of the path, such as `-s delay="20 ms"`; repeat for several
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Test the path to this discard server instead: run `tcplab server --service discard
    /// --address … --port …` on the other host
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with_all = ["path", "set", "download", "world"])]
    pub(crate) target: Option<SocketAddr>,
    /// Test the direction from server to client
    #[arg(long)]
    pub(crate) download: bool,
    /// Duration of a transfer that fills the path (500 ms to 10 min; the RFC requires 30 s)
    #[arg(long, value_name = "DURATION", default_value = "10 s", value_parser = of_measurement)]
    pub(crate) duration: Span,
    /// Run each transfer this many times
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(crate) trials: u32,
    /// Open this many connections in the last test
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) connections: u64,
    /// Congestion control of the sender [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// Choose the world to test in
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    pub(crate) world: World,
    /// Print what happens as lines of JSON, and stop when standard input ends
    ///
    /// For programs that run tcplab: the events of `tcplab run --control` of each run, and `part`
    /// before each, `baseline` with what the first steps found, and `measured` with `rows`.
    /// The last is `finished`, with what `--json` prints as `result`.
    #[arg(long, conflicts_with = "json")]
    pub(crate) control: bool,
    #[command(flatten)]
    pub(crate) results: ResultArguments,
}

const EXAMPLES: &str = "\
Examples:
  tcplab rfc6349 --path dsl-25                        test this machine's TCP over a DSL line
  tcplab rfc6349 --path geo-satellite --world sim     test in virtual time (takes seconds)
  tcplab rfc6349 -s rate='50 Mbit/s' -s delay='50 ms' --duration '30 s' --trials 3
  tcplab rfc6349 --target 192.0.2.7:5001              test the path to another host

The steps of RFC 6349: path MTU (section 3.1), baseline RTT and bottleneck (3.2), bandwidth-delay
product and buffer sizes (3.3), throughput of one connection over a sweep of windows and of several
connections (3.3.2, 3.4), and the metrics of section 4: transfer time ratio, efficiency, buffer
delay.

With --target, packets go only to that host, in some ten transfers of --duration each, times
--trials. Windows are bounded by the send buffer, to within a few segments.";
