//! The small JSON files of a recording.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use tcplab_path::{Backend, PathEvent, PathSpec, Verdict};
use tcplab_units::{Instant, Span};
use tcplab_workload::{AppReport, LoadReport, Outcome};

use crate::Sketch;

/// `app.json`: what both applications did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppLog {
    /// The end that connected.
    pub client: AppReport,
    /// The end that accepted.
    pub server: AppReport,
    /// The result of the load, if the workload is one.
    pub load: Option<LoadReport>,
    /// The flows, if they are named: `client` and `server` are then those of the first that is not
    /// in the background.
    pub flows: Vec<FlowLog>,
}

/// One of several flows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowLog {
    /// Its name in the scenario.
    pub name: String,
    /// Whether the trial did not wait for its end.
    pub background: bool,
    /// Its connections in the order in which they began.
    pub connections: Vec<ConnectionLog>,
}

/// One connection of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConnectionLog {
    /// The client's port and the server's, by which it is found in the captures.
    #[serde(with = "tcplab_units::ends")]
    pub ports: [u16; 2],
    /// When it was to begin.
    #[serde(rename = "start_ns")]
    pub start: Instant,
    /// The end that connected.
    pub client: AppReport,
    /// The end that accepted.
    pub server: AppReport,
}

impl AppLog {
    /// Of applications without TCP flows, such as datagrams.
    pub fn of(client: AppReport, server: AppReport) -> AppLog {
        AppLog { client, server, load: None, flows: Vec::new() }
    }

    /// Of all flows: `client` and `server` are those of the first that is not in the background. A
    /// flow without a name is the only one and is not listed. None if that first flow never began.
    pub fn of_flows(mut flows: Vec<FlowLog>) -> Option<AppLog> {
        let subject = flows.iter().find(|flow| !flow.background)?;
        let of = |report: fn(&ConnectionLog) -> &AppReport| {
            AppReport::of_all(subject.connections.iter().map(|it| report(it).clone()).collect())
        };
        let (client, server) = (of(|it| &it.client)?, of(|it| &it.server)?);
        flows.retain(|flow| !flow.name.is_empty());
        Some(AppLog { flows, ..AppLog::of(client, server) })
    }
}

/// `result.json`: how the trial was set up and how the world behaved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// tcplab's version.
    pub tcplab: String,
    /// The case it was a trial of.
    pub case: String,
    /// The hash of that case.
    pub case_hash: String,
    /// The seed of this trial.
    pub seed: u64,
    /// The path between the endpoints, complete.
    pub path: PathSpec,
    /// How the path was changed while the trial ran, beside the events that it has of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_events: Vec<PathEvent>,
    /// A second path, for Multipath TCP, complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_path: Option<PathSpec>,
    /// The zero of all its times: nanoseconds since the Unix epoch.
    #[serde(rename = "zero_unix_ns")]
    pub epoch_nanos: u64,
    /// From zero to the end of the recording.
    #[serde(rename = "duration_ns", with = "tcplab_units::number")]
    pub duration: Span,
    /// The client as set up.
    pub client: EndpointRecord,
    /// The server as set up.
    pub server: EndpointRecord,
    /// How the world behaved.
    pub world: WorldRecord,
}

impl TrialRecord {
    /// The path with all that was changed while the trial ran: what packets met.
    pub fn steered_path(&self) -> PathSpec {
        self.path.with_events(&self.path_events)
    }

    /// Whether a path damaged packets.
    pub fn damages_packets(&self) -> bool {
        self.steered_path().damages_packets()
            || self.second_path.as_ref().is_some_and(PathSpec::damages_packets)
    }

    /// Whether a client's address is that of the second path.
    pub fn is_on_second_path(&self, client: IpAddr) -> bool {
        self.second_path.is_some() && client.to_string() != self.client.address
    }

    /// Whether its packets have headers of IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.client.address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6())
    }

    /// Whether the path gave verdicts on packets (`path.jsonl`).
    pub fn has_truth(&self) -> bool {
        !self.path.same_host && self.path.backend.unwrap_or_default() == Backend::Tcplab
    }
}

/// A row of `path.jsonl`: the path's verdict on one packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthRow {
    /// The packet's frame number in the capture of the endpoint that sent it, from 1. None if
    /// the path made the packet, or the capture lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<u64>,
    /// Why the endpoint sent it, such as `timeout`; only stack models report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Cow<'static, str>>,
    /// What became of it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The configuration of an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointRecord {
    /// Such as `10.98.0.1`.
    pub address: String,
    /// The options of its connected socket: asked for and read back.
    pub options: Vec<OptionRecord>,
    /// Those of the socket that the server listened on.
    pub listener: Vec<OptionRecord>,
    /// The `net.ipv4.tcp_*` settings of its namespace that were in force.
    #[serde(with = "tcplab_units::text")]
    pub sysctls: BTreeMap<String, String>,
    /// The attributes of its route to the other end that were asked for, and what they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<OptionRecord>,
    /// The parameters of kernel modules that were asked for, as they were in force.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "tcplab_units::text")]
    pub modules: BTreeMap<String, String>,
    /// The buffers that all its connections share, of a model that counts them.
    pub pool: Option<PoolRecord>,
}

/// The packet buffers of a machine, over a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolRecord {
    /// How many there are.
    pub size: u32,
    /// The least number of free ones.
    pub least_free: u32,
    /// Segments that arrived and were dropped for want of a buffer.
    pub dropped: u64,
    /// Segments without data that were not sent for want of a buffer.
    pub unsent: u64,
}

/// A socket option of one socket, or an attribute of a route: asked for, and read back at several
/// times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionRecord {
    /// As in the scenario, such as `rcvbuf`.
    pub name: String,
    /// As in the man page, such as `SO_RCVBUF`.
    pub option: String,
    /// As in the scenario, of an accepted socket perhaps for the one that listens; none where it
    /// was left to the system.
    #[serde(with = "tcplab_units::text")]
    pub requested: Option<String>,
    /// Before anything was set: on a fresh socket, or as `accept` gave it.
    #[serde(with = "tcplab_units::text")]
    pub before: Option<String>,
    /// When all was set, before connecting or listening.
    #[serde(with = "tcplab_units::text")]
    pub set: Option<String>,
    /// When it was connected, or listened.
    #[serde(with = "tcplab_units::text")]
    pub connected: Option<String>,
    /// At the end of the trial.
    #[serde(with = "tcplab_units::text")]
    pub effective: String,
    /// Whether the request was met.
    pub outcome: Outcome,
    /// Why, in a sentence: the sysctl with its value, the error of the refusal.
    pub because: Option<String>,
}

impl OptionRecord {
    /// Whether it was requested, or changed in the course of the trial.
    pub fn is_remarkable(&self) -> bool {
        let times = [&self.before, &self.set, &self.connected];
        self.requested.is_some()
            || self.outcome != Outcome::Default
            || times.into_iter().flatten().any(|value| *value != self.effective)
    }
}

/// How the world behaved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorldRecord {
    /// `kernel` or `sim`.
    pub name: String,
    /// Such as `tun`: how frames got out of an endpoint and in.
    pub device: String,
    /// Such as `held` or `user-namespace`.
    pub privilege: String,
    /// Such as `real-time` or `short-slices`: how the thread that moves frames is scheduled.
    pub scheduling: String,
    /// Packets are handed over this much before they are due, to compensate for the cost of reading
    /// and writing them; captures have the times of the hand-over.
    #[serde(rename = "lead_ns", with = "tcplab_units::number")]
    pub lead: Span,
    /// How long before a packet was due the thread that moves frames began to poll.
    #[serde(rename = "spin_ns", with = "tcplab_units::number")]
    pub spin: Span,
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// How long packets may have waited in a device before the path.
    pub ring_wait: RingWait,
    /// Frames that the world itself lost, outside the path: should be none.
    pub device_drops: u64,
    /// Frames missing in the captures, because writing could not keep up.
    pub capture_drops: u64,
    /// Verdicts missing in the ground truth, because writing could not keep up.
    pub verdict_drops: u64,
    /// Samples that could not be taken in time.
    pub samples_missed: u64,
    /// How the thread that moves frames was scheduled.
    pub mover: MoverRecord,
    /// Of a path made by netem: how it differs from the one asked for, by key. Of a path used
    /// without a trial: what this machine cannot model.
    pub notes: Vec<String>,
}

/// How late packets were handed over, against the times of the path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Packets handed over.
    pub packets: u64,
    /// The median.
    #[serde(rename = "median_ns", with = "tcplab_units::number")]
    pub median: Span,
    /// The 99th percentile.
    #[serde(rename = "p99_ns", with = "tcplab_units::number")]
    pub p99: Span,
    /// The 99.9th percentile.
    #[serde(rename = "p999_ns", with = "tcplab_units::number")]
    pub p999: Span,
    /// The maximum.
    #[serde(rename = "max_ns", with = "tcplab_units::number")]
    pub max: Span,
}

impl Lateness {
    /// From a sketch of the lateness of each packet.
    pub fn of(each: &Sketch) -> Lateness {
        Lateness {
            packets: each.count(),
            median: each.quantile(500),
            p99: each.quantile(990),
            p999: each.quantile(999),
            max: each.max(),
        }
    }
}

/// An upper bound of how long packets waited in a device before the path: at each packet read, the
/// time since that device was last empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingWait {
    /// The 99th percentile.
    #[serde(rename = "p99_ns", with = "tcplab_units::number")]
    pub p99: Span,
    /// The maximum.
    #[serde(rename = "max_ns", with = "tcplab_units::number")]
    pub max: Span,
}

/// How the thread that moves frames was scheduled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MoverRecord {
    /// The share of the time in which it had frames to move, 0 to 1: near 1, the machine, not the
    /// path, sets the pace.
    pub busy: f64,
    /// That share in the busiest second.
    pub busiest: f64,
    /// How long it was ready to run and did not get a processor, in all.
    #[serde(rename = "starved_ns", with = "tcplab_units::number")]
    pub starved: Span,
    /// The longest time between two polls of the devices without sleep in between.
    #[serde(rename = "longest_turn_ns", with = "tcplab_units::number")]
    pub longest_turn: Span,
    /// How often the wall clock stepped by more than a millisecond.
    pub clock_steps: u64,
}
