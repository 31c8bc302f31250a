//! `tcplab packetdrill`.

use std::path::PathBuf;

use clap::Args;

use super::JsonArguments;

const AFTER: &str = "\
Examples:
  tcplab packetdrill test.pkt                        run one script on the Linux 6.18 model
  tcplab packetdrill -v test.pkt                     show each event and why it was sent
  tcplab packetdrill --topics selftests/net/packetdrill
                                                     run a whole suite, summed up by topic
  tcplab packetdrill --stack model:osx-10.7 test.pkt test another stack
  tcplab packetdrill --stack linux-7.2 test.pkt      test a kernel in virtual time
  tcplab packetdrill --topics --stack model:linux-7.2 --stack linux-7.2 DIR
                                                     compare a model with its kernel

A script passes if everything happens as it says, within its tolerances. A script is unsupported if
it uses something that the stack or this interpreter lacks; the output names it and its line.
Settings in a script and in the shell files that it runs (sysctl, /proc/sys, ethtool) configure
the stack. On a model no command runs; a kernel runs those that are no settings with this machine's
programs, which may read its files and change nothing.

Exit codes: 0 all scripts passed, 1 one failed, 2 none failed, but one is unsupported or unreadable.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct PacketdrillArguments {
    /// Scripts, or directories to search for *.pkt
    #[arg(required = true, value_name = "FILE.pkt|DIR")]
    pub(crate) scripts: Vec<PathBuf>,
    /// Stack to test: model:NAME, or linux-VERSION for a kernel in virtual time; repeat to compare
    ///
    /// linux-7.2 is the kernel that `tcplab kernel build 7.2` made, linux-newest the newest of
    /// them, model:linux-7.2 the model. Models of other systems need no prefix: netburner.
    #[arg(long, value_name = "STACK", default_value = "model:linux-6.18")]
    pub(crate) stack: Vec<String>,
    /// Scripts to run at once; by default as many as there are processors
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Override the timer ticks per second (the kernel's HZ)
    ///
    /// Models only: a kernel has what it was built with. By default what the file `config` beside
    /// the scripts asks for (CONFIG_HZ), as Linux's selftests have it: 1000; else the stack's own.
    /// Google's suite expects 1000. Debian's kernels use 250, where timers expire up to 4 ms later.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) hz: Option<u32>,
    /// IP version of scripts that do not say theirs, as the suites' runners have it: with IPv6, an
    /// MTU of 1520; scripts called *v6.pkt always run over IPv6
    #[arg(long, value_name = "VERSION", value_parser = ["ipv4", "ipv6"], default_value = "ipv4")]
    pub(crate) ip_version: String,
    /// Define a name that the scripts use, as packetdrill's -D; repeat for several
    #[arg(long, short = 'D', value_name = "NAME=VALUE")]
    pub(crate) define: Vec<String>,
    /// Show all events of each script: calls, packets, and why each was sent
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Sum up by topic: by directory, or else by the first part of the scripts' names
    #[arg(long)]
    pub(crate) topics: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}
