//! `tcplab metrics`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MetricsArguments {
    /// Only those whose names have one of these in them
    pub(crate) names: Vec<String>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  tcplab metrics                     every metric
  tcplab metrics rtt                 all whose name has `rtt` in it
  tcplab metrics --json              for programs

In a scenario:

  [[expect]]
  claim   = \"The transfer is over in 20 s\"
  metric  = \"transfer_time\"
  at_most = \"20 s\"

  [[plot]]
  metric = \"buffer_delay\"";
