//! Trials of models in both worlds, and what is compared of their recordings.

use std::convert::Infallible;
use std::fmt::Debug;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tcplab_capture::Direction;
use tcplab_recording::{AppLog, EndpointRecord, Recording, Sample, TruthRow};
use tcplab_scenario::{Case, Scenario};
use tcplab_units::{Endpoint, Instant};

use super::super::{GuestTrialError, ModelHost, run_guests};
use crate::error::SimError;
use crate::trial::{EPOCH_NANOS, TrialRequest, run_trial};

pub(super) const SEED: u64 = 3;

/// What is compared of a recording.
pub(super) struct Recorded {
    /// Of client and server.
    pub(super) captures: [Vec<Packet>; 2],
    /// Without causes, by direction; with ids that count the packets of each direction: of two that
    /// leave different ends together either may have the smaller one.
    pub(super) truth: Vec<TruthRow>,
    pub(super) app: AppLog,
    pub(super) samples: Vec<Sample>,
    /// How client and server were set up.
    pub(super) records: [EndpointRecord; 2],
    pub(super) end: Instant,
}

/// A packet of a capture.
#[derive(Debug, PartialEq)]
pub(super) struct Packet {
    pub(super) at: Instant,
    pub(super) is_sent: bool,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn case(text: &str) -> Case {
    let text = format!("title = \"A trial\"\n{text}\n[repeat]\ntrials = 1\n");
    let parsed = Scenario::parse(&text, "trial");
    parsed.unwrap_or_else(|error| panic!("{error:?}\n{text}")).cases.remove(0)
}

/// In the world of models.
pub(super) fn run_models(text: &str, directory: &Path) -> Result<(), SimError> {
    let request = TrialRequest {
        case: &case(text),
        seed: SEED,
        directory,
        snaplen: None,
        keeps_packets: true,
    };
    run_trial(&request, &AtomicBool::new(false))
}

/// In the world of guests.
pub(super) fn run_as_guests(
    text: &str,
    directory: &Path,
) -> Result<(), GuestTrialError<Infallible>> {
    let case = case(text);
    let hosts = Endpoint::BOTH.map(|end| ModelHost::start(&case, SEED, end).unwrap());
    let trial =
        TrialRequest { case: &case, seed: SEED, directory, snaplen: None, keeps_packets: true };
    run_guests(&trial, hosts, ["a model", "a model"], &mut || false)
}

/// A scenario with one case in both worlds: that of models, and that of guests.
pub(super) fn twice(text: &str) -> [Recorded; 2] {
    [Recorded::of(text, run_models), Recorded::of(text, run_as_guests)]
}

impl Recorded {
    pub(super) fn of<E: Debug>(text: &str, run: impl Fn(&str, &Path) -> Result<(), E>) -> Recorded {
        let place = tempfile::tempdir().unwrap();
        run(text, place.path()).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let recording = Recording::open(place.path()).unwrap();
        let record = recording.record().unwrap();
        let app = recording.app().unwrap();
        let mut samples = recording.samples().unwrap();
        for flow in &app.flows {
            samples.extend(recording.samples_of(&flow.name).unwrap());
        }
        samples.sort_by_key(|sample| sample.at);
        Recorded {
            captures: Endpoint::BOTH.map(|end| packets(&recording, end)),
            truth: numbered(recording.truth().unwrap()),
            app,
            samples,
            records: [record.client, record.server],
            end: Instant::ZERO + record.duration,
        }
    }

    pub(super) fn packets(&self, end: Endpoint) -> &[Packet] {
        &self.captures[end.index()]
    }
}

/// The packets of a capture; within an instant those that arrived first. A world of guests records
/// an arrival before what a timer of that instant sends, one of models after it.
fn packets(recording: &Recording, end: Endpoint) -> Vec<Packet> {
    let (path, _) = recording.capture(end).unwrap();
    let mut reader = tcplab_capture::open(path).unwrap();
    let mut packets = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let nanos = record.time.unwrap().as_nanos() - EPOCH_NANOS;
        packets.push(Packet {
            at: Instant::from_nanos(nanos),
            is_sent: record.direction() == Some(Direction::Outbound),
            bytes: record.captured.to_vec(),
        });
    }
    packets.sort_by_key(|packet| (packet.at, packet.is_sent));
    packets
}

/// The rows without causes, with ids that count the packets of each direction.
fn numbered(rows: Vec<TruthRow>) -> Vec<TruthRow> {
    let mut known = [Vec::new(), Vec::new()];
    for row in rows.iter().filter(|row| !row.verdict.is_made()) {
        known[row.verdict.direction.sender().index()].push(row.verdict.id);
    }
    for ids in &mut known {
        ids.sort_unstable();
    }
    let number = |id: u64| {
        known.iter().find_map(|ids| Some(ids.binary_search(&id).ok()? as u64)).unwrap_or(id)
    };
    let mut rows: Vec<TruthRow> = rows
        .into_iter()
        .map(|mut row| {
            row.because = None;
            row.verdict.id = number(row.verdict.id);
            row.verdict.origin = row.verdict.origin.map(number);
            row
        })
        .collect();
    rows.sort_by_key(|row| (row.verdict.direction.sender().index(), row.verdict.id));
    rows
}
