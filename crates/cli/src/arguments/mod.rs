//! The command line, defined once: parsing, help and error messages come from here.

mod advise;
mod amount;
mod annotate;
mod bench;
mod bisect;
mod clean;
mod cluster;
mod compare;
mod duration;
mod expectation;
mod fidelity;
mod figure;
mod flowing;
mod json;
mod kernel;
mod latency;
mod live;
mod load;
mod manual;
mod metrics;
mod mistyped;
mod packetdrill;
mod path;
mod recording;
mod replaced;
mod rfc6349;
mod run;
mod server;
mod sockopts;
mod states;
mod trace;
mod tuning;
mod ui;
mod virtual_time;
mod world;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tcplab_units::visible_line;

pub(crate) use advise::{AdviseArguments, EmbeddedStack};
pub(crate) use bench::{BenchArguments, Judge};
pub(crate) use bisect::BisectArguments;
pub(crate) use clean::CleanArguments;
pub(crate) use cluster::{ArchiveArguments, ClusterArguments, SweepArguments};
pub(crate) use compare::{CompareArguments, FailOn};
pub(crate) use expectation::{Amount, Expectation, Measure};
pub(crate) use fidelity::FidelityArguments;
pub(crate) use figure::{FigureArguments, LooksArguments, TableFormat};
use flowing::flowing;
pub(crate) use json::{JsonArguments, RUNS, ResultArguments};
pub(crate) use kernel::{BuildArguments, KernelArguments, KernelCommand};
pub(crate) use latency::{ClockChoice, LatencyArguments};
pub(crate) use live::{LineMode, LiveMode};
pub(crate) use load::{BulkDirection, LoadArguments};
pub(crate) use manual::{CompletionsArguments, ManArguments, Shell};
pub(crate) use metrics::MetricsArguments;
pub(crate) use packetdrill::PacketdrillArguments;
pub(crate) use path::{
    BridgeArguments, PathArguments, PathChoice, PathCommand, PlotArguments, PresetsArguments,
    ShellArguments, ShowArguments, TcArguments, UseArguments, VerifyArguments,
};
pub(crate) use recording::{ExportArguments, ReplayArguments};
pub(crate) use rfc6349::Rfc6349Arguments;
pub(crate) use run::{ReportArguments, RunArguments, ScenariosArguments, Shown};
pub(crate) use server::{ServerArguments, Service};
pub(crate) use sockopts::{OptionLevel, SockoptsArguments};
pub(crate) use states::{StateFilter, StatesArguments};
pub(crate) use trace::{LiveArguments, Outputs, Place, TraceArguments, ViewArguments};
pub(crate) use tuning::{Io, TuningArguments};
pub(crate) use ui::{PageMode, UiArguments};
pub(crate) use virtual_time::ShellWorld;
pub(crate) use world::World;

/// A laboratory for TCP
///
/// Describe an experiment in one file: two endpoints, the network path between them, what the
/// applications do, what to vary. tcplab runs it on this machine's TCP through its own path
/// emulator, captures every packet at both ends, explains what TCP did, and writes a report that
/// anyone can reproduce. It needs no root where the kernel allows user namespaces. It sends packets
/// only inside the namespaces that it makes.
#[derive(Debug, Parser)]
#[command(name = "tcplab", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tcplab run interruption            run an experiment (about four minutes)
  tcplab run interruption --world sim  run it in virtual time (under a minute)
  tcplab run haiku-tcp               run all experiments of a folder (a minute, in virtual time)
  tcplab run my-experiment.toml      run your own; start from `tcplab scenarios interruption`
  tcplab shell dsl-25                open your shell behind a DSL line
  tcplab trace capture.pcapng        find out why a transfer was slow
  tcplab doctor                      check what this machine can do

Units in flags and files: 10M, 10Mbit and 10Mbps are 10 Mbit/s, 10MBps is 80 Mbit/s; 64KB is 64,000
bytes, 64KiB 65,536; 200ms, 5s, 2min; 0.3%. What could mean two things (10MB as a rate, 5m) is refused.

Exit codes of all commands:
  0  success: all claims, scripts or checks passed
  1  the command worked, and a claim, script or check failed
  2  the command could not do its work, or a trial failed
  130  Ctrl-C stopped it (128 + N: signal N)
`tcplab shell` exits with the code of its program, or 1 by --expect; `tcplab server` with 0 after
SIGTERM.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment and write its report
    ///
    /// Trials run in blocks. A block runs each case once, in random order (from the seed): on the
    /// kernel one trial at a time, each in fresh network namespaces; in virtual time one per
    /// processor. The result is a directory RUNS/<name>/<time>-<hash>/ with captures, samples,
    /// tables and report.html. Use --resume to continue a stopped run, --extend to add trials or
    /// levels to a finished one, --dry-run to see the plan and its duration.
    Run(RunArguments),
    /// List the built-in experiments, or print one
    Scenarios(ScenariosArguments),
    /// Regenerate a run's report
    ///
    /// Reads the captures, samples and logs in the run directory and rewrites its tables and
    /// report.html, for instance after an update of tcplab. Runs no trial.
    Report(ReportArguments),
    /// Write figures of one run or several as files
    ///
    /// Without --figure: list the figures that show all trials, and the trials, whose graphs,
    /// ladder diagrams and state diagram are listed by `--figure CASE/NUMBER`. Of several runs:
    /// the figures that at least two of them have in common, each with all runs, told apart by
    /// their labels. Of each metric there are box plots (METRIC/boxes) and bars of means
    /// (METRIC/bars), of one run also by the levels of a factor. The file's ending says the
    /// format: SVG, or CSV and JSON for the numbers in the figure, which --table prints. PNG and
    /// PDF are made of the SVG by `rsvg-convert` (Debian: librsvg2-bin) or `inkscape`, where one is
    /// installed. `tcplab export RUN` writes the tables of the run.
    Plot(FigureArguments),
    /// List runs with their sizes, and remove captures or whole runs
    ///
    /// Without --captures and --runs it only lists. Removes nothing but runs that tcplab made, and
    /// follows no links.
    Clean(CleanArguments),
    /// Compare two runs statistically
    ///
    /// Compares two run directories, two levels of a factor within one run (--by), or two captures.
    /// Matches cases by their levels and trials by their seeds: pairs with equal seeds need far
    /// fewer trials. Prints for each metric of each case the difference of B from A, its 95 %
    /// confidence interval and a verdict: better, worse, equivalent within the margin
    /// (--threshold), or inconclusive with the number of trials that are missing. The worst comes
    /// first. Family-wise error rate: 5 % (Holm).
    Compare(Box<CompareArguments>),
    /// Explain TCP captures
    ///
    /// Prints for each connection how it opened and closed, its retransmissions and their causes,
    /// its stalls, what limited its rate, and what to do about it. Reads pcap and pcapng of
    /// Ethernet, 802.11, PPP, Linux's `any` device, BSD's loopback and 20 links more, compressed or
    /// not, or captures packets itself (-i).
    Trace(Box<TraceArguments>),
    /// Run an experiment's trials on many machines
    ///
    /// Runs trials on a Dask or Ray cluster, or on this machine, and keeps their rows as
    /// partitioned Parquet. The rows are those of `tcplab run`; packets are not kept. Needs the
    /// Python package, with [dask] or [ray] for these, of the same version on each worker:
    /// docs/python.md.
    Sweep(SweepArguments),
    /// Explain many captures on many machines
    ///
    /// Analyses captures on a Dask or Ray cluster, or on this machine, keeps the results as
    /// partitioned Parquet, and sums them up. Needs the Python package, with [dask] or [ray] for
    /// these, of the same version on each worker: docs/python.md.
    Archive(ArchiveArguments),
    /// Show the states of TCP connections
    ///
    /// Without a place: this machine's connections, how many are in each state, what each waits for
    /// and for how long. Of a trial or a capture: the path of both ends through TCP's state
    /// diagram, with the packet that caused each transition.
    States(StatesArguments),
    /// Run any program behind a path
    ///
    /// The program gets a network of its own, a far end, and the path between them; files, mounts
    /// and the host's name stay those of this machine, also for root. Use it for a shell, for a
    /// client with its server at the far end (--far-command), or for another `tcplab shell`. Needs
    /// no root where the kernel allows user namespaces. With --world sim it runs on a Linux of your
    /// choice in virtual time, which needs no privileges at all.
    Shell(Box<ShellArguments>),
    /// Time commands against one another behind paths
    ///
    /// Runs each command several times behind each path, one at a time and in random order, each
    /// run in fresh networks as `tcplab shell` makes them. Prints for each path the times, packets
    /// and drops of each command, and whether its time differs from that of the first: the ratio
    /// with its 95 % confidence interval, and p of the test of Mann and Whitney. Family-wise error
    /// rate over all commands and paths: 5 % (Holm).
    Bench(Box<BenchArguments>),
    /// Bridge two network interfaces through a path
    ///
    /// For real hosts, virtual machines and containers: forwards each frame from one interface to
    /// the other as the path decides.
    Bridge(BridgeArguments),
    /// List, show, draw, verify and convert paths
    Path(PathArguments),
    /// Write a table of a run, a trial or a capture
    ///
    /// As CSV, JSON Lines, Parquet or Arrow IPC. Without `--table` it lists the tables: of a run
    /// its trials with factors and metrics, of a trial the path's verdict on each packet and the
    /// samples of TCP_INFO, of a capture its connections, segments, episodes and more.
    Export(ExportArguments),
    /// Re-run the path over a recording and check the verdicts
    ///
    /// The path's decisions depend on its plan, the seed, and the times of packets. So the recorded
    /// packets must meet the same verdicts in virtual time, one by one. Exits with 1 if some
    /// differ.
    Replay(ReplayArguments),
    /// Run packetdrill scripts on TCP models and kernels
    ///
    /// A script says what application and network do to a TCP, and what it must answer, packet by
    /// packet. Runs the kernels' test suites on tcplab's stack models, and on Linux kernels, in
    /// virtual time: without privileges, with the same result each time.
    Packetdrill(PacketdrillArguments),
    /// Compare the TCP model with this machine's kernel, or with a Linux in virtual time
    ///
    /// Runs the same cases with the same seeds on the kernel and in virtual time, and prints the
    /// ratios of the medians, model over kernel. A summary shows how far the ratios are from 1,
    /// what the kernel differs from itself by chance, and the goals. The output directory keeps
    /// both runs, fidelity.json, fidelity.csv and fidelity.html; the same command continues an
    /// interrupted comparison and reuses the kernel's trials.
    Fidelity(FidelityArguments),
    /// Run a test server (seven concurrency designs)
    ///
    /// Serves one service by iteration, a process or thread per connection, a fixed number of
    /// either, or an event loop, so that results differ by the design alone. Listens on this
    /// machine only by default, and prints its address.
    Server(ServerArguments),
    /// Load-test a server: latency, throughput, errors
    ///
    /// Measures connect time, latency (first byte of an answer), response time (last byte) and data
    /// rate, counts errors by kind, and checks the content of every answer.
    Load(LoadArguments),
    /// Measure latency to a host, each way by itself
    ///
    /// Sends small datagrams to `tcplab server --service latency` on the other host, for seconds or
    /// for days, also while data is carried or other programs run. Prints RTT, latency and loss
    /// there and back, idle and under load, and how exact each way is. --together puts what several
    /// hosts measured into one figure.
    Latency(Box<LatencyArguments>),
    /// Build, list and remove kernels for virtual time
    ///
    /// An image is the Linux kernel of a version that you choose, as a program without privileges
    /// whose clock moves only when nothing can run.
    Kernel(KernelArguments),
    /// Find the kernel commit that changed a claim
    ///
    /// Bisects a git history of Linux: builds the kernel of a commit, runs the scenario on it in
    /// virtual time, and halves the commits that are left. Prints the commit, what it changes, the
    /// claims before and after, and how to see the difference in the packets.
    Bisect(BisectArguments),
    /// Open the laboratory as a page in the browser
    ///
    /// Serves the page on this machine alone and prints its link. On the page one composes an
    /// experiment, watches its trials while they run, reads reports and compares runs. It does what
    /// the commands do, and shows each as a command.
    Ui(UiArguments),
    /// Check what this machine can do
    ///
    /// Tries namespaces, devices, congestion controls and timers, and prints a remedy for each that
    /// does not work. Exits with 2 if experiments cannot run on this kernel; virtual time always
    /// works.
    Doctor(DoctorArguments),
    /// List socket options: defaults, limits, effects
    ///
    /// Prints name, level, default on a fresh TCP socket (and UDP where it differs), unit, range,
    /// effect, the sysctl behind the default or limit, and the privilege needed. Options that this
    /// kernel lacks are shown as absent.
    Sockopts(SockoptsArguments),
    /// Recommend settings for a path, and measure their gain
    ///
    /// Recommends buffers, congestion control, options and write sizes (for embedded stacks, buffer
    /// counts) for a path given by its figures, for the connection in a capture, or for the
    /// variants of a run. Measures what can be tried, before and after.
    Advise(Box<AdviseArguments>),
    /// Test a path by the procedure of RFC 6349
    ///
    /// Measures path MTU, baseline RTT, bottleneck and bandwidth-delay product, then TCP throughput
    /// over a sweep of windows and with several connections.
    Rfc6349(Box<Rfc6349Arguments>),
    /// List metrics: name, unit, better direction, source
    ///
    /// Claims, plots, comparisons, tables and reports use these names.
    Metrics(MetricsArguments),
    /// Print a shell's completion script
    ///
    /// The script completes commands, flags and the words that flags accept; those of bash, zsh and
    /// fish also the names of presets and experiments. Packages install them.
    Completions(CompletionsArguments),
    /// Print or write the manual pages
    ///
    /// One page for each command, `tcplab-trace` for `tcplab trace`. Packages install them.
    Man(ManArguments),
    /// Run a trial's process (internal)
    #[command(name = tcplab_actions::KERNEL_WORLD, hide = true)]
    World {
        /// Task and caller.
        arguments: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

/// The command line as data, for whoever documents it.
pub(crate) fn definition() -> clap::Command {
    flowing(Cli::command())
}

/// Parses the command line.
///
/// # Errors
/// What clap has to say instead: a mistake, help, the version. It quotes arguments with their
/// control characters shown as such; those may be names of files that somebody else gave.
pub(crate) fn parse() -> Result<Command, clap::Error> {
    // Texts of help flow only where one may be shown: that takes most of the time of a start.
    let parsed = read(Cli::command(), env::args_os()).or_else(|_| {
        let said = read(definition(), env::args_os());
        said.map_err(|said| {
            let shown = env::args_os().map(|it| visible_line(&it.to_string_lossy()).into_owned());
            let shown: Vec<String> = shown.collect();
            let said = read(definition(), &shown).err().or_else(not_text).unwrap_or(said);
            mistyped::with_hints(said, &shown, definition())
        })
    });
    Ok(parsed?.command)
}

fn read(
    mut tcplab: clap::Command,
    line: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Cli, clap::Error> {
    let matches = tcplab.try_get_matches_from_mut(line)?;
    replaced::refuse(&tcplab, &matches)?;
    Cli::from_arg_matches(&matches).map_err(|said| said.format(&mut tcplab))
}

/// Which argument cannot be read as text.
fn not_text() -> Option<clap::Error> {
    let argument = env::args_os().find(|argument| argument.to_str().is_none())?;
    Some(definition().error(ErrorKind::InvalidUtf8, of_no_text(&argument)))
}

/// What is wrong with it, and what to do where it is a file.
fn of_no_text(argument: &OsStr) -> String {
    let shown = argument.to_string_lossy();
    let is_file = Path::new(argument).exists();
    let remedy = if is_file { ": rename the file, or make a link to it" } else { "" };
    format!("'{}' is not UTF-8 text, which this command needs{remedy}", visible_line(&shown))
}

#[cfg(test)]
mod tests;
