//! The flags of `tcplab fidelity`.

use std::path::PathBuf;

use clap::Args;

use tcplab_kernels::KernelName;

use super::{Io, JsonArguments};

const AFTER: &str = "\
Examples:
  tcplab fidelity loss.toml slow.toml --trials 30
                                               with this machine's kernel, in real time
  tcplab fidelity loss.toml --against linux-7.2
                                               with that Linux in virtual time, packet by packet
  tcplab fidelity --random 200 --against linux-6.12
                                               two hundred cases drawn at random

Against a kernel in virtual time both sides are exact: the same seed gives the same losses at the
same instants, and what differs is the model. The model is the profile of the kernel's name.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct FidelityArguments {
    /// Built-in experiments, or scenario files (*.toml), whose stacks are the kernel's
    #[arg(required_unless_present = "random", value_name = "SCENARIO")]
    pub(crate) scenarios: Vec<String>,
    /// Compare with a kernel in virtual time, packet by packet (`tcplab kernel list`)
    #[arg(long, value_name = "linux-NAME", value_parser = against)]
    #[arg(conflicts_with_all = ["io", "allow_above_ceiling"])]
    pub(crate) against: Option<KernelName>,
    /// Add this many cases drawn at random from `--seed`: controls, paths, options
    ///
    /// In real time the controls are those that this kernel has, so that another kernel may get
    /// other cases.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) random: Option<u32>,
    /// Run this many trials at once [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    #[arg(requires = "against", conflicts_with_all = ["io", "allow_above_ceiling"])]
    pub(crate) jobs: Option<u32>,
    /// Override the number of trials of each case in each world
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) trials: Option<u32>,
    /// Run one trial of each case in each world (a first look, without medians)
    #[arg(long, conflicts_with = "trials")]
    pub(crate) quick: bool,
    /// Override the scenarios' seed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Keep both runs and the comparison here
    #[arg(long, value_name = "DIR", default_value = "runs/fidelity")]
    pub(crate) runs: PathBuf,
    /// Exit with 1 if a goal is missed
    #[arg(long)]
    pub(crate) check_goals: bool,
    /// Move the kernel's frames by this device [default: the fastest that is allowed]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) io: Option<Io>,
    /// Allow paths faster than this machine can model reliably
    #[arg(long)]
    pub(crate) allow_above_ceiling: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

/// `linux-NAME`, as scenarios name kernels.
fn against(text: &str) -> Result<KernelName, String> {
    let name = text.strip_prefix("linux-").ok_or("use linux-NAME, such as linux-7.2")?;
    name.parse().map_err(|error: tcplab_kernels::CacheError| error.to_string())
}
