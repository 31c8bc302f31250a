//! A trial's decisions once more, in virtual time.
//!
//! What a path does depends on its plan, the seed, and which packets came when, and on nothing
//! else. So the packets of a recording, sent through the same links without any clock, must meet
//! the very same verdicts.

use std::collections::BTreeMap;

use tcplab_capture::{Reader, Record};
use tcplab_path::{Direction, Fate, Link, LinkPlan, Packet, Verdict};
use tcplab_recording::Recording;
use tcplab_scenario::Snaplen;
use tcplab_units::{Endpoint, Instant};

use crate::error::LabError;

/// How the decisions compare.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Replay {
    /// Packets that are in both.
    pub packets: u64,
    /// Packets whose verdicts differ, or that are in one only; by id, the first ones.
    pub differences: Vec<Difference>,
    /// How many there are in all.
    pub different: u64,
}

/// A packet that was decided otherwise.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// What the recording says.
    pub recorded: Option<Verdict>,
    /// What virtual time says.
    pub replayed: Option<Verdict>,
}

/// As many differences are kept; more would say no more.
const MOST_KEPT: usize = 20;

/// Sends the packets of a recording through its path again.
///
/// # Errors
/// When the recording cannot be read, or does not have what the path looked at.
pub fn replay(recording: &Recording) -> Result<Replay, LabError> {
    let record = recording.record()?;
    if !record.has_truth() {
        let why = if record.path.same_host {
            "both ends were on the same host, without a path"
        } else {
            "netem made its path, and keeps no log of verdicts"
        };
        return Err(LabError::Replay { why: why.into() });
    }
    if record.second_path.is_some() {
        let why = "its trial has two paths, and a replay has one";
        return Err(LabError::Replay { why: why.into() });
    }
    let mut recorded = BTreeMap::new();
    let mut frames = BTreeMap::new();
    for row in recording.truth_rows()? {
        let row = row?;
        recorded.insert(row.verdict.id, row.verdict);
        frames.extend(row.frame.map(|frame| (row.verdict.id, frame)));
    }
    for direction in Direction::BOTH {
        is_complete(recording, &recorded, direction, record.world.verdict_drops)?;
    }
    // What was still on the path left it when the trial ended.
    let end = recorded.values().map(|verdict| verdict.left).max().unwrap_or_default();
    let mut replayed = BTreeMap::new();
    for direction in Direction::BOTH {
        let plan = record
            .steered_path()
            .link(direction)
            .map_err(|error| LabError::Replay { why: format!("its path cannot be: {error}") })?;
        let packets = if plan.reads_packets() {
            let sent = sent(recording, direction)?;
            let find = |verdict: &Verdict| {
                let frame = frames.get(&verdict.id).and_then(|frame| sent.get(frame));
                let packet = frame.and_then(as_sent);
                packet.map(|bytes| Packet::new(verdict.id, bytes)).ok_or_else(missing)
            };
            entered(&recorded, direction).map(|v| Ok((v.entered, find(v)?))).collect()
        } else {
            // What changes no packet lets each out as large as it came in.
            let bare = |v: &Verdict| Ok((v.entered, Packet::of_size(v.id, v.size)));
            entered(&recorded, direction).map(bare).collect::<Result<Vec<_>, LabError>>()
        }?;
        replayed.extend(decide(&plan, record.seed, direction, packets, end));
    }
    Ok(compare(&recorded, &replayed))
}

/// A packet as an endpoint sent it.
struct SentPacket {
    /// What the capture has of it.
    captured: Vec<u8>,
    /// Its size as it entered the path. The verdict has that of what left, which of a packet that
    /// was cut is that of the first fragment.
    size: usize,
}

/// The whole packet, zeros for what is not captured: no verdict depends on more than headers.
fn as_sent(packet: &SentPacket) -> Option<Vec<u8>> {
    let SentPacket { captured, size } = packet;
    let has_headers = captured.len() >= (*size).min(Snaplen::LEAST.as_u64() as usize);
    (has_headers && captured.len() <= *size).then(|| {
        let mut bytes = captured.clone();
        bytes.resize(*size, 0);
        bytes
    })
}

/// The path looked at packets that the capture does not have.
fn missing() -> LabError {
    let why = "its path looks into packets, and its captures do not have the headers of all";
    LabError::Replay { why: why.into() }
}

/// Fails where more packets were captured at their receiver than the log has verdicts on: then it
/// is cut off.
fn is_complete(
    recording: &Recording,
    recorded: &BTreeMap<u64, Verdict>,
    direction: Direction,
    verdict_drops: u64,
) -> Result<(), LabError> {
    if recording.capture(direction.receiver()).is_err() {
        return Ok(());
    }
    let inbound = Some(tcplab_capture::Direction::Inbound);
    let mut arrived = 0;
    each_frame(recording, direction.receiver(), |_, frame| {
        arrived += u64::from(frame.direction() == inbound);
    })?;
    let delivered = |v: &&Verdict| v.direction == direction && v.fate == Fate::Delivered;
    let known = recorded.values().filter(delivered).count() as u64 + verdict_drops;
    if arrived <= known {
        return Ok(());
    }
    let why = format!(
        "its log of verdicts (path.jsonl) is not whole: {arrived} packets arrived at the {}, and \
         it says so of {known}",
        direction.receiver().name()
    );
    Err(LabError::Replay { why })
}

/// Reads a capture; frames count from 1.
fn each_frame(
    recording: &Recording,
    at: Endpoint,
    mut see: impl FnMut(u64, &Record<'_>),
) -> Result<(), LabError> {
    let (path, file) = recording.capture(at)?;
    let unreadable = |source| LabError::Capture { path: path.clone(), source };
    let mut reader = Reader::new(file).map_err(unreadable)?;
    let mut number = 0;
    while let Some(frame) = reader.next_record().map_err(unreadable)? {
        number += 1;
        see(number, &frame);
    }
    Ok(())
}

/// What the endpoints sent in one direction, in the order in which it came to the link.
fn entered(
    recorded: &BTreeMap<u64, Verdict>,
    direction: Direction,
) -> impl Iterator<Item = &Verdict> {
    recorded.values().filter(move |v| v.direction == direction && !v.is_made())
}

/// The packets that the sender of a direction sent, by their frame numbers.
fn sent(
    recording: &Recording,
    direction: Direction,
) -> Result<BTreeMap<u64, SentPacket>, LabError> {
    let mut frames = BTreeMap::new();
    each_frame(recording, direction.sender(), |number, frame| {
        if frame.direction() == Some(tcplab_capture::Direction::Outbound) {
            let (captured, size) = (frame.captured.to_vec(), frame.original_len as usize);
            frames.insert(number, SentPacket { captured, size });
        }
    })?;
    Ok(frames)
}

/// What a fresh link makes of these packets.
fn decide(
    plan: &LinkPlan,
    seed: u64,
    direction: Direction,
    packets: Vec<(Instant, Packet)>,
    end: Instant,
) -> BTreeMap<u64, Verdict> {
    let mut link = Link::new(plan, seed, direction);
    let mut verdicts = BTreeMap::new();
    for (at, packet) in packets {
        link.handle_packet(at, packet);
        while let Some(departure) = link.poll(at) {
            verdicts.insert(departure.verdict.id, departure.verdict);
        }
    }
    let rest = link.drain(end).into_iter().map(|departure| departure.verdict);
    verdicts.extend(rest.map(|verdict| (verdict.id, verdict)));
    verdicts
}

fn compare(recorded: &BTreeMap<u64, Verdict>, replayed: &BTreeMap<u64, Verdict>) -> Replay {
    let mut result = Replay { packets: 0, differences: Vec::new(), different: 0 };
    let ids = recorded.keys().chain(replayed.keys().filter(|id| !recorded.contains_key(id)));
    for id in ids {
        let difference =
            Difference { recorded: recorded.get(id).copied(), replayed: replayed.get(id).copied() };
        if difference.recorded == difference.replayed {
            result.packets += 1;
            continue;
        }
        result.different += 1;
        if result.differences.len() < MOST_KEPT {
            result.differences.push(difference);
        }
    }
    result
}
