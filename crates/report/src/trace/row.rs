//! What the summary keeps of a connection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use tcplab_trace::{
    CapturePoint, Connection, ConnectionState, Flow, Limit, Sink, Stall, StallCause,
};
use tcplab_units::{Bytes, Instant, Rate, Span};

/// The extra cost of a failed connection: the first retransmission timeout (RFC 6298 section 2.1),
/// which a user waits at least.
const FAILED: Span = Span::from_secs(1);

/// A row of the table of connections.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// In the order of first packets, from 0, as Wireshark's `tcp.stream`.
    pub index: usize,
    /// See [`Connection::client`].
    pub client: SocketAddr,
    /// See [`Connection::server`].
    pub server: SocketAddr,
    /// First packet.
    pub first: Instant,
    /// Last packet.
    pub last: Instant,
    /// Packets of both directions.
    pub packets: u64,
    /// Its state.
    pub state: ConnectionState,
    /// Time lost, by which the table is sorted: see [`Row::lost_by`].
    pub lost: Span,
    /// Client to server.
    pub forward: RowDirection,
    /// Server to client.
    pub reverse: RowDirection,
}

/// One direction of a [`Row`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowDirection {
    /// Data bytes, without retransmissions.
    pub data: Bytes,
    /// Acknowledged bytes over the time of the transfer.
    pub goodput: Option<Rate>,
    /// The minimum RTT, at least that of the handshake.
    pub rtt_min: Option<Span>,
    /// The median RTT.
    pub rtt_median: Option<Span>,
    /// Packets with data.
    pub segments: u64,
    /// Retransmissions among them.
    pub retransmissions: u64,
    /// The limit of the largest part of its time, and that share, 0 to 1.
    pub limit: Option<(Limit, f32)>,
    /// The longest stall.
    pub stall: Option<(StallCause, Span)>,
}

// Bounds the memory of long captures.
const _: () = assert!(size_of::<Row>() <= 400);

impl Row {
    /// The row of `connection`, whose number is `index`.
    pub fn new(index: usize, connection: &Connection) -> Row {
        Row {
            index,
            client: connection.client,
            server: connection.server,
            first: connection.first,
            last: connection.last,
            packets: connection.packets,
            state: connection.life.state,
            lost: Row::lost_by(connection),
            forward: RowDirection::new(connection, &connection.forward),
            reverse: RowDirection::new(connection, &connection.reverse),
        }
    }

    /// The time that a connection lost. For each direction the longest of:
    ///
    /// - the time under a limit other than the application and the path's rate;
    /// - the stalled time with data to send;
    ///
    /// plus the retransmissions' share of all data, of the transfer time. At most the connection's
    /// duration; a failed connection lost that and a second.
    pub fn lost_by(connection: &Connection) -> Span {
        let time = connection.last.since(connection.first);
        if is_failed(connection.life.state) {
            return time + FAILED;
        }
        let lost = |flow: &Flow| {
            let limited: Span = Limit::ALL
                .into_iter()
                .filter(|limit| !matches!(limit, Limit::Application | Limit::Path))
                .map(|limit| flow.shares.of(limit))
                .sum();
            let stalled: Span =
                flow.stall_sums.iter().filter(|sum| !is_idle(sum.cause)).map(|sum| sum.time).sum();
            let data = flow.totals.data.as_u64();
            let again = flow.totals.retransmitted.as_u64();
            let busy = if flow.transfer.time.is_zero() { time } else { flow.transfer.time };
            let share = if data > 0 { again as f64 / data as f64 } else { 0.0 };
            let repeated = Span::from_secs_f64(busy.as_secs_f64() * share);
            (limited.max(stalled) + repeated).min(time)
        };
        lost(&connection.forward) + lost(&connection.reverse)
    }

    /// From its first to its last packet.
    pub fn duration(&self) -> Span {
        self.last.since(self.first)
    }
}

impl RowDirection {
    fn new(connection: &Connection, flow: &Flow) -> RowDirection {
        // A capture point at the receiver shows only the receiver's answer time.
        let whole = flow.capture_point != CapturePoint::Receiver;
        let least = flow.round_trips.min.filter(|_| whole).or(connection.handshake.round_trip);
        let limit = flow.shares.largest().map(|limit| (limit, flow.shares.share(limit) as f32));
        let longest = flow.stall_sums.iter().max_by_key(|sum| span_of(&sum.longest));
        RowDirection {
            data: flow.totals.unique,
            goodput: flow.transfer.goodput,
            rtt_min: least,
            rtt_median: flow.round_trips.median.filter(|_| whole),
            segments: flow.totals.data_segments,
            retransmissions: flow.totals.retransmissions,
            limit,
            stall: longest.map(|sum| (sum.cause, span_of(&sum.longest))),
        }
    }

    /// Retransmissions over packets with data, 0 to 1; none without data.
    pub fn retransmission_ratio(&self) -> Option<f64> {
        (self.segments > 0).then(|| self.retransmissions as f64 / self.segments as f64)
    }
}

fn span_of(stall: &Stall) -> Span {
    stall.until.since(stall.from)
}

/// No data to send is no lost time.
fn is_idle(cause: StallCause) -> bool {
    matches!(cause, StallCause::SenderIdle | StallCause::SenderSlow | StallCause::NoRequest)
}

/// Whether the handshake failed.
pub(crate) fn is_failed(state: ConnectionState) -> bool {
    use ConnectionState::{Rej, Rstos0, Rstrh, S0, Sh, Shr};
    matches!(state, S0 | Rej | Rstos0 | Rstrh | Sh | Shr)
}

/// Keeps a [`Row`] of each connection, and all sums of the worst few; no packets.
#[derive(Debug, Default)]
pub struct Summary {
    rows: Vec<Row>,
    keep: usize,
    /// The least of them on top.
    worst: BinaryHeap<Reverse<RankedConnection>>,
}

#[derive(Debug)]
struct RankedConnection {
    lost: Span,
    index: usize,
    connection: Box<Connection>,
}

impl RankedConnection {
    fn key(&self) -> (Span, Reverse<usize>) {
        (self.lost, Reverse(self.index))
    }
}
impl PartialEq for RankedConnection {
    fn eq(&self, other: &RankedConnection) -> bool {
        self.key() == other.key()
    }
}
impl Eq for RankedConnection {}
impl PartialOrd for RankedConnection {
    fn partial_cmp(&self, other: &RankedConnection) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for RankedConnection {
    fn cmp(&self, other: &RankedConnection) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Summary {
    /// Keeps the sums of the `keep` worst connections.
    pub fn new(keep: usize) -> Summary {
        Summary { keep, ..Summary::default() }
    }
    /// All connections in the order of their ends.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
    /// All connections by lost time, then by data, largest first.
    pub fn by_loss(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let data = |row: &Row| row.forward.data + row.reverse.data;
        rows.sort_unstable_by_key(|row| (Reverse(row.lost), Reverse(data(row)), row.index));
        rows
    }
    /// From the first TCP packet to the last.
    pub fn lasted(&self) -> Span {
        let first = self.rows.iter().map(|row| row.first).min().unwrap_or_default();
        let last = self.rows.iter().map(|row| row.last).max().unwrap_or_default();
        last.since(first)
    }
    /// The connections that lost most time, worst first, with their numbers; without those that
    /// lost none.
    pub fn worst(&self) -> Vec<(usize, &Connection)> {
        let mut kept: Vec<&RankedConnection> =
            self.worst.iter().map(|Reverse(kept)| kept).collect();
        kept.sort_by_key(|kept| Reverse(kept.key()));
        kept.into_iter().map(|kept| (kept.index, &*kept.connection)).collect()
    }
}

impl Sink for Summary {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, index: usize, connection: Connection) {
        let row = Row::new(index, &connection);
        let lost = row.lost;
        self.rows.push(row);
        if lost.is_zero() || self.keep == 0 {
            return;
        }
        let full = self.worst.len() >= self.keep;
        if full && self.worst.peek().is_some_and(|Reverse(least)| least.lost >= lost) {
            return;
        }
        if full {
            self.worst.pop();
        }
        self.worst.push(Reverse(RankedConnection {
            lost,
            index,
            connection: Box::new(connection),
        }));
    }
}
