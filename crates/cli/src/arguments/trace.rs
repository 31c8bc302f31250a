//! The flags of `tcplab trace`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use tcplab_plot::RttKind;
use tcplab_plot::xpl::XplGraph;
use tcplab_report::GraphChoice;
use tcplab_trace::{Analyzer, Collector, DisplayFilter, Filter, PacketField};
use tcplab_units::{Bytes, Span, UnitError};

use super::JsonArguments;
use super::amount::bytes;
use super::duration::within;

/// What has graphs.
const GRAPHED: &str = "graphed";
/// What shows packets, and may show some of them only.
const BY_PACKET: &str = "by_packet";
const SHOWING_PACKETS: [&str; 5] = ["listing", "display_filter", "field", "ladder", "ladder_svg"];

#[derive(Debug, Args)]
#[command(after_help = TRACE_EXAMPLES)]
#[command(group = ArgGroup::new(BY_PACKET).args(SHOWING_PACKETS).multiple(true))]
pub(crate) struct TraceArguments {
    /// Captures: pcap, pcapng, snoop, Network Monitor or ERF, also compressed with gzip or zstd;
    /// `-` is standard input, a directory all captures in it; those of both ends in a recording are
    /// joined. Merges several by time (frame numbers are those of mergecap)
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
    /// Analyse only matching packets: `host ADDRESS`, `net ADDRESS/LENGTH`, `port N`, `port N-M`
    /// (of either end), `time FROM..UNTIL` (since the first packet; either may be left out), `part
    /// K/N` (of all connections one of N parts, from 1), joined by `and`, `or`, `not` and
    /// parentheses
    #[arg(long, value_name = "EXPRESSION", value_parser = |text: &str| Filter::parse(text))]
    pub(crate) filter: Option<Filter>,
    /// Limit the memory for connections, such as `512MB` (at least 64 MB): beyond it, those idle
    /// for longest end early, and a note counts them. Packets that an output keeps come on top
    #[arg(long, value_name = "LIMIT", value_parser = memory)]
    #[arg(conflicts_with_all = ["annotate", "parquet", "listing", "display_filter", "field", "ladder"])]
    pub(crate) memory: Option<Bytes>,
    /// Analyse connections in N threads, each the packets of some of them, beside the one that
    /// reads and writes; with 1 that one does all. The output is the same [default: the processors,
    /// at most 8; 1 for standard input, a pipe, --interface, --memory and under `ulimit -v`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=32))]
    #[arg(conflicts_with_all = ["interface", "memory"])]
    pub(crate) jobs: Option<u16>,
    /// Leave out packets with a wrong checksum: they were damaged on the way, and their receiver
    /// dropped them. For whole packets, captured where network cards had filled checksums in; for
    /// recordings of a path with `corrupt` it is the default
    #[arg(long)]
    pub(crate) checksums: bool,
    /// Read the whole capture for --connection, and write no index of it
    #[arg(long)]
    pub(crate) no_index: bool,
}

impl TraceArguments {
    /// Whether nothing is asked for that has no meaning for two captures.
    pub(crate) fn is_plain(&self) -> bool {
        let ViewArguments { connection, ladder, ref hex, jsonl, .. } = self.view;
        let Outputs { ladder_svg, hex_svg, html, annotate, csv, parquet, xpl, .. } = &self.outputs;
        let files = [ladder_svg, hex_svg, html, annotate, csv, parquet, xpl];
        let is_of_packets =
            self.view.is_listing() || ladder || !hex.is_empty() || jsonl || connection.is_some();
        !is_of_packets
            && self.filter.is_none()
            && self.memory.is_none()
            && files.into_iter().all(Option::is_none)
    }
}

/// Reads a limit of memory.
fn memory(text: &str) -> Result<Bytes, String> {
    let limit: Bytes = text.parse().map_err(|error: UnitError| error.to_string())?;
    let least = Analyzer::<Collector>::LEAST_MEMORY;
    if limit < least { Err(format!("at least {least}")) } else { Ok(limit) }
}

/// Two captures of the same connections.
#[derive(Debug, Args)]
pub(crate) struct BothArguments {
    /// Join two captures of the same connections packet by packet; this one was taken near the
    /// client. Shows what was lost, duplicated and reordered between them, one-way delays, clock
    /// offset, and the errors of an analysis of one capture alone. Both need the same addresses and
    /// ports (no NAT between)
    #[arg(long, value_name = "FILE", requires = "server", conflicts_with_all = JOINED_ALONE)]
    pub(crate) client: Option<PathBuf>,
    /// The other capture, taken near the server
    #[arg(long, value_name = "FILE", requires = "client", conflicts_with_all = JOINED_ALONE)]
    pub(crate) server: Option<PathBuf>,
}

/// What has no meaning for two captures.
const JOINED_ALONE: [&str; 23] = [
    "files",
    "memory",
    "jobs",
    "checksums",
    "no_index",
    "interface",
    "filter",
    "connection",
    "listing",
    "display_filter",
    "field",
    "ladder",
    "hex",
    "from",
    "to",
    "jsonl",
    "ladder_svg",
    "hex_svg",
    "html",
    "annotate",
    "csv",
    "parquet",
    "xpl",
];

/// How the answer is shown.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct ViewArguments {
    /// Show this many connections
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "all")]
    pub(crate) top: usize,
    /// Show all connections, or all bytes of a packet
    #[arg(long)]
    pub(crate) all: bool,
    /// Show this connection in depth, by its number in the table (from 0, as Wireshark's
    /// tcp.stream)
    #[arg(long, short, value_name = "N", value_parser = connection)]
    pub(crate) connection: Option<usize>,
    /// List its packets with the reason for each; without --connection, those of the whole capture
    #[arg(long, conflicts_with_all = ["ladder", "json"])]
    pub(crate) listing: bool,
    /// List the packets that match this display filter, in Wireshark's language:
    /// `tcp.analysis.retransmission && tcp.len > 1000`
    #[arg(long, short = 'Y', value_name = "EXPRESSION")]
    #[arg(value_parser = |text: &str| DisplayFilter::parse(text))]
    #[arg(conflicts_with_all = NOT_LISTED)]
    pub(crate) display_filter: Option<DisplayFilter>,
    /// List these fields of packets instead, separated by tabs, as `tshark -T fields -e FIELD`: by
    /// their names in display filters, several with commas or one for each -e
    #[arg(long, short = 'e', value_name = "FIELD", value_delimiter = ',')]
    #[arg(value_parser = |name: &str| name.trim().parse::<PacketField>())]
    #[arg(conflicts_with_all = NOT_LISTED)]
    pub(crate) field: Vec<PacketField>,
    /// Draw its packets as a ladder diagram; runs of similar packets are folded
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    pub(crate) ladder: bool,
    /// Print packets as bytes, and each field of their headers with its place, value and meaning:
    /// by frame number as listings show it, several with commas
    #[arg(long, value_name = "FRAME", value_delimiter = ',', value_parser = frame)]
    #[arg(conflicts_with_all = NOT_BYTES)]
    pub(crate) hex: Vec<u64>,
    /// Start listing or ladder at this time since the first packet (`1.5s`) or frame (`1200`)
    #[arg(long, value_name = "PLACE", requires = BY_PACKET)]
    pub(crate) from: Option<Place>,
    /// End it at this time or frame
    #[arg(long, value_name = "PLACE", requires = BY_PACKET)]
    pub(crate) to: Option<Place>,
    /// Show the ladder of data from server to client [default: the direction with more data]
    #[arg(long, conflicts_with = "forward", requires = BY_PACKET)]
    pub(crate) reverse: bool,
    /// Show the ladder of data from client to server
    #[arg(long, requires = BY_PACKET)]
    pub(crate) forward: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
    /// Print JSON Lines while reading: an object for each stall, limit, recovery episode,
    /// connection (without its packets) and finding, and last one for the capture. With --listing,
    /// -Y or -e an object for each packet, with its fields [default: all]
    #[arg(long, conflicts_with = "json")]
    pub(crate) jsonl: bool,
}

impl ViewArguments {
    /// Whether packets are listed, all or some.
    pub(crate) fn is_listing(&self) -> bool {
        self.listing || self.display_filter.is_some() || !self.field.is_empty()
    }

    /// Whether packets are listed for programs.
    pub(crate) fn is_of_fields(&self) -> bool {
        self.is_listing() && (self.jsonl || !self.field.is_empty())
    }
}

fn connection(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        "not a number of the table that `tcplab trace FILE` prints; `--filter 'host ADDRESS and port \
         N'` chooses by address"
            .into()
    })
}

fn frame(text: &str) -> Result<u64, String> {
    let number = text.trim().trim_start_matches('#').parse().ok().filter(|frame| *frame > 0);
    number.ok_or_else(|| {
        "not a frame number, which counts from 1: `tcplab trace FILE -c N --listing` shows them"
            .into()
    })
}

/// What does not go with a listing.
const NOT_LISTED: [&str; 7] = ["client", "server", "ladder", "hex", "json", "hex_svg", "memory"];
/// What does not go with packets as bytes.
const NOT_BYTES: [&str; 5] = ["listing", "ladder", "ladder_svg", "jsonl", "interface"];
/// What does not go with an interface.
const NOT_LIVE: [&str; 6] = ["files", "client", "server", "hex", "hex_svg", "jobs"];

/// Capturing here and now.
#[derive(Debug, Args)]
pub(crate) struct LiveArguments {
    /// Capture on this network interface (or `any`) until Ctrl-C; needs CAP_NET_RAW
    #[arg(long, short, value_name = "IFACE", conflicts_with = "files")]
    pub(crate) interface: Option<String>,
    /// Stop capturing after this time, such as `30s`
    #[arg(long, value_name = "DURATION", requires = "interface", conflicts_with_all = NOT_LIVE)]
    pub(crate) duration: Option<Span>,
    /// Stop capturing after this many packets
    #[arg(long, value_name = "N", requires = "interface", conflicts_with_all = NOT_LIVE)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) packets: Option<u64>,
    /// Write captured packets that pass the filter to this file, as pcapng
    #[arg(long, short, value_name = "FILE", requires = "interface", conflicts_with_all = NOT_LIVE)]
    pub(crate) write: Option<PathBuf>,
    /// Truncate packets in that file to this size
    #[arg(long, value_name = "BYTES", requires = "write", conflicts_with_all = NOT_LIVE)]
    #[arg(value_parser = |text: &str| bytes(text, 1, u32::MAX))]
    pub(crate) snaplen: Option<u32>,
}

/// Files to write besides the output.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new(GRAPHED).args(["html", "xpl"]).multiple(true))]
pub(crate) struct Outputs {
    /// Write the ladder diagram as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) ladder_svg: Option<PathBuf>,
    /// Write the packets of --hex as SVG, a colour for each header
    #[arg(long, value_name = "FILE", requires = "hex", conflicts_with_all = NOT_BYTES)]
    pub(crate) hex_svg: Option<PathBuf>,
    /// Write an HTML page: all connections, and graphs and ladders of the slowest (--top, at most
    /// 10, or --connection)
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a copy of the capture as pcapng with comments for Wireshark: retransmissions and their
    /// causes, losses, stalls, the evidence of findings
    #[arg(long, value_name = "FILE")]
    pub(crate) annotate: Option<PathBuf>,
    /// Write a CSV line for each connection, with tcptrace's columns
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write Parquet tables of connections, segments, acknowledgements, episodes, stalls and limits
    /// to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write xplot graphs to this directory, with tcptrace's names (`a2b_tsg.xpl`)
    #[arg(long, value_name = "DIR")]
    pub(crate) xpl: Option<PathBuf>,
    /// Choose xplot graphs: time-sequence, throughput, RTT, data in flight, sizes of segments, RTT
    /// by sequence number
    #[arg(long, value_name = "GRAPHS", requires = "xpl", conflicts_with_all = ["client", "server"])]
    #[arg(value_delimiter = ',', value_parser = graphs(), default_value = "tsg,tput,rtt,owin")]
    pub(crate) graphs: Vec<XplGraph>,
    /// Choose RTT samples: of data sent once, as tcptrace; also those whose ACK waited for a
    /// repair of earlier data; of retransmitted data, which Karn's rule excludes; by SACK. The page
    /// of --html hides the others
    #[arg(long, value_name = "SAMPLES", requires = GRAPHED, value_delimiter = ',')]
    #[arg(value_parser = samples(), default_value = "once")]
    pub(crate) rtt: Vec<RttKind>,
    /// Average throughput over a moving span, 1 ms to 1 h [default: a 200th of a connection's time
    /// in the page; ten data segments in xplot graphs, as tcptrace]
    #[arg(long, value_name = "SPAN", requires = GRAPHED, value_parser = average)]
    pub(crate) average: Option<Span>,
}

/// Reads the name of a kind of samples.
fn samples() -> impl TypedValueParser<Value = RttKind> {
    PossibleValuesParser::new(RttKind::ALL.map(RttKind::name)).map(|name| {
        let named = RttKind::ALL.into_iter().find(|kind| kind.name() == name);
        named.expect("the parser knows only names of samples")
    })
}

fn average(text: &str) -> Result<Span, String> {
    within(text, GraphChoice::SHORTEST_AVERAGE, GraphChoice::LONGEST_AVERAGE)
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
    /// A time after the first packet.
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
  tcplab trace web.pcap.zst                            list connections, the slowest first
  tcplab trace web.pcap.zst --connection 3             show one in depth
  tcplab trace web.pcap.zst -c 3 --listing --from 1.2s --to 1.5s
  tcplab trace web.pcap.zst -Y 'tcp.analysis.retransmission || tcp.flags.reset == 1'
  tcplab trace web.pcap.zst -Y 'tcp.len > 0' -e frame.time_relative,tcp.analysis.bytes_in_flight
  tcplab trace web.pcap.zst -c 3 --ladder --from 5012 --to 5100 --ladder-svg loss.svg
  tcplab trace web.pcap.zst --hex 5012,5013            packets as bytes, field by field
  tcplab trace a.pcapng b.pcapng.gz --filter 'net 10.0.0.0/8 and not port 22'
  tcplab trace -i eth0 --duration 30s -w seen.pcapng   capture first
  ssh host tcpdump -s 128 -w - tcp | tcplab trace -
  tcplab trace --client here.pcap --server there.pcap  join two captures
  tcplab trace web.pcap.zst --html web.html --annotate explained.pcapng
  tcplab trace web.pcap.zst -c 3 --xpl graphs --graphs tsg,owin --csv web.csv --parquet tables
  tcplab trace web.pcap.zst --html web.html --rtt once,retransmitted,sack --average 1s
  tcplab trace web.pcap.zst --jsonl | jq 'select(.type == \"stall\")'

The table has two lines for each connection: the client's data above, the server's below. The RTT
and the last columns are those of the direction with more data. Below its number is the time that a
connection lost, at most its duration.

Connections are sorted by lost time (in seconds, most first), then by data bytes (most first), then
by number; --html sorts likewise, --json by number, --jsonl, --csv and --parquet as they end. Lost
time is, for each direction, the longest of: the time under a limit other than the application and
the path's rate; the stalled time with data to send; a round trip for each retransmission that was
not spurious. In a direction with less than 5840 B, which has no rate, only retransmissions count,
and stalls that a timer or the window ended: so iperf3's control connection does not come first.
Retransmitted SYNs add the delay they caused; a connection that never opened lost its whole time. A
reset that cut off data, or a failure to open, counts for a second more in the order only.
Connections that a reset ended after they opened, be it before the capture, are counted as reset.

Findings are printed of the three connections that lost most time. If fewer lost any, those with the
slowest servers follow, then those with most data. The connection whose server was slowest to answer
is always among them, though no time counts as lost. --connection N has those of any other.

The analysis explains what is visible at the capture point; the best one is next to the sender. 128
bytes of each packet are enough (`tcpdump -s 128`). Lines that begin with `!` report faults of the
capture (cut off, packets dropped).

--hex shows at most 2,048 bytes of a packet unless --all; sequence numbers also relative to the
connection's first, windows scaled by its handshake, and whether checksums are right. Fields that a
short snap length or a fault of the packet leaves out are named as such. With --json, a program gets
the bytes and the fields with their offsets.

The first --connection of a file of 4 MB and more also writes an index of it to the user's cache
(tcplab/captures in $XDG_CACHE_HOME or ~/.cache, at most 512 MB); later ones then read only the
packets of their connection, and print the same. It is not used for several files, compressed ones,
standard input, --filter, --memory, --checksums, --html and --hex, nor once the file has changed; --no-index
leaves it alone.

All files are written in one pass where possible; --filter and --connection apply to them too.
--annotate copies every packet. --annotate, --html and --hex read the capture twice, so save
standard input or a live capture first. docs/tables.md explains the columns of --csv and --parquet.";
