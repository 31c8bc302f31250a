//! A path, the data to send over it, and its sender, as far as they are known.

use serde::{Deserialize, Serialize};
use tcplab_path::{Direction, PathSpec};
use tcplab_scenario::PlannedConnection;
use tcplab_trace::{Connection, Limit};
use tcplab_units::{Bytes, Endpoint, Instant, Rate, Span};

use super::congestion::Congestion;
use super::ends::Ends;
use super::seen::{NOTABLE, Observed, busier};
use crate::analysis::{Ideal, WITH_TIMESTAMPS, WITHOUT_OPTIONS};
use crate::plan::sysctl;

/// What the settings are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Much data in little time.
    Throughput,
    /// Short answers soon.
    Latency,
    /// One beside the other.
    #[default]
    Both,
}

impl Goal {
    /// Whether transfers are to be fast.
    pub fn wants_throughput(self) -> bool {
        self != Goal::Latency
    }

    /// Whether answers are to come soon.
    pub fn wants_latency(self) -> bool {
        self != Goal::Throughput
    }
}

/// A path, the data to send over it, and its sender, as far as they are known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Situation {
    /// The round trip time of the idle path, above zero.
    #[serde(rename = "rtt_ns", with = "tcplab_units::number")]
    pub rtt: Span,
    /// The rate of its bottleneck, bits of IP packets a second.
    #[serde(rename = "rate_bits_per_second", with = "tcplab_units::number")]
    pub rate: Option<Rate>,
    /// The share of packets that is lost for other reasons than a full queue, 0 to 1; where it
    /// changes, in the mean over a minute.
    #[serde(rename = "loss_ratio")]
    pub loss: f64,
    /// Whether losses of a full queue may be in it: a capture does not always show them.
    #[serde(skip)]
    pub has_losses_of_queue: bool,
    /// The largest IP packet.
    #[serde(rename = "mtu_bytes", with = "tcplab_units::number")]
    pub mtu: Bytes,
    /// How much longer a packet takes through a full queue.
    #[serde(rename = "queue_ns", with = "tcplab_units::number")]
    pub queue: Option<Span>,
    /// What a transfer carries.
    #[serde(rename = "payload_bytes", with = "tcplab_units::number")]
    pub payload: Bytes,
    /// The congestion control in use.
    pub congestion: Congestion,
    /// Those that the sender's system offers.
    pub available: Vec<String>,
    /// The maxima of `net.ipv4.tcp_rmem` and `tcp_wmem`, bytes; none where the ends are elsewhere.
    #[serde(skip)]
    pub buffer_maxima: Option<[u64; 2]>,
    /// What was seen of a connection that is to become better.
    pub seen: Option<Observed>,
    /// The end of the path that sends the payload, where it matters: of a scenario.
    #[serde(skip)]
    pub sender: Endpoint,
    /// The settings of both ends: of a run.
    #[serde(skip)]
    pub ends: Option<Ends>,
    /// Of IPv4 and TCP in each segment.
    #[serde(skip)]
    pub headers: Bytes,
}

/// What a capture lacks to advise from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lacking {
    /// The packets of one end.
    #[error(
        "only one direction was captured; pass a capture of both (a mirror port must mirror both)"
    )]
    Direction,
    /// Any round trip.
    #[error("contains no RTT sample, which the formulas need")]
    RoundTrip,
    /// The path's round trip: data and their acknowledgements show only the receiver's time.
    #[error(
        "captured beside the receiver, without handshake or timestamps, so the RTT is unknown; \
         pass the sender's capture"
    )]
    RoundTripBesideReceiver,
}

/// Where the amount to send is not known.
const USUAL_PAYLOAD: Bytes = Bytes::new(10_000_000);
/// A transfer that is tried takes so long where the path carries all it can: slow start is over by
/// then, and trials with less than that do not take for ever.
const WORTHWHILE: Span = Span::from_secs(4);
/// Why a capture or figures alone say nothing of the sender.
const NOTHING_SHOWN: &str = "nothing shows it";

impl Situation {
    /// A path of which only its round trip is known, with what is usual for the rest.
    pub fn of_round_trip(rtt: Span) -> Situation {
        Situation {
            rtt,
            rate: None,
            loss: 0.0,
            has_losses_of_queue: false,
            mtu: Bytes::new(1500),
            queue: None,
            payload: USUAL_PAYLOAD,
            congestion: Congestion::unknown(NOTHING_SHOWN),
            available: ["reno", "cubic", "bbr"].map(Into::into).to_vec(),
            buffer_maxima: None,
            seen: None,
            sender: Endpoint::Client,
            ends: None,
            headers: WITH_TIMESTAMPS,
        }
    }

    /// With the congestion control that this machine uses by default, and those that it offers.
    #[must_use]
    pub fn on_this_host(self) -> Situation {
        const DEFAULT: &str = "net.ipv4.tcp_congestion_control";
        let offered = sysctl("net.ipv4.tcp_available_congestion_control");
        let congestion = match sysctl(DEFAULT) {
            Some(name) => Congestion::known(&name, format!("this machine's default ({DEFAULT})")),
            None => Congestion::unknown(format!("this machine has no {DEFAULT}")),
        };
        let maximum = |name| sysctl(name)?.split_whitespace().next_back()?.parse().ok();
        let maxima = maximum("net.ipv4.tcp_rmem").zip(maximum("net.ipv4.tcp_wmem"));
        Situation {
            congestion,
            buffer_maxima: maxima.map(<[u64; 2]>::from),
            available: offered
                .map_or(self.available, |names| names.split_whitespace().map(Into::into).collect()),
            ..self
        }
    }

    /// What the plan of a path says of the direction from this `sender`, for the only connection
    /// of a trial; none of a path that cannot be, or that is none.
    pub fn of_path(path: &PathSpec, sender: Endpoint) -> Option<Situation> {
        /// Paths that change are looked at for so long.
        const LOOK: Span = Span::from_secs(60);
        let until = Instant::ZERO + LOOK;
        let way = match sender {
            Endpoint::Client => Direction::Forward,
            Endpoint::Server => Direction::Reverse,
        };
        let ports = PlannedConnection::FIRST_PORTS;
        let ideal = Ideal::of(path, way, until, 1)?.between_ports(path, ports);
        let outlook = path.link(way).ok()?.outlook(until, 1, 100);
        let first = outlook.moments.first();
        Some(Situation {
            rate: ideal.rate,
            loss: outlook.loss,
            mtu: ideal.mtu,
            queue: first.and_then(|moment| moment.queue).filter(|_| ideal.rate.is_some()),
            sender,
            ..Situation::of_round_trip(ideal.base_rtt.max(Span::from_micros(1)))
        })
    }

    /// What a transfer carries that is just long enough to distinguish settings:
    /// as much as the path carries in four seconds, 1 to 100 MB, one figure of it.
    pub fn worthwhile_payload(&self) -> Bytes {
        let most = self.rate.map_or(USUAL_PAYLOAD, |rate| rate.bytes_in(WORTHWHILE)).as_u64();
        let most = most.clamp(1_000_000, 100_000_000);
        let size = 10_u64.pow(most.ilog10());
        Bytes::new(most / size * size)
    }

    fn ideal(&self) -> Ideal {
        Ideal::steady(self.mtu, self.rtt, self.rate)
    }

    /// The key that chooses the sender's congestion control.
    pub(super) fn congestion_key(&self) -> String {
        format!("{}.socket.congestion", self.sender.name())
    }

    /// The payload of a full segment.
    pub fn segment(&self) -> Bytes {
        self.mtu.saturating_sub(self.headers)
    }

    /// The most payload a second.
    pub fn ideal_goodput(&self) -> Option<Rate> {
        let share = self.segment().as_u64() as f64 / self.mtu.as_u64().max(1) as f64;
        let bits = self.rate?.bits_per_second() as f64 * share;
        (bits >= 1.0).then(|| Rate::from_bits_per_second(bits as u64))
    }

    /// The bandwidth-delay product.
    pub fn bdp(&self) -> Option<Bytes> {
        self.ideal().bdp()
    }

    pub(super) fn offers(&self, congestion: &str) -> bool {
        self.available.iter().any(|name| name == congestion)
    }
}

impl Situation {
    /// What a connection shows of its path.
    ///
    /// The round trip is the path's ([`Connection::path_round_trip`]), the rate the closest even
    /// spacing of acknowledged data. Necessary retransmissions count as losses, also those of a
    /// full queue, until [`Losses`](super::Losses) leave them out. Neither beside the receiver nor
    /// where something else limited the sender does a packet show the queue.
    ///
    /// # Errors
    ///
    /// What the capture lacks: a direction, or the path's round trip.
    pub fn of_connection(connection: &Connection) -> Result<Situation, Lacking> {
        if connection.one_way.is_some() {
            return Err(Lacking::Direction);
        }
        let flow = busier(connection);
        let is_away = connection.is_away(flow);
        let rtt = connection.path_round_trip(flow).ok_or(if is_away {
            Lacking::RoundTripBesideReceiver
        } else {
            Lacking::RoundTrip
        })?;
        let causes = &flow.causes;
        let lost = flow.totals.retransmissions.saturating_sub(causes.spurious.sent.count);
        let loss = lost as f64 / flow.totals.segments.max(1) as f64;
        let largest = flow.marks.largest.as_u64();
        let [client, server] = [&connection.handshake.client, &connection.handshake.server];
        let has_timestamps = client.timestamps && server.timestamps;
        let headers = if has_timestamps { WITH_TIMESTAMPS } else { WITHOUT_OPTIONS };
        // Of payload a second, bits of packets.
        let rate = flow.transfer.capacity.map(|rate| {
            let whole = (largest + headers.as_u64()) as f64 / largest.max(1) as f64;
            Rate::from_bits_per_second((rate.bits_per_second() as f64 * whole) as u64)
        });
        let least = flow.round_trips.min.filter(|_| !is_away);
        // Packets show a full queue only where the path was the limit.
        let is_full = flow.shares.share(Limit::Path) >= NOTABLE;
        let longest = flow.round_trips.max.filter(|_| is_full);
        let stood = longest.zip(least).map(|(max, least)| max.saturating_sub(least));
        Ok(Situation {
            rate,
            loss,
            has_losses_of_queue: true,
            mtu: Bytes::new(largest.max(536)) + headers,
            headers,
            queue: stood,
            payload: flow.totals.unique,
            seen: Some(Observed::of(connection)),
            ..Situation::of_round_trip(rtt.max(Span::from_micros(1)))
        })
    }
}
