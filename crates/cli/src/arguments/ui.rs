//! The flags of `tcplab ui`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::RUNS;

/// How a page of what happens is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageMode {
    /// Print the link and open it where there is a screen
    Browser,
    /// Print the link alone
    Link,
}

const AFTER: &str = "\
Examples:
  tcplab ui                          open the page of this directory's runs
  tcplab ui --runs ~/experiments     of other runs
  ssh -L 9293:127.0.0.1:9293 HOST tcplab ui   the page of another machine, in a browser here

The link has a token: who has it may see the runs and start experiments. It stays the same, so that
an open page finds a server that was started again. Programs send it as `Authorization: Bearer`;
docs/ui.md and /api/openapi.json describe what they may ask.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct UiArguments {
    /// Look for run directories here, and create them here
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub(crate) runs: PathBuf,
    /// Listen on this address and port [default: 127.0.0.1:9293, or any free port]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Answer to this name, too, beside the address [repeat for several]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// Let everybody on the network see the page and its token, with `--listen` on their address
    #[arg(long, requires = "listen")]
    pub(crate) without_encryption: bool,
    /// Print the link and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}
