//! What has to do with captures from anywhere.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use tcplab_plot::xpl::XplGraph;
use tcplab_trace::Filter;
use tcplab_units::Span;

/// What shows packets, and may show some of them only.
const BY_PACKET: &str = "by_packet";

#[derive(Debug, Args)]
#[command(after_help = TRACE_EXAMPLES)]
#[command(group = ArgGroup::new(BY_PACKET).args(["listing", "ladder", "ladder_svg"]).multiple(true))]
pub(crate) struct TraceArguments {
    /// Captures: pcap or pcapng, also compressed with gzip or zstd; `-` is standard input. Several
    /// are read as one, in the order of time (frames are then numbered as in what mergecap makes)
    #[arg(value_name = "FILE", required_unless_present_any = ["interface", "client"])]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) both: BothArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
    #[command(flatten)]
    pub(crate) live: LiveArguments,
    #[command(flatten)]
    pub(crate) outputs: Outputs,
    /// Look only at packets that pass this expression: `host ADDRESS`, `net ADDRESS/LENGTH`, `port
    /// N` or `port N-M` (all of either end), `time FROM..UNTIL` (since the first packet; either may
    /// be left out), joined by `and`, `or`, `not` and parentheses
    #[arg(long, value_name = "EXPRESSION", value_parser = |text: &str| Filter::parse(text))]
    pub(crate) filter: Option<Filter>,
}

/// Two captures of the same connections.
#[derive(Debug, Args)]
pub(crate) struct BothArguments {
    /// Join two captures of the same connections packet by packet, this one taken near the client:
    /// what was lost, copied and reordered between them, how long each way took, how the clocks
    /// stand; and what the analysis of one capture alone gets wrong. Addresses and ports must be
    /// the same in both (no NAT between)
    #[arg(long, value_name = "FILE", requires = "server", conflicts_with_all = JOINED_ALONE)]
    pub(crate) client: Option<PathBuf>,
    /// The other one, taken near the server
    #[arg(long, value_name = "FILE", requires = "client")]
    pub(crate) server: Option<PathBuf>,
}

/// What has no meaning for two captures.
const JOINED_ALONE: [&str; 10] = [
    "files",
    "interface",
    "filter",
    "connection",
    "listing",
    "ladder",
    "from",
    "to",
    "jsonl",
    "ladder_svg",
];

/// How the answer is shown.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct ViewArguments {
    /// Show so many connections
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "all")]
    pub(crate) top: usize,
    /// Show all connections
    #[arg(long)]
    pub(crate) all: bool,
    /// Show this connection in depth: the number in the table, which counts from 0 as Wireshark's
    /// tcp.stream does
    #[arg(long, short, value_name = "N")]
    pub(crate) connection: Option<usize>,
    /// Show its packets, a line each, with why each was sent
    #[arg(long, conflicts_with_all = ["ladder", "json", "jsonl"])]
    pub(crate) listing: bool,
    /// Show its packets as a ladder diagram; runs of alike packets are folded
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    pub(crate) ladder: bool,
    /// Begin listing or ladder here: a time since the first packet, such as `1.5s`, or a frame,
    /// such as `1200`
    #[arg(long, value_name = "PLACE", requires = BY_PACKET)]
    pub(crate) from: Option<Place>,
    /// End it here
    #[arg(long, value_name = "PLACE", requires = BY_PACKET)]
    pub(crate) to: Option<Place>,
    /// In the ladder, show the data from server to client; by default the direction with more data
    #[arg(long, conflicts_with = "forward", requires = BY_PACKET)]
    pub(crate) reverse: bool,
    /// In the ladder, show the data from client to server
    #[arg(long, requires = BY_PACKET)]
    pub(crate) forward: bool,
    /// Print everything as one JSON object: all connections, or that of --connection, with all
    /// their packets
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) json: bool,
    /// Print JSON Lines while reading: an object for each stall, limit and episode when it is over,
    /// then one for its connection, without its packets, and each finding (recovery episodes are
    /// told by their own lines); at last one for the capture
    #[arg(long)]
    pub(crate) jsonl: bool,
}

/// Capturing here and now.
#[derive(Debug, Args)]
pub(crate) struct LiveArguments {
    /// Capture on this network interface instead, or on all of them (`any`), until Ctrl-C; needs
    /// CAP_NET_RAW
    #[arg(long, short, value_name = "IFACE", conflicts_with = "files")]
    pub(crate) interface: Option<String>,
    /// Stop capturing after this time, such as `30s`
    #[arg(long = "for", value_name = "SPAN", requires = "interface", conflicts_with = "files")]
    pub(crate) lasting: Option<Span>,
    /// Stop capturing after so many packets
    #[arg(long, value_name = "N", requires = "interface", conflicts_with = "files")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) packets: Option<u64>,
    /// Keep what was captured, and passed the filter, in this file, as pcapng
    #[arg(long, short, value_name = "FILE", requires = "interface", conflicts_with = "files")]
    pub(crate) write: Option<PathBuf>,
    /// Keep only the first bytes of each packet in that file
    #[arg(long, value_name = "BYTES", requires = "write", conflicts_with = "files")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) snaplen: Option<u32>,
}

/// Files to write beside what is shown.
#[derive(Debug, Args)]
pub(crate) struct Outputs {
    /// Write the ladder diagram to this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) ladder_svg: Option<PathBuf>,
    /// Write a page for a browser to this file: all connections, and what hurts most with its
    /// graphs and ladders (as many as --top says, at most 10, or that of --connection)
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a copy of the capture to this file, as pcapng, with comments that Wireshark shows:
    /// what is sent again and why, what was lost, stalls, the evidence of findings
    #[arg(long, value_name = "FILE")]
    pub(crate) annotate: Option<PathBuf>,
    /// Write a line for each connection to this file, as CSV, with the names and meanings of
    /// tcptrace's columns
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write tables of connections, segments, acknowledgements, episodes, stalls and limits to this
    /// directory, as Parquet files
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write graphs for xplot to this directory, as tcptrace draws and names them (`a2b_tsg.xpl`)
    #[arg(long, value_name = "DIR")]
    pub(crate) xpl: Option<PathBuf>,
    /// Draw these of them: sequence numbers, throughput, round trips, data in flight
    #[arg(long, value_name = "GRAPHS", requires = "xpl", value_delimiter = ',')]
    #[arg(value_parser = graphs(), default_value = "tsg,tput,rtt,owin")]
    pub(crate) graphs: Vec<XplGraph>,
}

/// Reads the name of a graph.
fn graphs() -> impl TypedValueParser<Value = XplGraph> {
    PossibleValuesParser::new(XplGraph::ALL.map(XplGraph::name)).map(|name| {
        let named = XplGraph::ALL.into_iter().find(|graph| graph.name() == name);
        named.expect("the parser knows only names of graphs")
    })
}

/// Where a listing begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// So long after the first packet.
    Time(Span),
    /// The frame of that number, counted from 1.
    Frame(u64),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        if let Ok(frame) = text.trim_start_matches('#').parse() {
            return Ok(Place::Frame(frame));
        }
        text.parse().map(Place::Time).map_err(|_| {
            "expected a time since the first packet, such as `1.5s`, or a frame's number".into()
        })
    }
}

const TRACE_EXAMPLES: &str = "\
Examples:
  tcplab trace web.pcap.zst                            connections, what hurts most first
  tcplab trace web.pcap.zst --connection 3             one of them in depth
  tcplab trace web.pcap.zst -c 3 --listing --from 1.2s --to 1.5s
  tcplab trace web.pcap.zst -c 3 --ladder --from 5012 --to 5100 --ladder-svg loss.svg
  tcplab trace a.pcapng b.pcapng.gz --filter 'net 10.0.0.0/8 and not port 22'
  tcplab trace -i eth0 --for 30s -w seen.pcapng        capture first
  ssh host tcpdump -s 128 -w - tcp | tcplab trace -
  tcplab trace --client here.pcap --server there.pcap  what happened between the two
  tcplab trace web.pcap.zst --html web.html --annotate explained.pcapng
  tcplab trace web.pcap.zst -c 3 --xpl graphs --graphs tsg,owin --csv web.csv --parquet tables
  tcplab trace web.pcap.zst --jsonl | jq 'select(.type == \"stall\")'

The table has two lines for each connection: above, what the client sent; below, what the server
sent; the last columns and round trips are of the direction with more data. `again` is the share of
segments sent again. Connections are sorted by the time they lost: in each direction the time under
a limit other than the application and the path's rate, or the time it stood still although there
was something to send, whichever is longer, and the share of the transfer's time that data sent
again took. One that never came about has lost all its time and a second.

Packets are explained by what can be seen where they were captured, best beside the sender. Of each
packet 128 bytes are enough (`tcpdump -s 128`). What is wrong with a capture (cut off, packets
dropped) is told in lines that begin with `!`, and the rest is analysed all the same.

Files are written beside what is shown, all in the same pass as far as that goes; --filter and
--connection hold for them too. --annotate copies every packet, those that were not looked at as
they are, and it and --html read the capture a second time: from standard input or an interface,
keep it first. Columns of --csv and --parquet are explained in docs/tables.md.

Exit codes: 0 there is an answer, 2 nothing could be read, or a file not be written.";
