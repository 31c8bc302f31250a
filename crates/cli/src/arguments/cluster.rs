//! The flags of `tcplab sweep` and `tcplab archive`. The Python package reads them again
//! (`python/tcplab/commands.py`): what is here is for help, completions and mistakes.

use std::path::PathBuf;

use clap::Args;
use tcplab_lab::KernelChoice;

use super::{JsonArguments, World};

const SWEEP_EXAMPLES: &str = "\
Examples:
  tcplab sweep my.toml -o results              run on this machine's processors
  tcplab sweep my.toml --dask tcp://head:8786 --trials 100000 -o /shared/results
                                               run on a Dask cluster
  tcplab sweep my.toml --ray auto -o s3://bucket/results
                                               run on a Ray cluster, write to object storage

The same command continues what was stopped, and more --trials add trials. PLACE has
trials/case=NAME/part-FIRST-LAST.parquet, and the same for other tables: DuckDB, polars and Spark
read it. Trials on the kernel (--world kernel) run on workers started with the resource `testbed`
(dask worker … --resources testbed=1), locally one at a time.

Exit codes: 0 success, 2 the sweep failed, a trial failed, or a task failed on every attempt
(`trial_failures` and `failures` of `tcplab.Dataset(PLACE)` have the reasons), 130 Ctrl-C stopped
it.";

#[derive(Debug, Args)]
#[command(after_help = SWEEP_EXAMPLES)]
pub(crate) struct SweepArguments {
    /// A built-in experiment, or a scenario file (*.toml)
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Choose the world to run in
    #[arg(long, value_name = "WORLD", default_value = "sim")]
    world: World,
    /// Run the stack `linux` on this kernel in virtual time [default: the newest that was built]
    ///
    /// A name of `tcplab kernel list`, or `model` for the model. Each worker needs the same image.
    #[arg(long, value_name = "NAME", default_value = "newest", hide_default_value = true)]
    kernel: KernelChoice,
    /// Override the number of trials of each case
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,
    /// Override the scenario's seed
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Run this many trials in a task [default: as before, else as many as take about a second]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    per_task: Option<u32>,
    /// Keep these tables of a run, separated by commas; `tcplab export RUN` lists them
    #[arg(long, value_name = "NAMES", default_value = "trials,episodes")]
    tables: String,
}

const ARCHIVE_EXAMPLES: &str = "\
Examples:
  tcplab archive captures -o results           read a directory on this machine's processors
  tcplab archive '/shared/**/*.pcap.zst' --dask tcp://head:8786 -o /shared/results
                                               read an archive on a Dask cluster
  tcplab archive 's3://bucket/2026/*.pcap.zst' --dask tcp://head:8786 -o s3://bucket/results
                                               read it from object storage

The same command continues what was stopped, and reads captures that are new or changed. Prints
connections by finding, loss, RTT and stalls, by peer and hour, and the hundred connections with
the greatest delay, each with the command that opens it. Quantiles of the RTT are within 0.6 %.
PLACE has connections/capture=NAME/part-0-of-1.parquet, and the same for other tables;
captures.jsonl has the path or URL of each NAME.

Exit codes: 0 success, 2 the archive could not be read, or a capture failed on every attempt
(`tcplab.Dataset(PLACE).failures` has the reasons), 130 Ctrl-C stopped it.";

#[derive(Debug, Args)]
#[command(after_help = ARCHIVE_EXAMPLES)]
pub(crate) struct ArchiveArguments {
    /// Captures: files, directories (all captures in and below them, found by their content),
    /// patterns in quotes (`**` too), or URLs that fsspec knows
    #[arg(value_name = "CAPTURE", required = true)]
    captures: Vec<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Analyse only matching packets, as in `tcplab trace --filter`
    #[arg(long, value_name = "EXPRESSION")]
    filter: Option<String>,
    /// Read each capture in this many tasks [default: one; from 64 GB on one for each 32 GB]
    ///
    /// Each task reads the whole file and keeps the connections whose hash falls to it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
    /// Keep these tables of a trace, separated by commas; `tcplab export FILE` lists them
    #[arg(long, value_name = "NAMES", default_value = "connections,findings,stalls,episodes")]
    tables: String,
}

/// Where tasks run, and where their results go.
#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    /// Write the data set here: a directory that all workers share, or a URL such as s3://…
    #[arg(long, short, value_name = "PLACE")]
    output: PathBuf,
    /// Run on the Dask cluster of this scheduler, such as tcp://head:8786
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["ray", "jobs"])]
    pub(crate) dask: Option<String>,
    /// Run on a Ray cluster: ray://HOST:10001, `auto`, or `ray` for a new one on this machine
    #[arg(long, value_name = "ADDRESS", conflicts_with = "jobs")]
    pub(crate) ray: Option<String>,
    /// Without a cluster, run this many processes [default: one per processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Try a task this many times before it counts as failed
    #[arg(long, value_name = "N", default_value = "3")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    attempts: u16,
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    json: JsonArguments,
}

impl ClusterArguments {
    /// The extra of the Python package that the engine needs.
    pub(crate) fn extra(&self) -> Option<&'static str> {
        match (&self.dask, &self.ray) {
            (Some(_), _) => Some("dask"),
            (None, Some(_)) => Some("ray"),
            (None, None) => None,
        }
    }
}
