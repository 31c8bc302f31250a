//! What the summary keeps of a connection.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use tcplab_findings::slow_answers;
use tcplab_trace::{
    CloseKind, Connection, ConnectionState, Flow, Life, Limit, Sink, Stall, StallCause, Transfer,
};
use tcplab_units::{Bytes, Endpoint, Instant, Rate, Span};

/// The extra cost of a failed or cut connection: the first retransmission timeout (RFC 6298
/// section 2.1), which a user waits at least.
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
    /// Its state; [`Row::standing`] says what is shown of it.
    pub state: ConnectionState,
    /// What is shown of it.
    pub standing: Standing,
    /// Whether a reset ended it, other than in the handshake: [`SummaryTotals::reset`].
    pub is_reset: bool,
    /// What the table is sorted by: see [`Row::lost_by`].
    pub lost: Span,
    /// The time lost that is shown: without what a reset or a failure adds to the order.
    pub lost_time: Span,
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
    /// Segments with data, SYN or FIN, as on the wire.
    pub segments: u64,
    /// Retransmissions among them.
    pub retransmissions: u64,
    /// The limit of the largest part of its time, and that share, 0 to 1.
    pub limit: Option<(Limit, f32)>,
    /// Its name ([`Flow::limit_name`]).
    pub limit_name: &'static str,
    /// The longest stall.
    pub stall: Option<(StallCause, Span)>,
}

/// As many rows wait at least before those that lost less are dropped.
const FEW: usize = 64;

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
            state: state_of(connection),
            standing: Standing::of(connection),
            is_reset: is_reset(connection),
            lost: Row::lost_by(connection),
            lost_time: Row::lost_time(connection),
            forward: RowDirection::new(connection, &connection.forward),
            reverse: RowDirection::new(connection, &connection.reverse),
        }
    }

    /// By which connections are ranked: [the time lost](Row::lost_time), and a second more for a
    /// connection that never opened, for a reset that cut off data, and where one direction only
    /// was captured. That second did not pass; it only brings forward what needs a look.
    pub fn lost_by(connection: &Connection) -> Span {
        let standing = Standing::of(connection);
        let is_worse =
            matches!(standing, Standing::Failed | Standing::OneWay) || is_cut(connection);
        Row::lost_time(connection) + if is_worse { FAILED } else { Span::ZERO }
    }

    /// The time that a connection lost, at most its duration. For each direction the longest of:
    ///
    /// - the time under a limit other than the application and the path's rate, where it carried
    ///   enough to have a rate ([`Transfer::LEAST`]);
    /// - the stalled time with data to send; with less data only what a timer or the window ended;
    /// - the time for which lost data came late: a round trip for each retransmission that was not
    ///   spurious, while anything was in flight.
    ///
    /// To that a handshake adds by how much retransmitted SYNs delayed it. A connection that never
    /// opened lost its whole duration.
    pub fn lost_time(connection: &Connection) -> Span {
        let time = connection.last.since(connection.first);
        if Standing::of(connection) == Standing::Failed {
            return time;
        }
        let lost = |flow: &Flow| lost_in(flow, connection.handshake.round_trip).min(time);
        let sum = lost(&connection.forward) + lost(&connection.reverse) + opened_late(connection);
        sum.min(time)
    }

    /// From its first to its last packet.
    pub fn duration(&self) -> Span {
        self.last.since(self.first)
    }
}

impl RowDirection {
    fn new(connection: &Connection, flow: &Flow) -> RowDirection {
        // Away from the sender the answers take only a part of a round trip.
        let whole = !connection.is_away(flow);
        let limit = flow.shares.largest().map(|limit| (limit, flow.shares.share(limit) as f32));
        let limit_name = limit.map_or("", |(limit, _)| flow.limit_name(limit));
        let longest = flow.stall_sums.iter().max_by_key(|sum| span_of(&sum.longest));
        RowDirection {
            data: flow.totals.unique,
            goodput: flow.transfer.goodput,
            rtt_min: connection.path_round_trip(flow),
            rtt_median: flow.round_trips.median.filter(|_| whole),
            segments: flow.totals.wire_segments,
            retransmissions: flow.causes.retransmissions(),
            limit,
            limit_name,
            stall: longest.map(|sum| (sum.cause, span_of(&sum.longest))),
        }
    }

    /// Retransmissions over segments with data, SYN or FIN, 0 to 1; none without data.
    pub fn retransmission_ratio(&self) -> Option<f64> {
        (self.data > Bytes::ZERO).then(|| self.retransmissions as f64 / self.segments as f64)
    }
}

fn span_of(stall: &Stall) -> Span {
    stall.until.since(stall.from)
}

/// The time that the data of one direction lost.
fn lost_in(flow: &Flow, handshake: Option<Span>) -> Span {
    let has_rate = flow.totals.unique >= Transfer::LEAST;
    let limits = Limit::ALL.into_iter();
    let limits = limits.filter(|limit| !matches!(limit, Limit::Application | Limit::Path));
    let limited: Span = limits.map(|limit| flow.shares.of(limit)).sum();
    let limited = if has_rate { limited } else { Span::ZERO };
    let stalls = flow.stall_sums.iter().filter(|sum| !is_idle(sum.cause));
    let stalled: Span =
        stalls.filter(|sum| has_rate || !is_late_only(sum.cause)).map(|sum| sum.time).sum();
    let causes = &flow.causes;
    // Those of the SYN are the handshake's.
    let others = causes.spurious.sent.count + causes.syn_retransmissions.count;
    let again = flow.totals.retransmissions.saturating_sub(others);
    let round_trip = flow.round_trips.min.max(handshake).unwrap_or_default();
    let late = (round_trip * again).min(flow.shares.busy());
    limited.max(stalled).max(late)
}

/// How much later than after a round trip it opened, because SYNs were retransmitted.
fn opened_late(connection: &Connection) -> Span {
    let handshake = &connection.handshake;
    if handshake.client_repeats + handshake.server_repeats == 0 {
        return Span::ZERO;
    }
    let took = handshake.opened.zip(handshake.syn).map(|(opened, syn)| opened.since(syn));
    let least = connection.forward.round_trips.min.max(connection.reverse.round_trips.min);
    let round_trip = handshake.round_trip.or(least).unwrap_or_default();
    took.unwrap_or_default().saturating_sub(round_trip)
}

/// Whether a reset ended it although data was not acknowledged, in a direction whose
/// acknowledgements were captured: those of any packet of the other end.
fn is_cut(connection: &Connection) -> bool {
    let (forward, reverse) = (&connection.forward, &connection.reverse);
    let is_open = |flow: &Flow, other: &Flow| {
        let is_heard = flow.totals.pure_acks + other.totals.segments > 0;
        is_heard && flow.transfer.acked < flow.totals.unique
    };
    is_reset(connection) && (is_open(forward, reverse) || is_open(reverse, forward))
}

/// The time for which its server was slow to answer, if that is a finding. No such time is lost,
/// but users wait for it.
fn waited(connection: &Connection) -> Span {
    if connection.one_way.is_some() {
        return Span::ZERO;
    }
    slow_answers::RULE.examine(connection).iter().map(|finding| finding.cost.time).sum()
}

/// Whether a reset ended it after it opened. Zeek has no state for resets of connections that are
/// older than the capture.
fn is_reset(connection: &Connection) -> bool {
    use ConnectionState::{Oth, Rej, Rsto, Rstos0, Rstr, Rstrh};
    let is_by_rst = connection.life.close.is_some_and(|close| close.reset_by.is_some());
    match Standing::of(connection) {
        Standing::Failed | Standing::OneWay => false,
        Standing::Whole | Standing::Midstream => {
            is_by_rst && matches!(connection.life.state, Rej | Rsto | Rstos0 | Rstr | Rstrh | Oth)
        }
    }
}

/// Zeek's state, but for a reset that ended nothing: what it was without that.
fn state_of(connection: &Connection) -> ConnectionState {
    use ConnectionState::{Rsto, Rstr, S1, S2, S3, Sf};
    let Life { state, close, .. } = &connection.life;
    match close {
        _ if !matches!(state, Rsto | Rstr) => *state,
        Some(close) if close.reset_by.is_some() => *state,
        Some(close) if close.kind == CloseKind::HalfClosed => match close.by {
            Endpoint::Client => S2,
            Endpoint::Server => S3,
        },
        Some(_) => Sf,
        None => S1,
    }
}

/// A late answer of which no retransmission shows the reason: of a few segments that is no more
/// than the other end's own time.
fn is_late_only(cause: StallCause) -> bool {
    matches!(cause, StallCause::PacketDelay | StallCause::Undetermined)
}

/// No data to send is no lost time.
fn is_idle(cause: StallCause) -> bool {
    matches!(cause, StallCause::SenderIdle | StallCause::SenderSlow | StallCause::NoRequest)
}

/// What is shown of a connection's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// As its state says.
    Whole,
    /// The handshake failed.
    Failed,
    /// It is older than the capture: a state without its SYN is no failed handshake.
    Midstream,
    /// Only one direction was captured, which Zeek's states take for a handshake without answer.
    OneWay,
}

impl Standing {
    pub(crate) fn of(connection: &Connection) -> Standing {
        use ConnectionState::{Rej, Rstos0, Rstrh, S0, Sh, Shr};
        let is_failed = matches!(connection.life.state, S0 | Rej | Rstos0 | Rstrh | Sh | Shr);
        if connection.one_way.is_some() {
            Standing::OneWay
        } else if is_failed && connection.handshake.midstream {
            Standing::Midstream
        } else if is_failed && connection.handshake.opened.is_none() {
            Standing::Failed
        } else {
            Standing::Whole
        }
    }
}

/// Keeps the [`Row`]s of the connections that lost most, the sums of all, and of the
/// [worst](Summary::worst) few everything but their packets.
#[derive(Debug, Default)]
pub struct Summary {
    /// At most twice `most`, in no order.
    rows: Vec<Row>,
    most: usize,
    totals: SummaryTotals,
    worst: Best<(Span, Span, Bytes)>,
    slowest: Best<Span>,
}

/// The sums of all connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SummaryTotals {
    /// Connections.
    pub connections: usize,
    /// Closed by both ends.
    pub closed: usize,
    /// Reset by one end after it opened, in the capture or before it.
    pub reset: usize,
    /// Never opened.
    pub failed: usize,
    /// Of which one direction only was captured.
    pub one_way: usize,
    /// Bytes of data that clients and servers sent, without retransmissions.
    pub data: [Bytes; 2],
    /// Segments with data, SYN or FIN, as on the wire.
    pub segments: u64,
    /// Retransmissions among them.
    pub retransmissions: u64,
    /// The first packet and the last.
    times: Option<(Instant, Instant)>,
}

impl SummaryTotals {
    fn add(&mut self, row: &Row) {
        use ConnectionState::Sf;
        self.connections += 1;
        self.closed += usize::from(row.state == Sf);
        self.reset += usize::from(row.is_reset);
        self.failed += usize::from(row.standing == Standing::Failed);
        self.one_way += usize::from(row.standing == Standing::OneWay);
        for (data, way) in self.data.iter_mut().zip([&row.forward, &row.reverse]) {
            *data += way.data;
            self.segments += way.segments;
            self.retransmissions += way.retransmissions;
        }
        let (first, last) = self.times.unwrap_or((row.first, row.last));
        self.times = Some((first.min(row.first), last.max(row.last)));
    }
}

/// The connections with the largest keys; of equal ones the first.
#[derive(Debug)]
struct Best<K> {
    most: usize,
    kept: BTreeMap<(K, Reverse<usize>), Box<Connection>>,
}

impl<K> Default for Best<K> {
    fn default() -> Best<K> {
        Best { most: 0, kept: BTreeMap::new() }
    }
}

impl<K: Ord> Best<K> {
    fn new(most: usize) -> Best<K> {
        Best { most, ..Best::default() }
    }
    fn add(&mut self, key: K, index: usize, connection: &Connection) {
        let key = (key, Reverse(index));
        let is_full = self.kept.len() >= self.most;
        if is_full && self.kept.first_key_value().is_none_or(|(least, _)| *least > key) {
            return;
        }
        if is_full {
            self.kept.pop_first();
        }
        self.kept.insert(key, Box::new(connection.clone()));
    }
    /// Those with the largest keys first.
    fn sorted(&self) -> impl Iterator<Item = (usize, &Connection)> {
        self.kept.iter().rev().map(|((_, Reverse(index)), connection)| (*index, &**connection))
    }
}

impl Summary {
    /// Keeps `most` rows, and the sums of the `keep` worst connections and the slowest.
    pub fn new(most: usize, keep: usize) -> Summary {
        let (worst, slowest) = (Best::new(keep), Best::new(keep.min(1)));
        Summary { most, worst, slowest, ..Summary::default() }
    }
    /// The rows that are kept, by lost time, then by data, largest first.
    pub fn by_loss(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_unstable_by_key(|row| rank(row));
        rows.truncate(self.most);
        rows
    }
    /// The sums of all connections.
    pub fn totals(&self) -> &SummaryTotals {
        &self.totals
    }
    /// From the first TCP packet to the last.
    pub fn lasted(&self) -> Span {
        self.totals.times.map_or(Span::ZERO, |(first, last)| last.since(first))
    }
    fn add(&mut self, row: Row) {
        self.totals.add(&row);
        self.rows.push(row);
        if self.rows.len() >= self.most.saturating_mul(2).max(FEW) {
            self.rows.sort_unstable_by_key(rank);
            self.rows.truncate(self.most);
        }
    }
    /// With their numbers, the connections that lost most time, then those whose servers were
    /// slowest to answer, then those with most data; and the one with the slowest server, if that
    /// is not among them.
    pub fn worst(&self) -> Vec<(usize, &Connection)> {
        let mut worst: Vec<_> = self.worst.sorted().collect();
        let slowest =
            self.slowest.sorted().find(|(index, _)| worst.iter().all(|it| it.0 != *index));
        worst.extend(slowest);
        worst
    }
}

/// Where a row stands in the table: what lost most time comes first, then what carried most data.
fn rank(row: &Row) -> (Reverse<Span>, Reverse<Bytes>, usize) {
    (Reverse(row.lost), Reverse(row.forward.data + row.reverse.data), row.index)
}

impl Sink for Summary {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        let row = Row::new(index, connection);
        let (lost, waited) = (row.lost, waited(connection));
        let data = row.forward.data + row.reverse.data;
        self.add(row);
        self.worst.add((lost, waited, data), index, connection);
        if !waited.is_zero() {
            self.slowest.add(waited, index, connection);
        }
    }
}

#[cfg(test)]
mod tests;
