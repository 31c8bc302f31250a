//! The flags of `tcplab advise`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tcplab_lab::advise::Goal;
use tcplab_units::{Bytes, Probability, Rate, Span};

use super::World;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AdviseArguments {
    /// A run's directory, or a capture with the connection that is to become better
    #[arg(value_name = "RUN|CAPTURE", conflicts_with_all = ["path", "rtt"])]
    pub(crate) from: Option<PathBuf>,
    /// The path: the name of a preset (`tcplab path presets`), a path file, or a scenario file
    /// (*.toml)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["rtt", "rate", "loss", "queue"])]
    pub(crate) path: Option<String>,
    /// Set a key of that path, such as `-s loss="1 %"`; can be given several times
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE", requires = "path")]
    pub(crate) set: Vec<String>,
    /// The round trip time of the idle path, such as "100 ms"
    #[arg(long, value_name = "TIME", required_unless_present_any = ["from", "path"])]
    pub(crate) rtt: Option<Span>,
    /// The rate of its bottleneck, such as "50 Mbit/s"
    #[arg(long, value_name = "RATE", requires = "rtt")]
    pub(crate) rate: Option<Rate>,
    /// The share of packets that is lost at random, such as "0.1 %"
    #[arg(long, value_name = "SHARE", requires = "rtt")]
    pub(crate) loss: Option<Probability>,
    /// How much its queue adds when it is full; by default as much as the round trip
    #[arg(long, value_name = "TIME", requires = "rate")]
    pub(crate) queue: Option<Span>,
    /// What the settings are for
    #[arg(long, value_name = "GOAL", default_value = "both")]
    pub(crate) goal: GoalName,
    /// What a transfer carries
    #[arg(long, value_name = "BYTES")]
    pub(crate) payload: Option<Bytes>,
    /// The congestion control in use at the sender; by default that of Linux
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// Trials before and with the advice
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=999))]
    pub(crate) trials: u32,
    /// Say what follows from formulas, and try nothing
    #[arg(long)]
    pub(crate) no_trial: bool,
    /// Which world to try it in; `auto` of a run in virtual time is virtual time
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    pub(crate) world: World,
    /// Where the trials' run directories are made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GoalName {
    /// Much data in little time
    Throughput,
    /// Short answers soon
    Latency,
    /// One beside the other
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
  tcplab advise --path bufferbloat --goal latency
  tcplab advise slow.pcapng              for the connection that carried most in it
  tcplab advise runs/interruption/…      which of a run's variants to take, and what would help them
  tcplab advise --path lte --no-trial    what the formulas say, at once

Each piece of advice comes with its reason, the formula or measurement behind it, and what it should
gain. Then the same transfers run before and with it, under the same impairments, trial by trial:
the gain that was measured is told with its 95 % interval, and with the interval in which 95 % of
single transfers lie. The trials are ordinary runs: their reports lie below --runs.";
