//! A trial's decisions once more, in virtual time.
//!
//! What a path does depends on its plan, the seed, and which packets came when, and on nothing
//! else. So the packets of a recording, sent through the same links without any clock, must meet
//! the very same verdicts.

use std::collections::BTreeMap;

use tcplab_capture::Reader;
use tcplab_path::{Direction, Link, LinkPlan, Packet, Verdict};
use tcplab_recording::Recording;
use tcplab_scenario::Snaplen;
use tcplab_units::Instant;

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
    let (path, file) = recording.capture(direction.sender())?;
    let unreadable = |source| LabError::Capture { path: path.clone(), source };
    let mut reader = Reader::new(file).map_err(unreadable)?;
    let mut frames = BTreeMap::new();
    let mut number = 0;
    while let Some(frame) = reader.next_record().map_err(unreadable)? {
        number += 1;
        if frame.direction() == Some(tcplab_capture::Direction::Outbound) {
            let (captured, size) = (frame.captured.to_vec(), frame.original_len as usize);
            frames.insert(number, SentPacket { captured, size });
        }
    }
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
