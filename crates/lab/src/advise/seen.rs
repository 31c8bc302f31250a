//! What a connection in a capture shows of its path and of its settings.

use serde::Serialize;
use tcplab_trace::{Connection, Flow, Limit, LimitShares, Sink, SynOptions};
use tcplab_units::{Bytes, Rate, Span};

/// The least share of the time for which a limit must apply to be worth raising.
pub(super) const NOTABLE: f64 = 0.1;

/// What was seen of a connection, in the direction that carried more.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observed {
    /// Payload acknowledged a second.
    #[serde(rename = "goodput_bits_per_second", with = "tcplab_units::number")]
    pub goodput: Option<Rate>,
    /// The mean round trip; none away from the sender, where answers take only a part of it.
    #[serde(rename = "rtt_mean_ns", with = "tcplab_units::number")]
    pub mean_rtt: Option<Span>,
    /// The largest window that its receiver offered.
    #[serde(rename = "window_max_bytes", with = "tcplab_units::number")]
    pub window: Option<Bytes>,
    /// What bounded the rate.
    #[serde(rename = "limits")]
    pub shares: LimitShares,
    /// Whether both SYNs offered window scaling; none where they were not seen. So of the next.
    pub window_scaling: Option<bool>,
    /// Whether both offered SACK.
    pub sack: Option<bool>,
    /// Whether both offered timestamps.
    pub timestamps: Option<bool>,
    /// Small segments that waited for a delayed acknowledgement.
    pub nagle_waits: u64,
    /// For how long together.
    #[serde(rename = "nagle_wait_ns", with = "tcplab_units::number")]
    pub nagle_waited: Span,
    /// Packets with data.
    pub segments: u64,
    /// Of these, repetitions.
    pub retransmissions: u64,
    /// Whether both ends send in turn: the other direction has at least a tenth of the packets with
    /// data.
    #[serde(skip)]
    pub is_dialogue: bool,
}

impl Observed {
    /// Of the connection, the direction that carried more.
    pub fn of(connection: &Connection) -> Observed {
        let flow = busier(connection);
        let [least, most] = {
            let [forward, reverse] =
                [&connection.forward, &connection.reverse].map(|it| it.totals.data_segments);
            [forward.min(reverse), forward.max(reverse)]
        };
        let [client, server] = [&connection.handshake.client, &connection.handshake.server];
        let both = |offers: &dyn Fn(&SynOptions) -> bool| {
            let is_known = |syn: &SynOptions| syn.seen && !syn.cut;
            (is_known(client) && is_known(server)).then(|| offers(client) && offers(server))
        };
        Observed {
            goodput: flow.transfer.goodput,
            mean_rtt: flow.round_trips.mean.filter(|_| !connection.is_away(flow)),
            window: flow.windows.max,
            shares: flow.shares,
            window_scaling: both(&|syn| syn.window_scale.is_some()),
            sack: both(&|syn| syn.sack_permitted),
            timestamps: both(&|syn| syn.timestamps),
            nagle_waits: flow.marks.nagle_waits.count,
            nagle_waited: flow.marks.nagle_wait_time,
            segments: flow.totals.segments,
            retransmissions: flow.totals.retransmissions,
            is_dialogue: least.saturating_mul(10) >= most,
        }
    }

    /// The share of the time under a limit, 0 to 1.
    pub(super) fn share(&self, limit: Limit) -> f64 {
        self.shares.share(limit)
    }
}

/// The direction that carried more.
pub(super) fn busier(connection: &Connection) -> &Flow {
    if is_download(connection) { &connection.reverse } else { &connection.forward }
}

/// Whether the server sent more than the client.
pub(super) fn is_download(connection: &Connection) -> bool {
    connection.reverse.totals.unique > connection.forward.totals.unique
}

/// Keeps, of all connections of a capture, the one that carried most, without its packets.
#[derive(Debug, Default)]
pub struct Busiest {
    /// That one, and its number, from 0; none of no connections.
    pub connection: Option<(usize, Connection)>,
}

impl Sink for Busiest {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        let carried = |it: &Connection| it.forward.totals.unique + it.reverse.totals.unique;
        let known = self.connection.as_ref().map(|(_, known)| carried(known));
        if known.is_none_or(|known| known < carried(connection)) {
            self.connection = Some((index, connection.clone()));
        }
    }
}
