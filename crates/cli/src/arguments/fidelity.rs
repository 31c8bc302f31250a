//! The flags of `tcplab fidelity`.

use std::path::PathBuf;

use clap::Args;

use super::{Io, JsonArguments};

const AFTER: &str = "\
Example:
  tcplab fidelity fidelity/loss fidelity/slow --trials 30";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct FidelityArguments {
    /// Built-in experiments, or scenario files (*.toml), whose stacks are the kernel's
    #[arg(required = true, value_name = "SCENARIO")]
    pub(crate) scenarios: Vec<String>,
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
