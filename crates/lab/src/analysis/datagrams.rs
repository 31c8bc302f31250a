//! Datagrams of a trial without a connection: what the application says of each request, and what
//! became of every datagram on its way.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use tcplab_path::{Direction, Fate, Verdict};
use tcplab_recording::{AppLog, Recording, TrialRecord, TruthRow};
use tcplab_results::{Correspondence, DatagramKind, DatagramRow, Metric};
use tcplab_scenario::metrics;
use tcplab_units::{Endpoint, Instant};
use tcplab_wire::{FrameView, LinkType, UdpPacket, port_unreachable};
use tcplab_workload::{DatagramMark, DatagramReport};

use super::metrics::{named, responses};
use crate::error::LabError;

/// What a capture shows of a packet.
#[derive(Debug, Clone, Copy)]
struct CapturedDatagram {
    frame: u64,
    at: Instant,
    from: Endpoint,
    kind: DatagramKind,
    mark: Option<DatagramMark>,
}

/// That of a recording whose client made `report`.
pub(crate) fn read(
    recording: &Recording,
    record: &TrialRecord,
    report: &DatagramReport,
) -> Result<Correspondence, LabError> {
    let captures = [
        captured(recording, record, Endpoint::Client)?,
        captured(recording, record, Endpoint::Server)?,
    ];
    let mut datagrams = if record.has_truth() {
        with_verdicts(&recording.truth()?, &captures, record.is_ipv6())
    } else {
        without_verdicts(&captures)
    };
    datagrams.sort_by_key(|row| (row.arrived.unwrap_or(row.sent), row.sent));
    number_frames(&mut datagrams, &captures[0]);
    datagrams.sort_by_key(|row| (row.sent, row.is_copy, row.frame));
    Ok(Correspondence { requests: report.requests.clone(), datagrams })
}

/// The values that `METRICS` names.
pub(crate) fn metrics(app: &AppLog, all: &Correspondence) -> Vec<Metric> {
    let [Some(report), Some(server)] = [&app.client.datagrams, &app.server.datagrams] else {
        return Vec::new();
    };
    let damaged = report.damaged + server.damaged;
    let requests = &report.requests;
    let times: Vec<f64> =
        requests.iter().filter_map(|it| Some(it.response_time()?.as_millis_f64())).collect();
    let share = 100.0 * report.unanswered() as f64 / requests.len().max(1) as f64;
    let values = [
        (metrics::UNANSWERED, report.unanswered() as f64),
        (metrics::UNANSWERED_SHARE, share),
        (metrics::REQUEST_RETRIES, report.resent() as f64),
        (metrics::LATE_ANSWERS, report.late as f64),
        (metrics::DUPLICATE_ANSWERS, report.duplicates as f64),
        (metrics::LOST_DATAGRAMS, all.lost() as f64),
        (metrics::PAYLOAD_INTACT, f64::from(u8::from(damaged == 0))),
    ];
    named(values.into_iter().chain(responses(&times))).collect()
}

/// What passed one end.
fn captured(
    recording: &Recording,
    record: &TrialRecord,
    endpoint: Endpoint,
) -> Result<Vec<CapturedDatagram>, LabError> {
    let (path, file) = recording.capture(endpoint)?;
    let unreadable = |source| LabError::Capture { path: path.clone(), source };
    let mut reader = tcplab_capture::Reader::new(file).map_err(unreadable)?;
    let client: Option<IpAddr> = record.client.address.parse().ok();
    let mut all = Vec::new();
    let mut frame = 0;
    while let Ok(Some(packet)) = reader.next_record() {
        frame += 1;
        let nanos = packet.time.map_or(record.epoch_nanos, tcplab_capture::UnixTime::as_nanos);
        let at = Instant::from_nanos(nanos.saturating_sub(record.epoch_nanos));
        // Recordings of trials have no link header.
        let view = FrameView::new(LinkType::RawIp, packet.captured, packet.original_len);
        let Some(ip) = view.ip() else { continue };
        let from = if Some(ip.src()) == client { Endpoint::Client } else { Endpoint::Server };
        let (kind, mark) = match (UdpPacket::of(ip), port_unreachable(&ip)) {
            (Some(udp), _) => {
                let kind = match from {
                    Endpoint::Client => DatagramKind::Request,
                    Endpoint::Server => DatagramKind::Answer,
                };
                (kind, DatagramMark::read(udp.payload()))
            }
            (None, Some(quoted)) => {
                let about = FrameView::new(LinkType::RawIp, quoted, 0xffff);
                let udp = about.ip().and_then(UdpPacket::of);
                let mark = udp.and_then(|udp| DatagramMark::read(udp.payload()));
                (DatagramKind::Unreachable, mark)
            }
            (None, None) => continue,
        };
        all.push(CapturedDatagram { frame, at, from, kind, mark });
    }
    Ok(all)
}

/// Why a packet did not come to its receiver intact, if it did not.
fn why_lost(verdict: &Verdict, is_ipv6: bool) -> Option<String> {
    match verdict.fate {
        Fate::Delivered => verdict
            .is_damaged(is_ipv6)
            .then(|| "damaged by the path and dropped by its receiver".into()),
        fate => Some(fate.to_string()),
    }
}

/// The path's own word on each datagram.
fn with_verdicts(
    truth: &[TruthRow],
    captures: &[Vec<CapturedDatagram>; 2],
    is_ipv6: bool,
) -> Vec<DatagramRow> {
    let end = |direction| match direction {
        Direction::Forward => 0,
        Direction::Reverse => 1,
    };
    let mut sent: BTreeMap<u64, CapturedDatagram> = BTreeMap::new();
    for row in truth {
        let capture = &captures[end(row.verdict.direction)];
        let Some(frame) = row.frame else { continue };
        if let Ok(at) = capture.binary_search_by_key(&frame, |seen| seen.frame) {
            sent.insert(row.verdict.id, capture[at]);
        }
    }
    let rows = truth.iter().filter_map(|row| {
        let verdict = &row.verdict;
        let packet = verdict.origin.unwrap_or(verdict.id);
        let seen = sent.get(&packet)?;
        // Answers of the path itself travel the other way.
        let is_own = (end(verdict.direction) == 0) == (seen.from == Endpoint::Client);
        is_own.then(|| DatagramRow {
            from: seen.from,
            kind: seen.kind,
            mark: seen.mark,
            packet,
            is_copy: verdict.is_made(),
            sent: verdict.entered,
            arrived: (verdict.fate == Fate::Delivered).then_some(verdict.left),
            lost: why_lost(verdict, is_ipv6),
            frame: None,
        })
    });
    rows.collect()
}

/// Where the path has no log: what was seen at the other end, too.
fn without_verdicts(captures: &[Vec<CapturedDatagram>; 2]) -> Vec<DatagramRow> {
    let mut rows = Vec::new();
    for (end, side) in Endpoint::BOTH.into_iter().enumerate() {
        let mut there = queues(captures[1 - end].iter().filter(|seen| seen.from == side));
        for seen in captures[end].iter().filter(|seen| seen.from == side) {
            let arrived = there.get_mut(&seen.key()).and_then(VecDeque::pop_front);
            rows.push(DatagramRow {
                from: side,
                kind: seen.kind,
                mark: seen.mark,
                packet: rows.len() as u64,
                is_copy: false,
                sent: seen.at,
                arrived: arrived.map(|(_, at)| at),
                lost: arrived.is_none().then(|| "not seen at the other end".into()),
                frame: None,
            });
        }
    }
    rows
}

impl CapturedDatagram {
    fn key(&self) -> DatagramKey {
        DatagramKey::of(self.from, self.kind, self.mark)
    }
}

/// What indistinguishable datagrams have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DatagramKey(bool, DatagramKind, Option<DatagramMark>);

impl DatagramKey {
    fn of(from: Endpoint, kind: DatagramKind, mark: Option<DatagramMark>) -> DatagramKey {
        DatagramKey(from == Endpoint::Client, kind, mark)
    }
}

/// Frames and times of alike datagrams, in order.
fn queues<'s>(
    all: impl Iterator<Item = &'s CapturedDatagram>,
) -> BTreeMap<DatagramKey, VecDeque<(u64, Instant)>> {
    let mut queues: BTreeMap<DatagramKey, VecDeque<(u64, Instant)>> = BTreeMap::new();
    for seen in all {
        queues.entry(seen.key()).or_default().push_back((seen.frame, seen.at));
    }
    queues
}

/// The frames of the client's capture; rows are in the order in which they were there.
fn number_frames(rows: &mut [DatagramRow], capture: &[CapturedDatagram]) {
    let mut frames = queues(capture.iter());
    for row in rows {
        let passed = match row.from {
            Endpoint::Client => !row.is_copy,
            Endpoint::Server => row.arrived.is_some(),
        };
        if passed
            && let Some(queue) = frames.get_mut(&DatagramKey::of(row.from, row.kind, row.mark))
        {
            row.frame = queue.pop_front().map(|(frame, _)| frame);
        }
    }
}

#[cfg(test)]
mod tests;
