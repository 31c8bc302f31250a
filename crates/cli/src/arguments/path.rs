//! What has to do with a path by itself.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use tcplab_units::Span;

use super::{Io, TuningArguments};

/// Which path: the same everywhere.
#[derive(Debug, Args)]
pub(crate) struct PathChoice {
    /// The path: the name of a preset (`tcplab path presets`), a path file, or a scenario file,
    /// whose [path] is used (*.toml); `-` is a path that does nothing but what --set adds
    #[arg(value_name = "PATH", default_value = "-", hide_default_value = true)]
    pub(crate) path: String,
    /// Set a key of the path, such as `-s delay="20 ms"` or `-s forward.loss="1 %"`; can be given
    /// several times
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// How a path is used by itself.
#[derive(Debug, Args)]
pub(crate) struct UseArguments {
    /// Leave a recording here: client.pcapng, server.pcapng, path.jsonl (why each packet was
    /// dropped), result.json; the directory must not exist yet, or be empty
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,
    /// Keep only the first bytes of each packet in the captures
    #[arg(long, value_name = "BYTES", requires = "capture")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) snaplen: Option<u32>,
    #[command(flatten)]
    pub(crate) tuning: TuningArguments,
    /// Show each second what goes through
    #[arg(long)]
    pub(crate) live: bool,
    /// Say nothing at the end
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Write what is said at the end, and more, to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Seed of the path's randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
#[command(after_help = SHELL_EXAMPLES)]
pub(crate) struct ShellArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// The program and its arguments; by default your shell ($SHELL)
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
    /// Run this at the far end, such as a server, as long as CMD runs; words for `sh -c`. Its
    /// output goes to standard error
    #[arg(long, value_name = "CMD")]
    pub(crate) far: Option<OsString>,
    /// Start CMD only when the far program listens on this TCP port; by default, when it listens on
    /// any port, or after a second
    #[arg(long, value_name = "PORT", requires = "far")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) wait_for: Option<u16>,
    /// Let the far end be the network that tcplab is started in, instead of an empty one; the
    /// default inside another `tcplab shell`, so that paths add up. Elsewhere it takes root
    #[arg(long, overrides_with = "no_join")]
    pub(crate) join: bool,
    /// Let the far end be an empty network, inside another `tcplab shell`, too
    #[arg(long)]
    pub(crate) no_join: bool,
    #[command(flatten)]
    pub(crate) using: UseArguments,
    /// How frames get out of the ends; by default the fastest way that is allowed
    #[arg(long, value_name = "WAY")]
    pub(crate) io: Option<Io>,
    /// Largest packet of the devices at both ends, in bytes of IP
    #[arg(long, value_name = "BYTES", default_value_t = 1500)]
    #[arg(value_parser = clap::value_parser!(u32).range(68..=65_535))]
    pub(crate) mtu: u32,
    /// Congestion control of what is sent at both ends, such as `cubic` or `bbr`, where a program
    /// asks for no other
    ///
    /// It holds from a connection's first packet on. Programs that choose by themselves may do so
    /// later: `iperf3 -C` changes it once connected, and a connection that began with BBR stays
    /// paced, which makes another slow start of CUBIC's.
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
}

const SHELL_EXAMPLES: &str = "\
Examples:
  tcplab shell dsl-25                             your shell behind a DSL line
  tcplab shell lte --far 'iperf3 -s' --wait-for 5201 -- sh -c 'iperf3 -c $TCPLAB_FAR'
  tcplab shell -s delay='20 ms' -s loss='1 %' --far 'python3 -m http.server' -- \\
      sh -c 'curl -O http://$TCPLAB_FAR:8000/file'
  tcplab shell dsl-25 -- tcplab shell -s loss='1 %' -- ping -c 3 10.98.0.2    both paths, in a row
  tcplab shell geo-satellite --congestion bbr --far 'iperf3 -s' -- sh -c 'iperf3 -c $TCPLAB_FAR'
  tcplab shell my-path.toml --capture seen --live -- ./my-client

CMD finds itself in a network of its own: 10.98.N.1 on tcplab0, the far end is 10.98.N.2
($TCPLAB_NEAR, $TCPLAB_FAR; also $TCPLAB_PATH and, counting shells, $TCPLAB_SHELL), IPv4 only, with
no way out: no DNS, no Internet, and what leads nowhere is refused. The loopback works. Without
privilege, CMD sees itself as root (as with `unshare -r`), and is you to all files.

When CMD ends, what it sent is still delivered; then the far program and whatever CMD left in the
background are ended: first asked to (TERM), after two seconds killed.

Exit codes: that of CMD (128 + N when signal N ended it, 127 not found, 126 not executable); 2 when
there was no shell.";

#[derive(Debug, Args)]
#[command(after_help = BRIDGE_EXAMPLES)]
pub(crate) struct BridgeArguments {
    /// The path: the name of a preset (`tcplab path presets`), a path file, or a scenario file,
    /// whose [path] is used (*.toml); `-` is a path that does nothing but what --set adds
    pub(crate) path: String,
    /// The interface from which packets go forward
    #[arg(value_name = "IFACE_A")]
    pub(crate) first: String,
    /// The interface from which packets go in reverse
    #[arg(value_name = "IFACE_B")]
    pub(crate) second: String,
    /// Set a key of the path, such as `-s delay="20 ms"` or `-s forward.loss="1 %"`; can be given
    /// several times
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// End after this time, such as `30s`; by default on Ctrl-C
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) lasting: Option<Span>,
    #[command(flatten)]
    pub(crate) using: UseArguments,
}

const BRIDGE_EXAMPLES: &str = "\
Examples:
  tcplab bridge dsl-25 eth1 eth2                     two hosts, each on a port of this machine
  tcplab bridge - tap0 tap1 -s delay='20 ms' --live  two virtual machines
  tcplab bridge lte vethA vethB --for 60s --capture seen

Frames keep their Ethernet headers and VLAN tags. What is no IP (ARP, spanning tree) goes through
the path as well, in one piece, but into no capture. Needs CAP_NET_RAW and CAP_NET_ADMIN, so mostly
root. The interfaces must be up, and are best without addresses and part of no other bridge; they
are in promiscuous mode as long as tcplab runs, and nothing else about them is changed.";

#[derive(Debug, Args)]
#[command(after_help = PATH_EXAMPLES)]
pub(crate) struct PathArguments {
    #[command(subcommand)]
    pub(crate) command: PathCommand,
}

const PATH_EXAMPLES: &str = "\
Examples:
  tcplab path presets                     paths that are well known
  tcplab path presets dsl-25 > my.toml    a start for your own
  tcplab path show dsl-25                 what it does to packets, in words
  tcplab path show my.toml -s delay='50 ms'
  tcplab path plot lte-handover -o lte.svg
  tcplab path verify dsl-25               whether this machine keeps what it promises
  tcplab path tc dsl-25 --client-side eth1 --server-side eth2 > dsl.sh    the same by the kernel";

#[derive(Debug, Subcommand)]
pub(crate) enum PathCommand {
    /// List the paths that come with tcplab, each with its source, or print one
    Presets(PresetsArguments),
    /// Say what a path does to packets, in words
    Show(ShowArguments),
    /// Draw what a path will do: rate, delay and loss over time
    ///
    /// An SVG for browsers and documents, light or dark as its reader prefers: what the path can
    /// send and what cross traffic leaves of it; how long packets take, with the jitter of 98 % of
    /// them and the wait in a full queue; what share is lost, and when nothing passes.
    Plot(PlotArguments),
    /// Measure whether a path does on this machine what it promises
    ///
    /// Prints what was asked for beside what came out: rate, delay, jitter, loss, and all else that
    /// the path does, in both directions; measured with probes and the kernel's own time stamps,
    /// and once more in virtual time over a million packets. What was asked for is reckoned from
    /// the path's numbers, never by running the emulator. Exit code 1 when something is off.
    Verify(VerifyArguments),
    /// Print a path as commands of tc, for a box between client and server
    ///
    /// The commands let the kernel's own queueing disciplines (tbf, netem and others) do what the
    /// path says, each with a comment of what it stands for. What is nearly the same is told at the
    /// top. What netem cannot do is refused, all of it, with exit code 2.
    Tc(TcArguments),
}

#[derive(Debug, Args)]
pub(crate) struct PresetsArguments {
    /// Print this one's file, as a start for your own
    pub(crate) name: Option<String>,
    /// List as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// How much of it is drawn, from 1 ms to 1 h; by default two rounds of all that repeats, 10 s
    /// to 2 min
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) span: Option<Span>,
    /// Seed of the path's randomness: interruptions at random are those of a trial with it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The file to write; by default, and for `-`, standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print what would be drawn as JSON: times in nanoseconds, rates in bit/s
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TcArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// The interface of the box on whose side the client is
    #[arg(long, value_name = "IF", value_parser = interface)]
    pub(crate) client_side: String,
    /// The interface on whose side the server is
    #[arg(long, value_name = "IF", value_parser = interface)]
    pub(crate) server_side: String,
    /// Print the commands that take the path away again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Print as JSON: both, and what is different
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// How long to measure in real time, about: 500 ms to 10 min
    #[arg(long = "for", value_name = "TIME", default_value = "3 s", value_parser = crate::verify::lasting)]
    pub(crate) lasting: Span,
    /// Seed of all randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How frames get out of the endpoints; by default the fastest way that is allowed
    #[arg(long, value_name = "WAY")]
    pub(crate) io: Option<Io>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The name of a network interface, as `dev_valid_name` in net/core/dev.c takes it.
fn interface(text: &str) -> Result<String, String> {
    /// IFNAMSIZ, which counts an end mark.
    const MOST: usize = 15;
    let is_wrong = |c: char| c.is_whitespace() || c == '/' || c == ':';
    if text.is_empty() || text.len() > MOST || matches!(text, "." | "..") || text.contains(is_wrong)
    {
        return Err(format!(
            "no network interface has such a name: 1 to {MOST} characters without spaces, `/`, `:`"
        ));
    }
    if text.starts_with('-') {
        return Err("tc would take it for an option".into());
    }
    Ok(text.to_owned())
}
