//! The flags of `tcplab bisect`.

use std::path::PathBuf;

use clap::Args;

use super::ResultArguments;

const AFTER: &str = "\
Examples:
  tcplab bisect slow.toml --source ~/linux --good v6.17 --bad v6.18
  tcplab bisect slow.toml --source ~/linux --good v6.17 --bad v6.18 --path net/ipv4
  tcplab bisect slow.toml --source ~/linux --good v6.18 --bad v6.17
                                       which commit repaired the claims?

The scenario's `[[expect]]` are the claims. A commit is good if all of them hold, bad if one fails
(--claim looks at some of them alone), and skipped if its kernel does not build or its trials fail
to run. The stack `linux` is the commit's kernel, in virtual time.

The same command continues an interrupted bisection. Each build compiles what differs from the one
before. The repository is only read: no branch, no index, no file of it changes.

Needs git and what `tcplab kernel build` needs. More: docs/bisect.md.

Exit codes: 0 the commit is found, 1 several commits are left, since others were skipped, 2 the
search could not be made, 130 Ctrl-C stopped it.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct BisectArguments {
    /// The scenario file (*.toml) whose claims changed, or a built-in experiment
    pub(crate) scenario: String,
    /// Search this git repository of Linux, which is only read
    #[arg(long, value_name = "DIR")]
    pub(crate) source: PathBuf,
    /// A commit where the claims hold
    #[arg(long, value_name = "REV")]
    pub(crate) good: String,
    /// A commit where a claim fails; if it is older than the good one, the search finds what
    /// repaired the claims
    #[arg(long, value_name = "REV")]
    pub(crate) bad: String,
    /// Look at this claim alone; repeat for several [default: all of the scenario]
    #[arg(long, value_name = "TEXT")]
    pub(crate) claim: Vec<String>,
    /// Test only commits that change this file or folder of the repository; repeat for several
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<String>,
    /// Override the number of trials of each case
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99_999))]
    pub(crate) trials: Option<u32>,
    /// Override the scenario's seed
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Compile this many files, and run this many trials, at once [default: one per processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Keep images, sources and objects of the builds [default: remove them at the end]
    #[arg(long)]
    pub(crate) keep: bool,
    /// Suppress progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) results: ResultArguments,
}
