//! `tcplab metrics`.

use clap::Args;

use super::JsonArguments;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MetricsArguments {
    /// Show metrics whose names contain one of these
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

const EXAMPLES: &str = "\
Examples:
  tcplab metrics                     list all metrics
  tcplab metrics rtt                 list those with `rtt` in their name
  tcplab metrics --json              print them for programs

In a scenario:

  [[expect]]
  claim   = \"The transfer takes at most 20 s\"
  metric  = \"transfer_time\"
  at_most = \"20 s\"

  [[plot]]
  metric = \"buffer_delay\"";
