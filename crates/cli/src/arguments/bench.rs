//! The flags of `tcplab bench`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tcplab_results::bench::By;
use tcplab_units::Span;

use super::amount::bytes;
use super::compare::FailOn;
use super::duration::within;
use super::{Io, TuningArguments};

/// What commands are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Judge {
    /// How long a run takes: for commands that do the same task; less is better
    Time,
    /// How much data a run delivers per second: for commands that move different amounts of data,
    /// or that run for a fixed time; more is better
    Goodput,
}

impl From<Judge> for By {
    fn from(judge: Judge) -> By {
        match judge {
            Judge::Time => By::Time,
            Judge::Goodput => By::Goodput,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArguments {
    /// Two to eight commands, each one argument in the words of `sh`; the first is what the others
    /// are compared with
    #[arg(last = true, value_name = "CMD", required = true, num_args = 2..=8)]
    #[arg(value_parser = command)]
    pub(crate) commands: Vec<String>,
    /// The path, as for `tcplab shell`: a preset, a path file or a scenario file; repeat for
    /// several
    #[arg(long = "path", value_name = "PATH", default_value = "-", hide_default_value = true)]
    pub(crate) paths: Vec<String>,
    /// Set a key of all paths, such as `-s delay="20 ms"`; repeat for several
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run each command so often behind each path
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: u32,
    /// Judge the commands by this
    ///
    /// Goodput is that of `tcplab shell --expect goodput`: acknowledged data of all TCP connections
    /// and both directions, from the first data to the last acknowledgement. It leaves out what a
    /// command does before and after. For it packets are captured; without --capture, their headers
    /// are removed after each run, and a run with more than 64 MB of them has no goodput.
    #[arg(long, value_enum, value_name = "QUANTITY", default_value_t = Judge::Time)]
    pub(crate) by: Judge,
    /// Before these, run each command so often without counting it
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub(crate) warmup: u32,
    /// Seed of the order and of the paths' randomness
    ///
    /// In a block each command runs once behind each path, in random order. All runs of a block
    /// have the same seed of the path: this one and the block's number.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Run this `sh` command at the far end during each run, such as a server
    #[arg(long, value_name = "CMD", value_parser = command)]
    pub(crate) far_command: Option<String>,
    /// Start the command when the far one listens on this TCP port [default: any port, or after
    /// 1 s]
    #[arg(long, value_name = "PORT", requires = "far_command")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) wait_for: Option<u16>,
    /// Default congestion control of both ends, such as `cubic` or `bbr`
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// End a run that takes longer than this, with all that it started; it has failed
    ///
    /// It ends the bench, as other failures do; with --ignore-failure it counts with this time.
    #[arg(long, value_name = "DURATION")]
    #[arg(value_parser = |text: &str| within(text, Span::from_millis(1), Span::from_secs(86_400)))]
    pub(crate) timeout: Option<Span>,
    /// Count runs whose exit code is not 0 instead of ending at the first
    #[arg(long, short)]
    pub(crate) ignore_failure: bool,
    /// Show what the commands print; it takes time
    #[arg(long)]
    pub(crate) show_output: bool,
    /// Record each run that counts into this new or empty directory, below PATH/COMMAND-RUN, such
    /// as `1-dsl-25/A-1`, for `tcplab trace`; it takes time
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,
    /// Truncate packets in the captures to this size [default: 128 bytes, the headers]
    #[arg(long, value_name = "BYTES", requires = "capture")]
    #[arg(value_parser = |text: &str| bytes(text, 1, u32::MAX))]
    pub(crate) snaplen: Option<u32>,
    /// Write every run as CSV; `-` prints it instead of the tables
    #[arg(long, value_name = "FILE")]
    pub(crate) export_csv: Option<PathBuf>,
    /// Write times, verdicts and every run as JSON; `-` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// Write the tables and verdicts as Markdown; `-` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) export_markdown: Option<PathBuf>,
    /// Exit with 1 on these verdicts on a command against the first: `worse` is slower, or with
    /// --by goodput, less goodput; with 2 where a verdict is unknown
    ///
    /// A verdict is unknown by goodput where a run has too little data, and by time where all runs
    /// of a command fail. So few --runs that no difference can be shown are refused.
    #[arg(long, value_name = "WHAT", default_value = "never")]
    pub(crate) fail_on: FailOn,
    /// Move frames by this device [default: the fastest that is allowed]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) io: Option<Io>,
    #[command(flatten)]
    pub(crate) tuning: TuningArguments,
}

const EXAMPLES: &str = "\
Examples:
  tcplab bench --path dsl-25 --path lte --far-command 'python3 -m http.server 8000' \\
      --wait-for 8000 -- 'curl -so /dev/null http://$TCPLAB_FAR:8000/file' \\
      'wget -qO /dev/null http://$TCPLAB_FAR:8000/file'
  tcplab bench --path geo-satellite --runs 20 --far-command 'iperf3 -s' --wait-for 5201 -- \\
      'iperf3 -c $TCPLAB_FAR -n 5M -C cubic' 'iperf3 -c $TCPLAB_FAR -n 5M -C bbr'
  tcplab bench --path lte --by goodput --far-command 'iperf3 -s' --wait-for 5201 -- \\
      'iperf3 -c $TCPLAB_FAR -t 5 -C cubic' 'iperf3 -c $TCPLAB_FAR -t 5 -C bbr'
  tcplab bench -s delay='20 ms' -s loss='1 %' --far-command ./my-server --export-markdown - -- \\
      './my-client --old' './my-client --new'
  tcplab bench --path lte --fail-on worse --far-command ./my-server -- ./client-before ./client

Commands run as in `tcplab shell`: in a network of their own, with no DNS and no Internet. They
reach a server that --far-command starts, afresh for each run, at the address $TCPLAB_FAR; 127.0.0.1
is their own. Their input is empty; what they print is dropped without --show-output.

The time is that from the command's start to its end, the shell's start included (about 1 ms).
Packets and drops are those of the path, in both directions; retransmissions are those that the
kernels of both ends count, SYNs among them. With --capture, `tcplab trace` explains a run, such as
DIR/1-dsl-25/A-1, and goodput is known: that of `tcplab shell --expect goodput`, in Mbit/s.

Judge by time, as is done without --by, where all commands do the same task: it is what a user waits
for. Judge by goodput (--by goodput) where they move different amounts of data, run for a fixed time
(`iperf3 -t`), or wait for other things than the network. A verdict by goodput is unknown where a run
has less than 5840 B of data.

Exit codes: 0 all commands ran and no verdict matches --fail-on, 1 one does, 2 a command failed or
could not run, or with --fail-on a verdict is unknown. What ran before a failure or Ctrl-C is shown
and written, in whole blocks. Statistics: docs/statistics.md.";

/// A command that the kernel takes as an argument (MAX_ARG_STRLEN).
fn command(text: &str) -> Result<String, String> {
    const MOST: usize = 65_536;
    match text {
        _ if text.trim().is_empty() => Err("an empty command".into()),
        _ if text.len() > MOST => Err(format!("longer than {MOST} bytes: write a script")),
        _ => Ok(text.to_owned()),
    }
}
