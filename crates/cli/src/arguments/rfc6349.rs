//! The flags of `tcplab rfc6349`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use tcplab_units::Span;

use super::World;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Rfc6349Arguments {
    /// The path: the name of a preset (`tcplab path presets`), a path file, or a scenario file
    /// (*.toml); `-` is a path that does nothing but what --set adds
    #[arg(long, value_name = "PATH", required_unless_present_any = ["target", "set"],
        default_value_if("set", clap::builder::ArgPredicate::IsPresent, "-"))]
    pub(crate) path: Option<String>,
    /// Set a key of the path, such as `-s delay="20 ms"`; can be given several times
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Test the way to this address instead, where a discard server listens: another host, on
    /// which `tcplab server --service discard --address … --port …` runs
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with_all = ["path", "set", "download", "world"])]
    pub(crate) target: Option<SocketAddr>,
    /// Test the way from server to client
    #[arg(long)]
    pub(crate) download: bool,
    /// How long a transfer takes where the path is full; the RFC asks for 30 s
    #[arg(long, value_name = "TIME", default_value = "10 s", value_parser = lasting)]
    pub(crate) lasting: Span,
    /// Trials of each transfer
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(crate) trials: u32,
    /// Connections at once in the last test
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) connections: u64,
    /// Congestion control of the sender; by default the system's
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// Which world to test in
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    pub(crate) world: World,
    /// Where the run directories are made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Slow start must be over, and a slip of the pen not take a day.
fn lasting(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error: tcplab_units::UnitError| error.to_string())?;
    if (Span::from_millis(500)..=Span::from_secs(600)).contains(&span) {
        Ok(span)
    } else {
        Err(format!("{span} is not from 500 ms to 10 min"))
    }
}

const EXAMPLES: &str = "\
Examples:
  tcplab rfc6349 --path dsl-25                        this machine's TCP over a DSL line
  tcplab rfc6349 --path geo-satellite --world sim     in virtual time, in seconds
  tcplab rfc6349 -s rate='50 Mbit/s' -s delay='50 ms' --lasting '30 s' --trials 3
  tcplab rfc6349 --target 192.0.2.7:5001              the way to another host

The steps of RFC 6349 in order: path MTU (section 3.1), baseline round trip and bottleneck (3.2),
bandwidth-delay product and the buffers that follow (3.3), throughput with one connection over a
sweep of windows and with several (3.3.2, 3.4), and the metrics of section 4: transfer time ratio,
efficiency, buffer delay.

With --target packets go to that host, and only there: for as long as --lasting says, some ten
times.";
