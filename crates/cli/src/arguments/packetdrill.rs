//! `tcplab packetdrill`.

use std::path::PathBuf;

use clap::Args;

const AFTER: &str = "\
Examples:
  tcplab packetdrill test.pkt                        one script, on a model of Linux 6.18
  tcplab packetdrill -v test.pkt                     and all that happened, with why it was sent
  tcplab packetdrill --topics selftests/net/packetdrill
                                                     a whole suite, summed up by topic
  tcplab packetdrill --stack model:osx-10.7 test.pkt how another stack does with it

A script passes when all happens as it says, within its tolerances. It is not supported when it asks
for something that the model or this interpreter does not have: that is named, with its place, and
says nothing about the stack. Settings in a script (sysctl, /proc/sys, ethtool) become rules of the
model; no command is ever run, and nothing leaves this process.

Exit codes: 0 all passed; 1 at least one failed; 2 none failed, but at least one is not supported or
cannot be read, or the command line is wrong.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct PacketdrillArguments {
    /// Scripts, or directories of which all *.pkt are taken
    #[arg(required = true, value_name = "FILE.pkt|DIR")]
    pub(crate) scripts: Vec<PathBuf>,
    /// Whom to hold them against: model:NAME, with the name of a stack that comes with tcplab
    #[arg(long, value_name = "STACK", default_value = "model:linux-6.18")]
    pub(crate) stack: String,
    /// Ticks of the stack's timers per second, if the scripts were written for another number
    ///
    /// What a kernel calls HZ. Google's suite expects 1000, Debian's kernels have 250: there,
    /// timers run out up to 4 ms later.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) hz: Option<u32>,
    /// A value for a name that the scripts leave open, as packetdrill's -D
    #[arg(long, short = 'D', value_name = "NAME=VALUE")]
    pub(crate) define: Vec<String>,
    /// Show all that happened in each script: calls, packets, and why each was sent
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Sum up by topic: the scripts' directories, or else the first part of their names
    #[arg(long)]
    pub(crate) topics: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
