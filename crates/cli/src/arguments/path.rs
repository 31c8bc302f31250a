//! The flags of `tcplab shell`, `tcplab bridge` and `tcplab path`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use tcplab_units::Span;

use super::amount::bytes;
use super::duration::{of_measurement, within};
use super::expectation::Expectation;
use super::live::LineMode;
use super::tuning::TuningArguments;
use super::ui::PageMode;
use super::virtual_time::VirtualArguments;
use super::{Io, JsonArguments};

/// Which path: the same everywhere.
#[derive(Debug, Args)]
pub(crate) struct PathChoice {
    /// The path: the name of a preset (`tcplab path presets`), a path file, or a scenario file,
    /// whose [path] is used (*.toml); `-` is an empty path with the keys of --set
    #[arg(value_name = "PATH", default_value = "-", hide_default_value = true)]
    pub(crate) path: String,
    /// Set a key of the path, such as `-s delay="20 ms"` or `-s forward.loss="1 %"`; repeat for
    /// several
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// How a path is used by itself.
#[derive(Debug, Args)]
pub(crate) struct UseArguments {
    /// Record into this new or empty directory: client.pcapng, server.pcapng, path.jsonl (why each
    /// packet was dropped), result.json
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,
    /// Truncate packets in the captures to this size
    #[arg(long, value_name = "BYTES", requires = "capture")]
    #[arg(value_parser = |text: &str| bytes(text, 1, u32::MAX))]
    pub(crate) snaplen: Option<u32>,
    /// Show the traffic on a page while it passes, and change the path there
    ///
    /// Prints the link to standard error, and opens a browser where there is a screen; `--ui=link`
    /// opens none. The page ends with tcplab. Without --capture it sees the first 128 bytes of each
    /// packet, of which at most 300 MB are kept in a private directory until the end.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "browser")]
    pub(crate) ui: Option<PageMode>,
    #[command(flatten)]
    pub(crate) tuning: TuningArguments,
    /// Print the traffic to standard error every second [default: a line that changes on a
    /// terminal]
    ///
    /// Not on a terminal where a program of `tcplab shell` prints, too: see --live-log and --ui.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "line")]
    pub(crate) live: Option<LineMode>,
    /// Append the traffic to this file every second; follow it by `tail -f`
    #[arg(long, value_name = "FILE", conflicts_with = "live")]
    pub(crate) live_log: Option<PathBuf>,
    /// Suppress the final summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
    /// Seed of the path's randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
#[command(after_help = SHELL_EXAMPLES)]
pub(crate) struct ShellArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// Program and arguments [default: your shell, $SHELL]
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
    /// Run this `sh -c` command at the far end while CMD runs, such as a server; its output goes to
    /// standard error
    #[arg(long, value_name = "CMD")]
    pub(crate) far_command: Option<OsString>,
    /// Start CMD when the far program listens on this TCP port [default: any port, or after 1 s]
    #[arg(long, value_name = "PORT", requires = "far_command")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) wait_for: Option<u16>,
    /// Check what was measured when CMD has ended, such as `goodput >= 5 Mbit/s` or
    /// `retransmissions <= 1 %`; repeat for several
    ///
    /// Exits with 1 if CMD succeeded and an expectation is not met or could not be measured.
    /// Without --capture it needs the first 128 bytes of each packet, of which a private directory
    /// keeps the latest 64 MiB at each end (about 380,000 packets) until CMD has ended; with more,
    /// TCP's quantities are unknown.
    #[arg(long, value_name = "EXPECTATION")]
    pub(crate) expect: Vec<Expectation>,
    /// Use the network that tcplab was started in as the far end: the default inside another
    /// `tcplab shell`, so that paths add up; elsewhere it needs root
    #[arg(long, overrides_with = "no_join")]
    pub(crate) join: bool,
    /// Use an empty network as the far end inside another `tcplab shell` too
    #[arg(long)]
    pub(crate) no_join: bool,
    #[command(flatten)]
    pub(crate) time: VirtualArguments,
    #[command(flatten)]
    pub(crate) using: UseArguments,
    /// Move frames by this device [default: the fastest that is allowed]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) io: Option<Io>,
    /// MTU of the devices at both ends, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500)]
    #[arg(value_parser = |text: &str| bytes(text, 68, 65_535))]
    pub(crate) mtu: u32,
    /// Default congestion control of both ends, such as `cubic` or `bbr`
    ///
    /// Applies from a connection's first packet. A program may change it later: `iperf3 -C` does so
    /// once connected, and a connection that began with BBR stays paced, which changes CUBIC's slow
    /// start.
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
}

const SHELL_EXAMPLES: &str = "\
Examples:
  tcplab shell dsl-25                             open your shell behind a DSL line
  tcplab shell lte --far-command 'iperf3 -s' --wait-for 5201 -- sh -c 'iperf3 -c $TCPLAB_FAR'
  tcplab shell -s delay='20 ms' -s loss='1 %' --far-command 'python3 -m http.server' -- \\
      sh -c 'curl -O http://$TCPLAB_FAR:8000/file'
  tcplab shell dsl-25 -- tcplab shell -s loss='1 %' -- ping -c 3 10.98.0.2    chain two paths
  tcplab shell geo-satellite --congestion bbr --far-command 'iperf3 -s' -- \\
      sh -c 'iperf3 -c $TCPLAB_FAR'
  tcplab shell my-path.toml --capture seen --live-log traffic.log -- ./my-client
  tcplab shell dsl-25 --ui -- ./my-client         watch, and change the path meanwhile
  tcplab shell lte --expect 'goodput >= 5 Mbit/s' --expect 'retransmissions <= 1 %' -- ./my-client
  tcplab shell --near linux-7.2 --far linux-6.12 --far-command 'iperf3 -s' dsl-25 -- \\
      sh -c 'iperf3 -c $TCPLAB_FAR'               on two kernels, in virtual time

CMD runs in a network of its own: 10.98.N.1 on tcplab0; the far end is 10.98.N.2. $TCPLAB_NEAR and
$TCPLAB_FAR hold these addresses, $TCPLAB_PATH the path, $TCPLAB_SHELL the depth of nested shells.
The network has IPv4 and a loopback, no DNS and no Internet. Without privileges, CMD sees itself as
root (as with `unshare -r`) and accesses files as you.

When CMD exits, tcplab delivers what it sent, then terminates the far program and CMD's background
processes (SIGTERM, and SIGKILL after two seconds). Nothing stays either when tcplab is killed, or
all in the terminal's foreground (`timeout -s KILL`). Only where both of its processes are killed at
once (`pkill -KILL tcplab`) may programs stay; packets in /tmp go with the next --expect or --ui.

In virtual time (--world sim, --near, --far) each end is a Linux that `tcplab kernel build` made.
Its clock moves only while all programs wait, and begins at 2000-01-01. The same seed gives the same
packets. CMD sees your files, but its own /tmp, /run and /dev/shm (the current directory stays
yours), and has neither an input nor a terminal. A program that polls without sleeping is ended.

An expectation is a quantity, one of >= <= > < ==, and an amount with its unit. Quantities:
  goodput                                 data of all TCP connections and both directions, each
                                          byte once, from the first data to the last
                                          acknowledgement; UDP does not count
  retransmissions                         of all connections, a number, or a share in % of the
                                          segments with data, SYN or FIN
  rtt.mean                                mean of all RTT samples of data
  rtt.median, rtt.p95, rtt.max            the largest of any direction of any connection
  rtt.min                                 the smallest
  connections                             those that opened
  resets                                  connections that were refused, or ended by an RST
  drops                                   packets of both ends that the path dropped, a number or a
                                          share in %
  duration                                first packet to last packet of all connections
  bytes                                   data that were acknowledged

Exit codes: that of CMD (128 + N if signal N ended it, 127 not found, 126 not executable); 1 if CMD
succeeded and an expectation is not met or unknown; 2 if the shell could not start.";

#[derive(Debug, Args)]
#[command(after_help = BRIDGE_EXAMPLES)]
pub(crate) struct BridgeArguments {
    /// The path: the name of a preset (`tcplab path presets`), a path file, or a scenario file,
    /// whose [path] is used (*.toml); `-` is an empty path with the keys of --set
    pub(crate) path: String,
    /// Interface whose packets go forward
    #[arg(value_name = "IFACE_A")]
    pub(crate) first: String,
    /// Interface whose packets go in reverse
    #[arg(value_name = "IFACE_B")]
    pub(crate) second: String,
    /// Set a key of the path, such as `-s delay="20 ms"` or `-s forward.loss="1 %"`; repeat for
    /// several
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Stop after this time, such as `30s` [default: on Ctrl-C]
    #[arg(long, value_name = "DURATION")]
    pub(crate) duration: Option<Span>,
    #[command(flatten)]
    pub(crate) using: UseArguments,
}

const BRIDGE_EXAMPLES: &str = "\
Examples:
  tcplab bridge dsl-25 eth1 eth2                     connect two hosts, each on a port of this machine
  tcplab bridge - tap0 tap1 -s delay='20 ms' --live  connect two virtual machines
  tcplab bridge lte vethA vethB --duration 60s --capture seen
  tcplab bridge lte eth1 eth2 --ui                   watch on a page, and change the path

Frames keep their Ethernet headers and VLAN tags. Other protocols than IP (ARP, spanning tree) pass
through the path too, but not into captures. Needs CAP_NET_RAW and CAP_NET_ADMIN, mostly root. The
interfaces must be up, and should have no addresses and belong to no other bridge. tcplab sets them
to promiscuous mode while it runs and changes nothing else.";

#[derive(Debug, Args)]
#[command(after_help = PATH_EXAMPLES)]
pub(crate) struct PathArguments {
    #[command(subcommand)]
    pub(crate) command: PathCommand,
}

const PATH_EXAMPLES: &str = "\
Examples:
  tcplab path presets                     list well-known paths
  tcplab path presets dsl-25 > my.toml    start your own
  tcplab path show dsl-25                 describe what it does to packets
  tcplab path show my.toml -s delay='50 ms'
  tcplab path plot lte-handover -o lte.svg
  tcplab path verify dsl-25               check that this machine emulates it accurately
  tcplab path tc dsl-25 --client-side eth1 --server-side eth2 > dsl.sh";

#[derive(Debug, Subcommand)]
pub(crate) enum PathCommand {
    /// List the built-in paths with their sources, or print one
    Presets(PresetsArguments),
    /// Describe what a path does to packets
    Show(ShowArguments),
    /// Draw a path's rate, delay and loss over time
    ///
    /// Writes an SVG that stands alone, for browsers and documents: the rate, and what cross
    /// traffic leaves of it; the delay, with the jitter of 98 % of packets and the wait in a full
    /// queue; the loss; the interruptions.
    Plot(PlotArguments),
    /// Measure how accurately this machine emulates a path
    ///
    /// Prints configured and measured rate, delay, jitter, loss and other effects of both
    /// directions: in real time with probes and the kernel's time stamps, and in virtual time over
    /// a million packets. Computes the configured values from the path's numbers, not with the
    /// emulator. Exits with 1 if a value is off.
    Verify(VerifyArguments),
    /// Print a path as tc commands for a router between client and server
    ///
    /// Emulates the path with the kernel's queueing disciplines (tbf, netem and others), with a
    /// comment for each command. A header lists small differences. Exits with 2 and a list if netem
    /// cannot do what the path says.
    Tc(TcArguments),
}

#[derive(Debug, Args)]
pub(crate) struct PresetsArguments {
    /// Print this path file, as a start for your own
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// Draw this long, 1 ms to 1 h [default: two periods of what repeats, 10 s to 2 min]
    #[arg(long, value_name = "DURATION", value_parser = of_picture)]
    pub(crate) duration: Option<Span>,
    /// Seed of the path's randomness: random interruptions are those of a trial with this seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write this file, in the format of its ending: svg, png, pdf, csv or json [default: SVG to
    /// standard output]
    ///
    /// PNG and PDF need `rsvg-convert` (Debian: librsvg2-bin) or `inkscape`. The CSV has rate,
    /// delay and queue of each direction over time; outages and loss are in JSON alone.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TcArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// The router's interface on the client's side
    #[arg(long, value_name = "IF", value_parser = interface)]
    pub(crate) client_side: String,
    /// The router's interface on the server's side
    #[arg(long, value_name = "IF", value_parser = interface)]
    pub(crate) server_side: String,
    /// Print the commands that remove the path
    #[arg(long)]
    pub(crate) undo: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    pub(crate) choice: PathChoice,
    /// Measure for about this long in real time, 500 ms to 10 min; a path on which a packet takes
    /// longer, and more than 10 s, is not measured
    #[arg(long, value_name = "DURATION", default_value = "3 s", value_parser = of_measurement)]
    pub(crate) duration: Span,
    /// Seed of all randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Move the endpoints' frames by this device [default: the fastest that is allowed]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) io: Option<Io>,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

/// Below a millisecond a packet's own time counts; beyond an hour nothing is visible.
fn of_picture(text: &str) -> Result<Span, String> {
    within(text, Span::from_millis(1), Span::from_secs(60 * 60))
}

/// The name of a network interface, as `dev_valid_name` in net/core/dev.c takes it.
fn interface(text: &str) -> Result<String, String> {
    /// IFNAMSIZ, which counts an end mark.
    const MOST: usize = 15;
    let is_wrong = |c: char| c.is_whitespace() || c == '/' || c == ':';
    if text.is_empty() || text.len() > MOST || matches!(text, "." | "..") || text.contains(is_wrong)
    {
        return Err(format!(
            "not an interface name: use 1 to {MOST} characters without spaces, `/` and `:`"
        ));
    }
    if text.starts_with('-') {
        return Err("not an interface name: tc would read it as an option".into());
    }
    Ok(text.to_owned())
}
