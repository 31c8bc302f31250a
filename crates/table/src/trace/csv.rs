//! Connections as CSV, with the names of tcptrace's long output (`tcptrace -l --csv`).
//!
//! A column is here only if it means what tcptrace's means; the two are compared on
//! captures. `a` is the client, `b` the server; `a2b` is what the client sent.

use std::collections::BTreeMap;
use std::io::{self, Write};

use tcplab_trace::{
    Ack, BareReset, Connection, Flow, FlowId, Segment, Sink, SynOptions, TcpFlags, UnusualPacket,
};
use tcplab_units::{Bytes, Instant};

/// Writes a line for each connection when it is over. Memory: some hundred bytes for each that is
/// not.
#[derive(Debug)]
pub struct ConnectionsCsv<W> {
    out: W,
    /// The trace's zero, nanoseconds after the beginning of 1970.
    epoch: u64,
    live: BTreeMap<usize, [Tally; 2]>,
    rows: u64,
    failed: Option<io::Error>,
}

impl<W: Write> ConnectionsCsv<W> {
    /// Begins the file; `out` should be buffered. Times are those of day, as tcptrace's: seconds
    /// after the beginning of 1970.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(mut out: W) -> io::Result<ConnectionsCsv<W>> {
        let mut names: Vec<String> = IDENTITY.iter().map(|(name, ..)| (*name).to_owned()).collect();
        for column in COLUMNS {
            names.extend(["a2b", "b2a"].map(|way| format!("{}_{way}", column.name)));
        }
        writeln!(out, "{}", names.join(","))?;
        Ok(ConnectionsCsv { out, epoch: 0, live: BTreeMap::new(), rows: 0, failed: None })
    }

    /// Whether it could not be written: then the rest is not even tried.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// How many connections there were, and where they were written.
    ///
    /// # Errors
    /// The first of writing.
    pub fn finish(mut self) -> io::Result<(u64, W)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.out.flush()?;
        Ok((self.rows, self.out))
    }

    fn tally(&mut self, flow: FlowId) -> &mut Tally {
        &mut self.live.entry(flow.connection).or_default()[usize::from(!flow.forward)]
    }
}

/// Counts of what one end sent that the analyser does not keep.
#[derive(Debug, Default)]
struct Tally {
    /// Frames, and the latest of them: what it sent and what it acknowledged come apart.
    packets: u64,
    latest: u64,
    resets: u64,
    windows: Windows,
    acks: u64,
    sacks: u64,
    dsacks: u64,
    most_blocks: u64,
    pushed: u64,
    syns: u64,
    fins: u64,
    smallest: Option<u64>,
    largest: u64,
    /// The first and the last packet with data.
    data: Option<(Instant, Instant)>,
    /// The FIN's place less the SYN's: the length of the stream.
    length: Option<u64>,
    syn_seen: bool,
}

/// The windows that one end advertised.
#[derive(Debug, Default)]
struct Windows {
    least: Option<u64>,
    most: Option<u64>,
    zero: u64,
}

impl Windows {
    /// Those of SYNs are not scaled; those of resets mean nothing.
    fn add(&mut self, ack: &Ack) {
        let counts = !ack.flags.contains(TcpFlags::SYN);
        let Some(window) = ack.window.filter(|_| counts).map(Bytes::as_u64) else { return };
        self.zero += u64::from(window == 0);
        self.most = self.most.max(Some(window));
        if window > 0 {
            self.least = Some(self.least.map_or(window, |least| least.min(window)));
        }
    }
}

impl Tally {
    fn packet(&mut self, frame: u64, flags: TcpFlags) {
        if self.latest != frame {
            self.latest = frame;
            self.packets += 1;
            self.resets += u64::from(flags.contains(TcpFlags::RST));
        }
    }

    fn segment(&mut self, segment: &Segment) {
        self.packet(segment.frame, segment.flags);
        let payload = segment.payload.as_u64();
        self.syns += u64::from(segment.syn);
        self.fins += u64::from(segment.fin);
        self.syn_seen |= segment.syn;
        if segment.fin {
            // The SYN is at 0, the first byte at 1, the FIN behind the last.
            self.length = segment.range.end.as_u64().checked_sub(2);
        }
        if payload == 0 {
            return;
        }
        self.pushed += u64::from(segment.psh);
        self.smallest = Some(self.smallest.map_or(payload, |least| least.min(payload)));
        self.largest = self.largest.max(payload);
        let first = self.data.map_or(segment.at, |(first, _)| first);
        self.data = Some((first, segment.at));
    }

    fn ack(&mut self, ack: &Ack) {
        self.packet(ack.frame, ack.flags);
        self.windows.add(ack);
        let blocks = ack.sack.len() as u64 + u64::from(ack.dsack.is_some());
        self.acks += 1;
        self.sacks += u64::from(blocks > 0);
        self.dsacks += u64::from(ack.dsack.is_some());
        self.most_blocks = self.most_blocks.max(blocks);
    }
}

/// One end of a connection, as a sender.
struct Side<'a> {
    connection: &'a Connection,
    tally: &'a Tally,
    /// Its data.
    flow: &'a Flow,
    /// The data that it acknowledges.
    opposite: &'a Flow,
    syn: &'a SynOptions,
}

/// A pair of columns.
struct Pair {
    name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the page on tables is made by a test"))]
    doc: &'static str,
    cell: fn(&Side<'_>) -> String,
}

/// Name, meaning, cell.
type Single = (&'static str, &'static str, fn(u64, u64, &Connection) -> String);

const IDENTITY: &[Single] = &[
    ("conn_#", "the connection's number, from 1", |number, _, _| number.to_string()),
    ("host_a", "the client's address", |_, _, connection| connection.client.ip().to_string()),
    ("host_b", "the server's address", |_, _, connection| connection.server.ip().to_string()),
    ("port_a", "the client's port", |_, _, connection| connection.client.port().to_string()),
    ("port_b", "the server's port", |_, _, connection| connection.server.port().to_string()),
    ("first_packet", "time of the first packet, seconds", |_, epoch, connection| {
        seconds(connection.first.as_nanos().saturating_add(epoch))
    }),
    ("last_packet", "time of the last packet, seconds", |_, epoch, connection| {
        seconds(connection.last.as_nanos().saturating_add(epoch))
    }),
];

const COLUMNS: &[Pair] = &[
    pair("total_packets", "packets", |s| s.tally.packets.to_string()),
    pair("resets_sent", "packets with RST", |s| s.tally.resets.to_string()),
    pair("ack_pkts_sent", "packets with an acknowledgement", |s| s.tally.acks.to_string()),
    pair("pure_acks_sent", "packets with an acknowledgement and no data, SYN, FIN or RST", |s| {
        s.opposite.totals.pure_acks.to_string()
    }),
    pair("sack_pkts_sent", "packets with SACK blocks", |s| s.tally.sacks.to_string()),
    pair("dsack_pkts_sent", "packets with a D-SACK", |s| s.tally.dsacks.to_string()),
    pair("max_sack_blks/ack", "the most SACK blocks in one packet", |s| {
        s.tally.most_blocks.to_string()
    }),
    pair("unique_bytes_sent", "bytes of data, each counted once", |s| {
        s.flow.totals.unique.as_u64().to_string()
    }),
    pair("actual_data_pkts", "packets with data", |s| s.flow.totals.data_segments.to_string()),
    pair("actual_data_bytes", "bytes of data, repeats counted", |s| {
        s.flow.totals.data.as_u64().to_string()
    }),
    pair("pushed_data_pkts", "packets with data and PSH", |s| s.tally.pushed.to_string()),
    pair("SYN/FIN_pkts_sent", "packets with SYN, and with FIN", |s| {
        format!("{}/{}", s.tally.syns, s.tally.fins)
    }),
    pair("req_1323_ws/ts", "whether its SYN had a window scale and timestamps", |s| {
        let yes = |it: bool| if it { 'Y' } else { 'N' };
        format!("{}/{}", yes(s.syn.window_scale.is_some()), yes(s.syn.timestamps))
    }),
    pair("adv_wind_scale", "the window scale in its SYN", |s| {
        s.syn.window_scale.unwrap_or(0).to_string()
    }),
    pair("req_sack", "whether its SYN permitted SACK", |s| {
        if s.syn.sack_permitted { "Y" } else { "N" }.to_owned()
    }),
    pair("mss_requested", "the maximum segment size in its SYN, bytes", |s| {
        s.syn.mss.unwrap_or(0).to_string()
    }),
    pair("max_segm_size", "its largest packet with data, bytes of data", |s| {
        s.tally.largest.to_string()
    }),
    pair("min_segm_size", "its smallest packet with data, bytes of data", |s| {
        s.tally.smallest.unwrap_or(0).to_string()
    }),
    pair("avg_segm_size", "bytes of data over packets with data", |s| {
        let count = s.flow.totals.data_segments.max(1);
        (s.flow.totals.data.as_u64() / count).to_string()
    }),
    pair("max_win_adv", "the largest window that it advertised, SYNs aside, bytes", |s| {
        s.tally.windows.most.unwrap_or(0).to_string()
    }),
    pair("min_win_adv", "the smallest of these but zero, bytes", |s| {
        s.tally.windows.least.unwrap_or(0).to_string()
    }),
    pair("zero_win_adv", "packets with a zero window, SYN and RST aside", |s| {
        s.tally.windows.zero.to_string()
    }),
    pair("ttl_stream_length", "bytes from SYN to FIN; NA if either was not captured", |s| {
        stream_length(s).map_or("NA".to_owned(), |length| length.to_string())
    }),
    pair("missed_data", "those of these that were not captured; NA likewise", |s| {
        let unique = s.flow.totals.unique.as_u64();
        stream_length(s).map_or("NA".to_owned(), |length| length.saturating_sub(unique).to_string())
    }),
    pair("data_xmit_time", "from the first packet with data to the last, seconds", |s| {
        let span = s.tally.data.map(|(first, last)| last.since(first)).unwrap_or_default();
        let millis = (span.as_nanos() + 500_000) / 1_000_000;
        format!("{}.{:03}", millis / 1_000, millis % 1_000)
    }),
    pair(
        "throughput",
        "unique bytes over the connection's time, bytes per second; NA where goodput has none",
        |s| {
            let nanos = s.connection.last.since(s.connection.first).as_nanos();
            let bytes = u128::from(s.flow.totals.unique.as_u64()) * 1_000_000_000;
            let rate = (bytes + u128::from(nanos) / 2).checked_div(u128::from(nanos));
            let rate = rate.filter(|_| {
                s.flow.totals.unique == Bytes::ZERO || s.flow.transfer.goodput.is_some()
            });
            rate.map_or("NA".to_owned(), |rate| rate.to_string())
        },
    ),
];

const fn pair(name: &'static str, doc: &'static str, cell: fn(&Side<'_>) -> String) -> Pair {
    Pair { name, doc, cell }
}

fn stream_length(side: &Side<'_>) -> Option<u64> {
    side.tally.length.filter(|_| side.tally.syn_seen)
}

fn seconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000_000, nanos / 1_000 % 1_000_000)
}

/// The columns and what they mean, for the page on tables.
#[cfg(test)]
pub(crate) fn explained() -> impl Iterator<Item = (String, &'static str)> {
    let own = IDENTITY.iter().map(|(name, doc, _)| ((*name).to_owned(), *doc));
    own.chain(COLUMNS.iter().map(|column| (format!("{0}_a2b`, `{0}_b2a", column.name), column.doc)))
}

impl<W: Write> Sink for ConnectionsCsv<W> {
    fn begins(&mut self, epoch_nanos: u64) {
        self.epoch = epoch_nanos;
    }
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.tally(flow).segment(&segment);
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        // Sent by the other end.
        self.tally(FlowId { forward: !flow.forward, ..flow }).ack(&ack);
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        if reset.from_sender {
            self.tally(flow).packet(reset.frame, reset.flags);
        }
    }
    fn unusual(&mut self, flow: FlowId, packet: UnusualPacket) {
        self.tally(flow).packet(packet.frame, packet.flags);
    }

    fn connection(&mut self, index: usize, connection: &Connection) {
        let [a, b] = self.live.remove(&index).unwrap_or_default();
        if self.failed.is_some() {
            return;
        }
        let (forward, reverse) = (&connection.forward, &connection.reverse);
        let (client, server) = (&connection.handshake.client, &connection.handshake.server);
        let sides = [(&a, forward, reverse, client), (&b, reverse, forward, server)];
        let sides = sides.map(|(tally, flow, opposite, syn)| Side {
            connection,
            tally,
            flow,
            opposite,
            syn,
        });
        let number = index as u64 + 1;
        let mut cells: Vec<String> =
            IDENTITY.iter().map(|(_, _, cell)| cell(number, self.epoch, connection)).collect();
        for column in COLUMNS {
            cells.extend(sides.iter().map(column.cell));
        }
        self.rows += 1;
        if let Err(error) = writeln!(self.out, "{}", cells.join(",")) {
            self.failed = Some(error);
        }
    }
}
