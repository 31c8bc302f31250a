//! What a connection in a capture tells of its path and of its settings.

use serde::Serialize;
use tcplab_trace::{Connection, Flow, Limit, LimitShares, Sink, SynOptions};
use tcplab_units::{Bytes, Rate, Span};

use super::Situation;

/// What was seen of a connection, in the direction that carried more.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seen {
    /// Payload acknowledged a second.
    pub goodput: Option<Rate>,
    /// The mean round trip.
    pub mean_rtt: Option<Span>,
    /// The largest window that its receiver offered.
    pub window: Option<Bytes>,
    /// What bounded the rate.
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
    pub nagle_waited: Span,
    /// Packets with data.
    pub segments: u64,
    /// Of these, repetitions.
    pub retransmissions: u64,
}

impl Seen {
    /// Of the connection, the direction that carried more.
    pub fn of(connection: &Connection) -> Seen {
        let flow = busier(connection);
        let [client, server] = [&connection.handshake.client, &connection.handshake.server];
        let both = |offers: &dyn Fn(&SynOptions) -> bool| {
            let told = |syn: &SynOptions| syn.seen && !syn.cut;
            (told(client) && told(server)).then(|| offers(client) && offers(server))
        };
        Seen {
            goodput: flow.transfer.goodput,
            mean_rtt: flow.round_trips.mean,
            window: flow.windows.max,
            shares: flow.shares,
            window_scaling: both(&|syn| syn.window_scale.is_some()),
            sack: both(&|syn| syn.sack_permitted),
            timestamps: both(&|syn| syn.timestamps),
            nagle_waits: flow.marks.nagle_waits.count,
            nagle_waited: flow.marks.nagle_wait_time,
            segments: flow.totals.data_segments,
            retransmissions: flow.totals.retransmissions,
        }
    }

    /// The share of the time under a limit, 0 to 1.
    pub(super) fn share(&self, limit: Limit) -> f64 {
        self.shares.share(limit)
    }
}

/// The direction that carried more.
fn busier(connection: &Connection) -> &Flow {
    let Connection { forward, reverse, .. } = connection;
    if reverse.totals.unique > forward.totals.unique { reverse } else { forward }
}

impl Situation {
    /// What a connection tells of its path; none where no round trip was seen.
    ///
    /// The round trip is the shortest seen, the rate the closest even spacing of acknowledged
    /// data. Needed repetitions stand for losses: those of a queue that ran over too.
    pub fn of_connection(connection: &Connection) -> Option<Situation> {
        let flow = busier(connection);
        let rtt = flow.round_trips.min.or(connection.handshake.round_trip)?;
        let causes = &flow.causes;
        let needless = causes.spurious_by_dsack.count + causes.spurious_by_timestamp.count;
        let lost = flow.totals.retransmissions.saturating_sub(needless);
        let loss = lost as f64 / flow.totals.data_segments.max(1) as f64;
        let largest = flow.marks.largest.as_u64();
        // Of payload a second, bits of packets.
        let rate = flow.transfer.capacity.map(|rate| {
            let whole = (largest + 40) as f64 / largest.max(1) as f64;
            Rate::from_bits_per_second((rate.bits_per_second() as f64 * whole) as u64)
        });
        let stood = flow.round_trips.max.map(|max| max.saturating_sub(rtt));
        Some(Situation {
            rate,
            loss,
            mtu: Bytes::new(largest.max(536) + 40),
            queue: stood,
            payload: flow.totals.unique,
            seen: Some(Seen::of(connection)),
            ..Situation::of_round_trip(rtt.max(Span::from_micros(1)))
        })
    }
}

/// Keeps, of all connections of a capture, the one that carried most, without its packets.
#[derive(Debug, Default)]
pub struct Busiest {
    /// That one; none of no connections.
    pub connection: Option<Connection>,
}

impl Sink for Busiest {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, _index: usize, connection: Connection) {
        let carried = |it: &Connection| it.forward.totals.unique + it.reverse.totals.unique;
        if self.connection.as_ref().is_none_or(|known| carried(known) < carried(&connection)) {
            self.connection = Some(connection);
        }
    }
}
