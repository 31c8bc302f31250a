//! The command line, defined once: parsing, help and error messages come from here.

mod advise;
mod compare;
mod load;
mod metrics;
mod packetdrill;
mod path;
mod rfc6349;
mod run;
mod server;
mod sockopts;
mod states;
mod trace;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tcplab_testbed::Tuning;
use tcplab_units::{Span, UnitError};

pub(crate) use advise::AdviseArguments;
pub(crate) use compare::CompareArguments;
pub(crate) use load::{LoadArguments, Way};
pub(crate) use metrics::MetricsArguments;
pub(crate) use packetdrill::PacketdrillArguments;
pub(crate) use path::{
    BridgeArguments, PathArguments, PathChoice, PathCommand, PlotArguments, PresetsArguments,
    ShellArguments, ShowArguments, TcArguments, UseArguments, VerifyArguments,
};
pub(crate) use rfc6349::Rfc6349Arguments;
pub(crate) use run::{RunArguments, World};
pub(crate) use server::{ServerArguments, Service};
pub(crate) use sockopts::{OptionLevel, SockoptsArguments};
pub(crate) use states::{StateFilter, StatesArguments};
pub(crate) use trace::{LiveArguments, Outputs, Place, TraceArguments, ViewArguments};

/// The name of the hidden subcommand that a trial's process is started with.
pub(crate) const WORLD: &str = "kernel-world";

/// A laboratory for TCP.
///
/// Describe an experiment in one file: two endpoints, the network path between them, what the
/// applications do, what to vary. tcplab runs it on this machine's own TCP through its own path
/// emulator, captures every packet at both ends, explains what TCP did, and writes a report that
/// anyone can reproduce. No root needed where the kernel allows user namespaces; nothing outside
/// the namespaces that tcplab makes is ever sent a packet.
#[derive(Debug, Parser)]
#[command(name = "tcplab", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tcplab run interruption            the founding paper's experiment, about four minutes
  tcplab run interruption --quick    one trial of each case, under a minute
  tcplab run haiku-tcp               all experiments of a folder, in virtual time in a minute
  tcplab run my-experiment.toml      your own; start from `tcplab scenarios interruption`
  tcplab shell dsl-25                your shell, behind a DSL line
  tcplab trace capture.pcapng        why a transfer was slow
  tcplab doctor                      what this machine can do

Exit codes: 0 every expectation of the scenario held, 1 one broke, 2 it could not be run, or a trial
of it failed; `tcplab shell` has that of its program.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment and write its report
    ///
    /// Trials run in blocks, each of them every case once, in random order (from the seed): on the
    /// kernel one at a time, each in fresh network namespaces; in virtual time as many at once as
    /// there are processors. All it leaves is a directory RUNS/<name>/<time>-<hash>/ with captures,
    /// samples, tables and report.html. A run that was stopped or killed goes on with --resume; a
    /// finished one gets more repetitions or other levels with --extend, and uses again what is
    /// there. --dry-run says what would be done, and how long that takes.
    #[command(after_help = run::AFTER)]
    Run(RunArguments),
    /// List the experiments that come with tcplab, or print one
    Scenarios(ScenariosArguments),
    /// Make the report of a finished run again
    ///
    /// Reads the captures, samples and logs in the run's directory and writes its tables and
    /// report.html anew, such as after an update of tcplab. Nothing is run.
    Report(ReportArguments),
    /// Say whether B is better or worse than A, and how surely
    ///
    /// Two runs (their directories), two levels of a factor within one run (--by), or two captures.
    /// Cases are matched by their levels, trials by their seeds: with the same seeds trial is
    /// compared with trial, which takes far fewer of them. For each metric of each case: by how
    /// much B differs, where that lies with 95 % confidence, and a verdict: better, worse, the same
    /// within a threshold, or undecided and how many trials more would decide it. The worst comes
    /// first. Of all that is tested together, something is called different that is not in one
    /// comparison of twenty at most.
    Compare(Box<CompareArguments>),
    /// Explain TCP captures from anywhere
    ///
    /// For each connection: how it was opened and closed, what was sent again and why, where it
    /// stood still, what limited it, and what to do about it. Reads pcap and pcapng from any link,
    /// compressed or not, or captures by itself (-i).
    Trace(Box<TraceArguments>),
    /// Show TCP connections in their states, and how they came there
    ///
    /// Without a place, the connections that this machine has now: how many are in each state, what
    /// each waits for, and how much longer. Of a trial or a capture, the walk of both ends through
    /// TCP's state diagram, with the packets that caused each step.
    States(StatesArguments),
    /// Run any program behind a path
    ///
    /// The program gets a network of its own, with a far end, and the path between them: a shell, a
    /// client with its server at the far end (--far), another `tcplab shell`. No root needed where
    /// the kernel allows user namespaces.
    Shell(ShellArguments),
    /// Put a path between two network interfaces
    ///
    /// For real hosts, virtual machines and containers: each frame that comes in at one interface
    /// goes out at the other, if and when the path says so.
    Bridge(BridgeArguments),
    /// Look at paths: those that come with tcplab, and your own
    Path(PathArguments),
    /// Write the path's ground truth log as a table
    ///
    /// A recording (the directory of a trial, or what `tcplab shell --capture` left) holds the
    /// path's verdict on every packet. As Parquet, notebooks and databases read it at once, and it
    /// takes a tenth of the room; as JSON Lines, everything does.
    Export(ExportArguments),
    /// Decide about a recording's packets once more, and compare
    ///
    /// What a path does depends on its plan, the seed, and which packets came when. So the packets
    /// of a recording (the directory of a trial, or what `tcplab shell --capture` left), sent
    /// through the same path in virtual time, must meet the same verdicts, one by one. Exit code 1
    /// when some differ.
    Replay(ReplayArguments),
    /// Hold packetdrill scripts against a model of TCP, in virtual time
    ///
    /// A script says what application and network do to a TCP, and what it must answer, packet by
    /// packet. The suites that kernels are tested with run on the models of tcplab's stacks: in
    /// milliseconds, without privileges, the same each time.
    Packetdrill(PacketdrillArguments),
    /// Compare the model of TCP with this machine's kernel
    ///
    /// Runs the same cases in both worlds, the kernel's first, and prints for each case the model's
    /// figures over the kernel's: ratios of medians over the trials, which have the same seeds in
    /// both. Below them stand how far the ratios lie from 1 over all cases, what chance alone makes
    /// of the kernel against itself, and the goals. Both runs stay as ordinary run directories
    /// below the output directory; the same command goes on with what is not finished there, and
    /// runs the kernel's trials only once. fidelity.json, fidelity.csv and fidelity.html lie beside
    /// them. Exit code 0 when the comparison was made, 1 with --within when a goal is missed, 2
    /// when it could not be made.
    Fidelity(FidelityArguments),
    /// Serve, in the ways one learns to write servers
    ///
    /// One service, seven ways to carry its connections: one after the other, a process or a thread
    /// for each, a fixed number of either, an event loop. What differs between two of them is the
    /// design, not the service. It listens on this machine only, unless told otherwise, and prints
    /// where.
    Server(ServerArguments),
    /// Put load on a server, and measure what it makes of it
    ///
    /// Time to connect, latency (to the first byte of an answer), response time (to the last) and
    /// data rate, with the errors by kind. Every answer is checked, its content too.
    Load(LoadArguments),
    /// Say what this machine can do, a line each
    ///
    /// Each ability is tried: namespaces, devices, congestion controls, timers. A line that is not
    /// good comes with what would make it so. Exit code 2 when experiments on the kernel cannot run
    /// here; those in virtual time can everywhere.
    Doctor(DoctorArguments),
    /// List the socket options of this machine, and what each does
    ///
    /// Name as in the man page, level, default as a fresh TCP socket has it (and UDP's where it
    /// differs), unit and range, what it does, the sysctl that the default or the limit comes from,
    /// what setting it needs. What this kernel does not have is shown as absent.
    Sockopts(SockoptsArguments),
    /// Say which settings suit a path, why, and what they gain
    ///
    /// Buffers, congestion control, options, write sizes, for embedded stacks numbers of buffers:
    /// for a path that is known by its figures, for the connection in a capture, or for the
    /// variants of a run. What can be tried is tried, before and after.
    Advise(Box<AdviseArguments>),
    /// Test a path by the procedure of RFC 6349
    ///
    /// Path MTU, baseline round trip and bottleneck, bandwidth-delay product, and what TCP makes of
    /// the path with one connection over a sweep of windows and with several.
    Rfc6349(Box<Rfc6349Arguments>),
    /// List what trials are measured by: names, units, which way is good, who tells it
    ///
    /// The names that claims, plots, comparisons, tables and reports use.
    Metrics(MetricsArguments),
    /// For tcplab's own use: the process of a trial
    #[command(name = WORLD, hide = true)]
    World {
        /// Task and caller.
        arguments: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Io {
    /// TUN devices: fastest; needs /dev/net/tun
    Tun,
    /// veth pairs and packet sockets
    PacketSocket,
}

/// How frames are moved, whatever the path does to them.
#[derive(Debug, Clone, Args)]
pub(crate) struct TuningArguments {
    /// How long before a packet's time the thread that moves packets stops sleeping and polls, from
    /// 0 to 1 ms
    ///
    /// To wake up from sleep takes 30 to 100 µs on common machines, which packets would come late:
    /// more makes their times more exact on a machine that wakes slowly, and 0 always sleeps. It
    /// costs a processor that long for each packet; where packets follow one another more closely,
    /// seven eighths of a processor, which the programs at both ends may miss. Written down with
    /// all that is recorded.
    #[arg(long, value_name = "SPAN", default_value_t = Tuning::default().spin, value_parser = spin)]
    pub(crate) spin: Span,
}

impl TuningArguments {
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning { spin: self.spin, ..Tuning::default() }
    }
}

/// Reads how long to poll.
fn spin(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error: UnitError| error.to_string())?;
    let longest = Tuning::LONGEST_SPIN;
    if span > longest {
        return Err(format!(
            "{text} is more than {longest}: to poll longer gains nothing, and takes a processor \
             from the programs at both ends"
        ));
    }
    Ok(span)
}

#[derive(Debug, Args)]
pub(crate) struct ScenariosArguments {
    /// Print this one's file, as a start for your own
    pub(crate) name: Option<String>,
    /// List as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// A run directory; by default the newest finished run
    pub(crate) run: Option<PathBuf>,
    /// Where run directories are looked for
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

/// How a run's tables are printed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Shown {
    /// Print every metric, not only those that people ask for first
    #[arg(long)]
    pub(crate) details: bool,
    /// Print the run's tables as JSON instead of text
    #[arg(long, conflicts_with = "details")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The recording: a directory with a path.jsonl and DONE, such as
    /// runs/NAME/TIME-HASH/trials/CASE-1
    pub(crate) recording: PathBuf,
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "parquet")]
    pub(crate) format: Format,
    /// The file to write; by default path.parquet or path.jsonl here, `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns, for notebooks and databases
    Parquet,
    /// JSON Lines: an object for each packet
    Jsonl,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The recording: a directory with a path.jsonl and DONE
    pub(crate) recording: PathBuf,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct FidelityArguments {
    /// Names of experiments that come with tcplab, or scenario files (*.toml), whose stacks are the
    /// kernel's
    #[arg(required = true, value_name = "SCENARIO")]
    pub(crate) scenarios: Vec<String>,
    /// Trials of each case in each world instead of the scenario's number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) repetitions: Option<u32>,
    /// One trial of each case in each world: no medians, only a first look
    #[arg(long, conflicts_with = "repetitions")]
    pub(crate) quick: bool,
    /// Seed of all randomness instead of the scenarios'
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where both runs and the comparison are kept
    #[arg(long, short, value_name = "DIR", default_value = "runs/fidelity")]
    pub(crate) output: PathBuf,
    /// Fail, with exit code 1, when a goal is missed
    #[arg(long)]
    pub(crate) within: bool,
    /// How frames get out of the kernel's endpoints; by default the fastest way that is allowed
    #[arg(long, value_name = "WAY")]
    pub(crate) io: Option<Io>,
    /// Run a path that is faster than this machine can model with confidence
    #[arg(long)]
    pub(crate) allow_above_ceiling: bool,
    /// Print the comparison as JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses the command line; on a mistake says so and ends with 2, as clap does.
pub(crate) fn parse() -> Command {
    Cli::parse().command
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn resume_takes_a_directory_or_none() {
        for (line, expected) in [
            ("tcplab run --resume", Some(None)),
            ("tcplab run interruption --resume", Some(None)),
            ("tcplab run --resume runs/x/y", Some(Some(PathBuf::from("runs/x/y")))),
            ("tcplab run interruption", None),
        ] {
            let Command::Run(arguments) = Cli::parse_from(line.split(' ')).command else {
                panic!("{line} is a run");
            };
            assert_eq!(arguments.resume, expected, "{line}");
        }
        assert!(Cli::try_parse_from(["tcplab", "run"]).is_err());
    }

    #[test]
    fn polling_is_set_within_its_range() {
        let spin = |value: &str| {
            let lines = [
                &["tcplab", "run", "interruption", "--spin", value][..],
                &["tcplab", "shell", "--spin", value],
                &["tcplab", "bridge", "-", "a", "b", "--spin", value],
            ];
            let told = lines.map(|line| match Cli::try_parse_from(line).map(|cli| cli.command) {
                Ok(Command::Run(arguments)) => Ok(arguments.tuning.tuning().spin),
                Ok(Command::Shell(arguments)) => Ok(arguments.using.tuning.tuning().spin),
                Ok(Command::Bridge(arguments)) => Ok(arguments.using.tuning.tuning().spin),
                Ok(other) => panic!("{other:?}"),
                Err(error) => Err(error.to_string()),
            });
            let [run, shell, bridge] = told;
            // What is told of a mistake ends with each command's own usage.
            assert_eq!((run.is_ok(), run.clone().ok()), (shell.is_ok(), shell.ok()), "{value}");
            assert_eq!(run.clone().ok(), bridge.ok(), "{value}");
            run
        };
        for (value, micros) in [("0 µs", 0), ("60 µs", 60), ("150µs", 150), ("1 ms", 1000)] {
            assert_eq!(spin(value), Ok(Span::from_micros(micros)), "{value}");
        }
        for (value, why) in [
            ("1001 µs", "1001 µs is more than 1 ms: to poll longer gains nothing"),
            ("1 s", "1 s is more than 1 ms"),
            ("60", "60"),
            ("60 Mbit/s", "60 Mbit/s"),
        ] {
            let told = spin(value).unwrap_err();
            assert!(told.contains(why) && told.contains("--spin"), "{value}: {told}");
        }
    }

    #[test]
    fn the_page_says_what_the_help_says() {
        let page = page();
        if std::env::var_os("TCPLAB_BLESS").is_some() {
            std::fs::write(PAGE, &page).unwrap();
        }
        let written = std::fs::read_to_string(PAGE).unwrap_or_default();
        assert!(
            written == page,
            "docs/cli.md is out of date: make it anew with `TCPLAB_BLESS=1 cargo test -p tcplab`"
        );
    }

    /// The help of every command, as a terminal 100 columns wide shows it.
    fn page() -> String {
        let mut page = "# The command line\n\nMade from the definitions that parse it \
                        (`TCPLAB_BLESS=1 cargo test -p tcplab`).\n"
            .to_owned();
        let mut tcplab = Cli::command().term_width(100);
        tcplab.build();
        page += &section(&mut tcplab);
        let names: Vec<String> = tcplab
            .get_subcommands()
            .filter(|command| !command.is_hide_set() && command.get_name() != "help")
            .map(|command| command.get_name().to_owned())
            .collect();
        for name in names {
            let command = tcplab.find_subcommand_mut(&name).expect("just listed");
            page += &section(command);
            for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
                page += &section(inner);
            }
        }
        page
    }

    fn section(command: &mut clap::Command) -> String {
        let name = command.get_bin_name().unwrap_or("tcplab").to_owned();
        let help = command.render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        format!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end())
    }
}
