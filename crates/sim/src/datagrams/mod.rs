//! The virtual world without connections: two hosts that exchange datagrams through the path.
//!
//! There is no stack to model: a datagram leaves when it is sent, and what arrives whole waits at
//! its port. Of a kernel only the ICMP errors for closed ports remain.

mod station;

use tcplab_path::{Direction, Fate, Link, LinkPlan, Packet, Verdict};
use tcplab_recording::{AppLog, EndpointRecord, RecordingError, RecordingWriter};
use tcplab_scenario::{Case, EndpointSpec};
use tcplab_units::{Endpoint, Instant};
use tcplab_workload::{DatagramApplication, Datagrams};

use crate::error::{SettingsError, SimError};
use crate::packets::{ADDRESSES, Address, whole};
use crate::world::IsStopped;
pub(crate) use station::Station;

/// The first port that Linux gives out, and the one where the server listens.
const PORTS: [u16; 2] = [32_768, 5_001];

/// The result of an exchange of datagrams.
pub(crate) struct Ended {
    pub(crate) app: AppLog,
    /// Client and server.
    pub(crate) records: [EndpointRecord; 2],
    pub(crate) now: Instant,
    pub(crate) writer: Option<RecordingWriter>,
    /// Whether the client had sent all its requests.
    pub(crate) is_done: bool,
    pub(crate) events: u64,
    pub(crate) packets: u64,
}

/// Two hosts and the path between them.
struct World {
    now: Instant,
    stations: [Station; 2],
    links: [Link; 2],
    /// The id of the next packet.
    next_id: u64,
    writer: Option<RecordingWriter>,
    events: u64,
}

/// Runs the datagrams of a case until the client has closed its socket and nothing is on the links,
/// its limit has come, or it `is_stopped`.
pub(crate) fn run(
    case: &Case,
    datagrams: &Datagrams,
    seed: u64,
    writer: Option<RecordingWriter>,
    is_stopped: IsStopped<'_>,
) -> Result<Ended, SimError> {
    let client = station(case, datagrams, seed, Endpoint::Client)?;
    let server = station(case, datagrams, seed, Endpoint::Server)?;
    let [forward, reverse]: [LinkPlan; 2] = case.links()?;
    let mut world = World {
        now: Instant::ZERO,
        stations: [client, server],
        links: [
            Link::new(&forward, seed, Direction::Forward),
            Link::new(&reverse, seed, Direction::Reverse),
        ],
        next_id: 1,
        writer,
        events: 0,
    };
    world.run(Instant::ZERO + case.limits.trial, is_stopped)?;
    let is_done = world.stations[0].is_over();
    world.end()?;
    let [client, server] = &world.stations;
    Ok(Ended {
        app: AppLog::of(client.report(), server.report()),
        records: Endpoint::BOTH.map(|end| record(case, end)),
        now: world.now,
        writer: world.writer,
        is_done,
        events: world.events,
        packets: world.next_id - 1,
    })
}

/// The host at one end.
pub(crate) fn station(
    case: &Case,
    datagrams: &Datagrams,
    seed: u64,
    end: Endpoint,
) -> Result<Station, SimError> {
    refuse_options(case.end(end), end)?;
    let address = |end: Endpoint| Address { ip: ADDRESSES[end.index()], port: PORTS[end.index()] };
    let application = DatagramApplication::new(end, datagrams, seed);
    let absent = datagrams.server.filter(|_| end == Endpoint::Server);
    Ok(Station::new(application, address(end), address(end.other()), seed).absent(absent))
}

/// How the host at one end was set up.
pub(crate) fn record(case: &Case, end: Endpoint) -> EndpointRecord {
    EndpointRecord {
        address: ADDRESSES[end.index()].to_string(),
        sysctls: case.end(end).sysctl.clone(),
        ..EndpointRecord::default()
    }
}

/// A socket of datagrams has no options in virtual time.
fn refuse_options(spec: &EndpointSpec, end: Endpoint) -> Result<(), SimError> {
    let Some((_, info, value)) = spec.socket.iter().chain(spec.accepted.iter()).next() else {
        return Ok(());
    };
    let source = SettingsError::Option {
        option: info.name,
        value: value.to_string(),
        reason: "sockets of datagrams have no options there; leave it out, or run it in the \
                 kernel (--world kernel)"
            .into(),
    };
    Err(SimError::Settings { endpoint: end.name(), source })
}

impl World {
    fn run(&mut self, limit: Instant, is_stopped: IsStopped<'_>) -> Result<(), RecordingError> {
        for end in [0, 1] {
            self.serve(end)?;
        }
        loop {
            let is_empty = self.links.iter().all(|link| link.in_flight().next().is_none());
            if self.stations[0].is_over() && is_empty {
                return Ok(());
            }
            let departures = self.links.iter().map(Link::next_departure);
            let wakes = self.stations.iter().map(Station::wake);
            // What arrives comes before what a host does by itself.
            let due = departures.chain(wakes).enumerate();
            let Some((at, source)) = due.filter_map(|(source, at)| Some((at?, source))).min()
            else {
                return Ok(());
            };
            if at > limit {
                self.now = limit;
                return Ok(());
            }
            self.now = at;
            self.events += 1;
            match source {
                0 | 1 => self.deliver(source)?,
                _ => self.serve(source - 2)?,
            }
            if is_stopped() {
                return Ok(());
            }
        }
    }

    /// Ends the trial: packets on the links get their verdicts, and the server stops.
    fn end(&mut self) -> Result<(), RecordingError> {
        for link in &mut self.links {
            for departure in link.drain(self.now) {
                if let Some(writer) = &mut self.writer {
                    writer.verdict(&departure.verdict)?;
                }
            }
        }
        self.stations[1].stop();
        self.serve(1)
    }

    /// What left a link reaches the other end, or does not.
    fn deliver(&mut self, way: usize) -> Result<(), RecordingError> {
        let end = 1 - way;
        while let Some(departure) = self.links[way].poll(self.now) {
            let (verdict, bytes) = (departure.verdict, departure.packet.bytes);
            // An ICMP error of the path goes back to the sender.
            let end = match verdict.direction {
                Direction::Forward => 1,
                Direction::Reverse => 0,
            };
            let is_delivered = verdict.fate == Fate::Delivered;
            if let Some(writer) = &mut self.writer {
                let endpoint = Endpoint::BOTH[end];
                if is_delivered && is_as_sent(&verdict) {
                    writer.arrived(endpoint, self.now, verdict.id)?;
                } else if is_delivered {
                    writer.entered(endpoint, self.now, whole(&bytes))?;
                }
                writer.verdict(&verdict)?;
            }
            if is_delivered && let Some(answer) = self.stations[end].take(self.now, &bytes) {
                self.send(end, answer)?;
            }
        }
        self.serve(end)?;
        self.serve(way)
    }

    /// Runs an application; what it sends goes onto the link.
    fn serve(&mut self, end: usize) -> Result<(), RecordingError> {
        while let Some(packet) = self.stations[end].drive(self.now) {
            self.send(end, packet)?;
        }
        Ok(())
    }

    fn send(&mut self, end: usize, packet: Vec<u8>) -> Result<(), RecordingError> {
        let id = self.next_id;
        self.next_id += 1;
        if let Some(writer) = &mut self.writer {
            writer.left(Endpoint::BOTH[end], self.now, id, whole(&packet))?;
        }
        self.links[end].handle_packet(self.now, Packet::new(id, packet));
        Ok(())
    }
}

/// Whether a packet that was delivered is the one that an endpoint sent, bit by bit.
fn is_as_sent(verdict: &Verdict) -> bool {
    !verdict.is_made() && !verdict.marked && verdict.corrupted.is_none()
}
