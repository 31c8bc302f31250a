//! The flags of `tcplab advise`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tcplab_lab::advise::Goal;
use tcplab_units::{Bytes, Probability, Rate, Span};

use super::{ResultArguments, World};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AdviseArguments {
    /// A capture of the connection to improve; a run directory, or a scenario's name for its newest
    /// run; or a path, as for --path
    #[arg(value_name = "CAPTURE|RUN|PATH", conflicts_with_all = ["path", "rtt"])]
    pub(crate) from: Option<PathBuf>,
    /// The path: the name of a preset (`tcplab path presets`), a path file, or a scenario file
    /// (*.toml)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["rtt", "rate", "loss", "queue"])]
    pub(crate) path: Option<String>,
    /// Set a key of that path, such as `-s loss="1 %"`; repeat for several
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE", conflicts_with = "rtt")]
    pub(crate) set: Vec<String>,
    /// RTT of the idle path, such as "100 ms"
    #[arg(long, value_name = "TIME", required_unless_present_any = ["from", "path", "set"])]
    pub(crate) rtt: Option<Span>,
    /// Bottleneck rate, such as "50 Mbit/s"
    #[arg(long, value_name = "RATE", requires = "rtt", conflicts_with_all = ["from", "set"])]
    pub(crate) rate: Option<Rate>,
    /// Random loss, such as "0.1 %"
    #[arg(long, value_name = "SHARE", requires = "rtt", conflicts_with_all = ["from", "set"])]
    pub(crate) loss: Option<Probability>,
    /// Queueing delay of the full queue [default: one RTT]
    #[arg(long, value_name = "TIME", requires = "rate", conflicts_with_all = ["from", "set"])]
    pub(crate) queue: Option<Span>,
    /// Optimise for this goal
    #[arg(long, value_name = "GOAL", default_value = "both")]
    pub(crate) goal: GoalName,
    /// Payload of a transfer
    #[arg(long, value_name = "BYTES")]
    pub(crate) payload: Option<Bytes>,
    /// Congestion control of the sender today [default: as the capture or run shows, else this
    /// machine's]
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// Also recommend settings for this embedded stack, tried in its model
    #[arg(long, value_name = "STACK")]
    pub(crate) stack: Option<EmbeddedStack>,
    /// Run this many trials before and this many with the advice
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=999))]
    pub(crate) trials: u32,
    /// Apply the formulas only; run no trials
    #[arg(long)]
    pub(crate) no_trials: bool,
    /// Choose the world of the trials; for a run in virtual time, `auto` means virtual time
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    pub(crate) world: World,
    /// Print what happens as lines of JSON, and stop when standard input ends
    ///
    /// For programs that run tcplab: the events of `tcplab run --control` of each run, and `part`
    /// before each, `recommended` with the recommendations, and `tried` with the measured gain.
    /// The last is `finished`, with what `--json` prints as `result`.
    #[arg(long, conflicts_with = "json")]
    pub(crate) control: bool,
    #[command(flatten)]
    pub(crate) results: ResultArguments,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EmbeddedStack {
    /// Counts buffers of a segment each, at most 43
    #[value(alias = "embedded")]
    Netburner,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GoalName {
    /// High goodput
    Throughput,
    /// Short response times
    Latency,
    /// High goodput and short response times
    Both,
}

impl From<GoalName> for Goal {
    fn from(name: GoalName) -> Goal {
        match name {
            GoalName::Throughput => Goal::Throughput,
            GoalName::Latency => Goal::Latency,
            GoalName::Both => Goal::Both,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  tcplab advise --rtt '100 ms' --rate '50 Mbit/s' --loss '0.1 %' --goal throughput
  tcplab advise bufferbloat --goal latency
  tcplab advise slow.pcapng              improve the connection with most data in a capture
  tcplab advise runs/interruption/…      choose among a run's variants, and improve them
  tcplab advise lte --no-trials          apply the formulas only

Each recommendation states its reason, the formula or measurement behind it, and the expected gain.
Trials then run the same transfers before and with it, under the same impairments. The output gives
the measured gain with its 95 % confidence interval, and the interval of 95 % of single transfers.
The trials are ordinary runs with reports below --runs.";
