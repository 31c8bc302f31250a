//! The arguments of `tcplab run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Io, Shown, TuningArguments};

pub(crate) const AFTER: &str = "\
Examples:
  tcplab run interruption --quick              one trial of each case, for a first look
  tcplab run my.toml --dry-run                 cases, order, seeds, time and room it takes
  tcplab run my.toml --world sim --jobs 4      in virtual time, four trials at once
  tcplab run tuning --world sim                all experiments of a folder, a line for each last
  tcplab run my.toml --case reno --trial 3     this trial again, by itself
  tcplab run --resume                          go on with the newest run that was broken off
  tcplab run --extend runs/my/20261122T... --trials 20
                                               more repetitions: those that are there count
  tcplab run my.toml --extend runs/my/20261122T...
                                               the file has other levels now

Exit codes: 0 every expectation held, 1 one broke, 2 it could not be run, or a trial failed each
time it was tried: it is then missing in what was measured, and the tables say why.";

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RunArguments {
    /// Name of an experiment that comes with tcplab, or a scenario file (*.toml); of a folder of
    /// either: all experiments in it, one after the other
    #[arg(required_unless_present_any = ["resume", "extend"])]
    pub(crate) scenario: Option<String>,
    /// Which world to run in
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    pub(crate) world: World,
    /// One trial of each case instead of the scenario's number
    #[arg(long, conflicts_with = "trials")]
    pub(crate) quick: bool,
    /// Trials of each case instead of the scenario's number, or until what it waits for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99_999))]
    pub(crate) trials: Option<u32>,
    /// Only the case of this name; may be given again
    #[arg(long, value_name = "NAME", conflicts_with_all = ["resume", "extend"])]
    pub(crate) case: Vec<String>,
    /// Only the trial of this number, as it is in the whole run: to look at one again
    ///
    /// It has the seed that it has there, and all its packets are kept. In virtual time it leaves
    /// the same bytes. What is compared with other trials is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99_999))]
    #[arg(conflicts_with_all = ["quick", "trials", "resume", "extend"])]
    pub(crate) trial: Option<u32>,
    /// Seed of all randomness instead of the scenario's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Go on with an unfinished run: the directory given, or else the newest one
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "trials", "seed"])]
    #[expect(clippy::option_option, reason = "clap's way to say: a value that may be left out")]
    pub(crate) resume: Option<Option<PathBuf>>,
    /// Make a run, finished or not, one with more repetitions (--trials), or one of the scenario
    /// given
    ///
    /// Trials that are there are used again where case, seed, tcplab's version, and on the kernel
    /// the kernel and its TCP settings, are the same; what is not used is told with the reason, and
    /// kept in `unused/`. In virtual time the tables come out as those of a run made at once.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["resume", "quick"])]
    pub(crate) extend: Option<PathBuf>,
    /// Say what would be done and how long it takes, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Where run directories are made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How many trials run at once in virtual time; by default as many as there are processors
    ///
    /// What comes out does not depend on it.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// How frames get out of the endpoints; by default the fastest way that is allowed
    #[arg(long, value_name = "WAY")]
    pub(crate) io: Option<Io>,
    #[command(flatten)]
    pub(crate) tuning: TuningArguments,
    /// Do not verify the paths before the trials, nor take back what this machine is late each time
    #[arg(long)]
    pub(crate) no_calibration: bool,
    /// Run a path that is faster than this machine can model with confidence; the run is flagged
    #[arg(long)]
    pub(crate) allow_above_ceiling: bool,
    /// A trial whose path misbehaves each time has failed, instead of being used with a flag
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum World {
    /// The kernel for cases whose stacks are `linux`, virtual time for those with a model; where
    /// this machine refuses the namespaces that the kernel takes, virtual time for all
    Auto,
    /// This machine's own kernel, in real time
    Kernel,
    /// Virtual time: a model stands for the kernel; no privileges, the same bytes for the same seed
    Sim,
}

impl From<World> for tcplab_lab::World {
    fn from(world: World) -> tcplab_lab::World {
        match world {
            World::Auto => tcplab_lab::World::Auto,
            World::Kernel => tcplab_lab::World::Kernel,
            World::Sim => tcplab_lab::World::Sim,
        }
    }
}
