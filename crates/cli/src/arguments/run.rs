//! The flags of `tcplab run`, `tcplab report` and `tcplab scenarios`.

use std::path::PathBuf;

use clap::Args;
use tcplab_lab::KernelChoice;
use tcplab_scenario::{RecordingSpec, Snaplen};

use super::annotate::Annotations;
use super::live::LiveChoice;
use tcplab_units::Bytes;

use super::tuning::TuningArguments;
use super::{Io, JsonArguments, RUNS, World};

const AFTER: &str = "\
Examples:
  tcplab run interruption --quick              run as few trials as tell something
  tcplab run my.toml --dry-run                 show cases, order, seeds, duration and disk space
  tcplab run my.toml --world sim --jobs 4      run in virtual time, four trials at once
  tcplab run my.toml --kernel 6.12             run the stack `linux` on Linux 6.12, built before
  tcplab run tuning --world sim                run all experiments of a folder
  tcplab run my.toml --live                    watch trials on the whole screen while they run
  tcplab run my.toml --case reno --trial 3     run one trial again
  tcplab run --resume                          continue the newest unfinished run
  tcplab run --extend runs/my/20261122T... --trials 20
                                               add trials to a finished run
  tcplab run my.toml --extend runs/my/20261122T...
                                               add the file's new levels to a run

A claim that needs more trials than there are (`--quick`, `--trials`) is not judged, unless those
there are settle it. `--dry-run` warns of comparisons that too few trials leave undecided.

Exit codes: 0 no claim failed, 1 a claim failed (or, with --require-decision, was not judged), 2 the
run failed, or a trial failed on every
attempt (the tables name it and its reason), 130 Ctrl-C stopped it.";

#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RunArguments {
    /// A built-in experiment, a scenario file (*.toml), or a folder of either to run all of it
    #[arg(required_unless_present_any = ["resume", "extend"])]
    pub(crate) scenario: Option<String>,
    /// Choose the world to run in
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    pub(crate) world: World,
    /// Run the stack `linux` on this kernel, in virtual time [default: the newest that was built]
    ///
    /// A name of `tcplab kernel list`, or `model` for the model: either implies `--world sim` where
    /// an end has the stack `linux`. Where no kernel was built, the model it is.
    #[arg(long, value_name = "NAME", default_value = "newest")]
    #[arg(hide_default_value = true, conflicts_with = "resume")]
    pub(crate) kernel: KernelChoice,
    /// Run one trial of each case; in virtual time the scenario's number
    ///
    /// Trials in virtual time are cheap: a run of models has the scenario's number, or fewer where
    /// all of them together transfer more than 4 GB (each counts 0.5 MB more than its data; kernels
    /// in virtual time count ten times their data, and 50 MB for their boot).
    #[arg(long, conflicts_with = "trials")]
    pub(crate) quick: bool,
    /// Override the number of trials of each case
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99_999))]
    pub(crate) trials: Option<u32>,
    /// Run only this case; repeat for several
    #[arg(long, value_name = "NAME", conflicts_with_all = ["resume", "extend"])]
    pub(crate) case: Vec<String>,
    /// Run only the trial with this number
    ///
    /// The trial has the seed that it has in the whole run, and keeps all its packets. In virtual
    /// time it leaves the same bytes. Comparisons with other trials are left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99_999))]
    #[arg(conflicts_with_all = ["quick", "trials", "resume", "extend"])]
    pub(crate) trial: Option<u32>,
    /// Override the scenario's seed
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Continue an unfinished run [default: the newest]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "trials", "seed"])]
    #[expect(clippy::option_option, reason = "clap's way to say: a value that may be left out")]
    pub(crate) resume: Option<Option<PathBuf>>,
    /// Extend a run up to --trials of each case in all, or by the scenario's new levels
    ///
    /// Reuses a trial if its case, seed and tcplab version are the same, and on the kernel also the
    /// kernel and its TCP settings. Moves the others to `unused/` and prints why. In virtual time
    /// the tables equal those of a run made at once.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["resume", "quick"])]
    pub(crate) extend: Option<PathBuf>,
    /// Show the plan and its duration; run nothing
    #[arg(long, conflicts_with = "junit")]
    pub(crate) dry_run: bool,
    /// Truncate packets in the captures to this size, or keep them `whole`, whatever the scenario
    /// says [default: 128 B, which hold all headers; whole where the path damages packets]
    #[arg(long, value_name = "BYTES|whole", conflicts_with = "resume", value_parser = snaplen)]
    pub(crate) snaplen: Option<Snaplen>,
    /// Create run directories here
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub(crate) runs: PathBuf,
    /// Run this many trials at once in virtual time [default: one per processor]
    ///
    /// Results do not depend on it.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Move the endpoints' frames by this device [default: the fastest that is allowed]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) io: Option<Io>,
    #[command(flatten)]
    pub(crate) tuning: TuningArguments,
    /// Skip path calibration and latency compensation
    #[arg(long)]
    pub(crate) no_calibration: bool,
    /// Allow paths faster than this machine can model reliably; the run is flagged
    #[arg(long)]
    pub(crate) allow_above_ceiling: bool,
    /// Fail trials whose path missed its bounds on every attempt [default: keep and flag them]
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print errors and the verdicts of the claims only
    #[arg(long, short, conflicts_with_all = ["verbose", "dry_run"])]
    pub(crate) quiet: bool,
    /// Print what happens as lines of JSON, and stop when standard input ends
    ///
    /// For programs that run tcplab, as `tcplab ui` does. Each line has the key `event`: `begun`,
    /// `calibrating`, `warming-up`, `started`, `progress`, `failed`, `flawed`, `stored`, `skipped`,
    /// `analysing`, `reporting`, and at last, unless the run failed, `finished`. A line of standard
    /// input such as {"rate": "5 Mbit/s"} changes the path of the trial that runs in real time,
    /// with the keys of `[[path.events]]` except `at`; `path-changed` or `path-refused` answers. Of
    /// a folder, `part` comes before each experiment, and `part-finished` after it.
    #[arg(long, conflicts_with_all = ["verbose", "quiet", "dry_run", "json", "junit", "live"])]
    pub(crate) control: bool,
    #[command(flatten)]
    pub(crate) live: LiveChoice,
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Which packets are kept where the scenario does not say; no flag sets it.
    #[arg(skip)]
    pub(crate) recording: RecordingSpec,
}

fn snaplen(text: &str) -> Result<Snaplen, String> {
    let bytes = || text.parse().map(|bytes| Snaplen::First(Bytes::new(bytes)));
    let snaplen = text.parse().or_else(|error| bytes().map_err(|_| error));
    let snaplen: Snaplen = snaplen.map_err(|error| format!("{error}, or write `whole`"))?;
    snaplen.check().map(|()| snaplen)
}

/// How a run's tables are printed.
#[derive(Debug, Clone, Args)]
pub(crate) struct Shown {
    /// Print all metrics [default: the key metrics]
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Write JUnit XML with a test case for each claim of one experiment (not of a folder); `-`
    /// prints it instead of the tables
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Exit with 1 also if a claim is not judged, as too few trials decide nothing
    #[arg(long)]
    pub(crate) require_decision: bool,
    /// Print what failed as annotations of a pull request, to standard error
    #[arg(long, value_name = "SERVICE")]
    pub(crate) annotate: Option<Annotations>,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ScenariosArguments {
    /// Print this scenario file, as a start for your own
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The run directory, or a scenario's name for its newest run [default: the newest finished
    /// run]
    pub(crate) run: Option<PathBuf>,
    /// Look for run directories here
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub(crate) runs: PathBuf,
    #[command(flatten)]
    pub(crate) shown: Shown,
}
