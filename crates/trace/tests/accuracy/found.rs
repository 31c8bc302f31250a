//! What the analyser found, set against what happened.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use tcplab_trace::{
    Analyzer, CapturePoint, Flow, Frame, Segment, SegmentKind, Sign, Timer, Trace, analyze,
};
use tcplab_wire::{FrameView, LinkType};

use crate::twins::Role;

pub(crate) fn trace(capture: &Path) -> Trace {
    analyze(tcplab_capture::open(capture).unwrap())
}

/// Why a segment was retransmitted, as coarsely as the kernel counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    Fast,
    AfterTimeout,
    Timeout,
    Probe,
    Unknown,
}

impl Cause {
    fn of(segment: &Segment) -> Cause {
        match (segment.kind, segment.timer) {
            (_, Some(Timer::Probe)) => Cause::Probe,
            (_, Some(Timer::Retransmission)) => Cause::Timeout,
            (SegmentKind::FastRetransmission, _) => Cause::Fast,
            (SegmentKind::AfterTimeoutRetransmission, _) => Cause::AfterTimeout,
            _ => Cause::Unknown,
        }
    }
}

/// The flows whose data `host` sent.
pub(crate) fn flows(trace: &Trace, host: IpAddr) -> impl Iterator<Item = &Flow> {
    trace.connections.iter().filter_map(move |connection| {
        if connection.client.ip() == host {
            Some(&connection.forward)
        } else {
            (connection.server.ip() == host).then_some(&connection.reverse)
        }
    })
}

/// The judgements on what `host` sent, by frame.
pub(crate) fn judgements(trace: &Trace, host: IpAddr) -> BTreeMap<u64, &Segment> {
    flows(trace, host).flat_map(|flow| &flow.segments).map(|s| (s.frame, s)).collect()
}

/// Sums over all connections of one host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) retransmissions: u64,
    pub(crate) fast: u64,
    pub(crate) after_timeout: u64,
    pub(crate) timeouts: u64,
    /// Probes that repeated something.
    pub(crate) probes: u64,
    /// And those that carried new data.
    pub(crate) new_probes: u64,
    pub(crate) unknown: u64,
    pub(crate) reordered: u64,
    pub(crate) network_duplicates: u64,
    pub(crate) capture_duplicates: u64,
    pub(crate) window_probes: u64,
    pub(crate) keep_alives: u64,
    pub(crate) spurious_by_dsack: u64,
    pub(crate) acked_not_captured: u64,
}

impl Sums {
    pub(crate) fn of(trace: &Trace, host: IpAddr) -> Sums {
        let mut sums = Sums::default();
        for flow in flows(trace, host) {
            let causes = &flow.causes;
            sums.retransmissions += causes.retransmissions();
            sums.fast +=
                causes.by_duplicate_acks.count + causes.by_sack.count + causes.by_rack.count;
            sums.after_timeout += causes.after_timeout.count;
            sums.timeouts += causes.timeouts.count;
            sums.probes += causes.tail_loss_probes.count;
            sums.new_probes += causes.tail_loss_probes_new_data.count;
            sums.unknown += causes.retransmissions_unexplained.count;
            sums.reordered += causes.out_of_order.count;
            sums.network_duplicates += causes.network_duplicates.count;
            sums.capture_duplicates += causes.capture_duplicates.count;
            sums.spurious_by_dsack += causes.spurious_by_dsack.count;
            sums.acked_not_captured += causes.acked_not_captured.count;
            let of = |kind| flow.segments.iter().filter(|s| s.kind == kind).count() as u64;
            sums.window_probes += of(SegmentKind::WindowProbe);
            sums.keep_alives += of(SegmentKind::KeepAlive);
        }
        sums
    }
}

/// How well a capture's frames were judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Score {
    /// The retransmissions, and how many of them were found.
    pub(crate) again: usize,
    pub(crate) found: usize,
    /// Frames that were not retransmitted but were called so.
    pub(crate) invented: Vec<u64>,
    /// Frames that were retransmitted, and were called something else.
    pub(crate) missed: Vec<u64>,
    pub(crate) out_of_order: (usize, usize),
    pub(crate) copies: (usize, usize),
    /// At the receiver: of those found, frames with another cause than at the sender.
    pub(crate) other_cause: Vec<(u64, Cause, Cause)>,
}

impl Score {
    /// At the sender's capture point.
    pub(crate) fn at_sender(trace: &Trace, host: IpAddr, again: &[u64]) -> Score {
        let mut score = Score { again: again.len(), ..Score::default() };
        for (frame, segment) in judgements(trace, host) {
            let truth = again.binary_search(&frame).is_ok();
            match (truth, segment.kind.is_retransmission()) {
                (true, true) => score.found += 1,
                (true, false) if is_probe(segment) => score.again -= 1,
                (true, false) => score.missed.push(frame),
                (false, true) => score.invented.push(frame),
                (false, false) => {}
            }
        }
        score
    }

    /// At the receiver's capture point; `sender` holds the judgements at the sender's.
    pub(crate) fn at_receiver(
        trace: &Trace,
        host: IpAddr,
        roles: &BTreeMap<u64, Role>,
        sender: &BTreeMap<u64, &Segment>,
    ) -> Score {
        let mut score = Score::default();
        for (frame, segment) in judgements(trace, host) {
            let again = segment.kind.is_retransmission();
            match roles.get(&frame) {
                Some(&Role::Again(original)) => {
                    score.again += 1;
                    if !again {
                        score.missed.push(frame);
                        continue;
                    }
                    score.found += 1;
                    let there = sender.get(&original).map(|segment| Cause::of(segment));
                    let (there, here) = (there.unwrap_or(Cause::Unknown), Cause::of(segment));
                    if there != here {
                        score.other_cause.push((frame, there, here));
                    }
                    continue;
                }
                Some(Role::OutOfOrder) => {
                    score.out_of_order.0 += 1;
                    score.out_of_order.1 += usize::from(segment.kind == SegmentKind::OutOfOrder);
                }
                Some(Role::Copy) => {
                    score.copies.0 += 1;
                    score.copies.1 += usize::from(segment.kind == SegmentKind::NetworkDuplicate);
                }
                Some(Role::Plain | Role::Hidden) | None => {}
            }
            if again {
                score.invented.push(frame);
            }
        }
        score
    }
}

fn is_probe(segment: &Segment) -> bool {
    matches!(segment.kind, SegmentKind::WindowProbe | SegmentKind::KeepAlive)
}

/// Where the capture point stood, for each flow with more data than a handshake has.
pub(crate) fn taps(trace: &Trace, host: IpAddr) -> Vec<CapturePoint> {
    flows(trace, host)
        .filter(|flow| flow.totals.data_segments > 2)
        .map(|flow| flow.capture_point)
        .collect()
}

/// Every judgement that needs a proof has one.
pub(crate) fn is_proven(trace: &Trace, host: IpAddr) -> bool {
    let judged = judgements(trace, host);
    judged.values().all(|s| s.kind == SegmentKind::New || s.proof.by != Sign::None)
}

/// The frames that the analyser holds lost.
pub(crate) fn lost(trace: &Trace, host: IpAddr) -> Vec<u64> {
    let episodes = flows(trace, host).flat_map(|flow| &flow.episodes);
    let mut lost: Vec<u64> = episodes.flat_map(|e| e.lost.iter().map(|l| l.frame)).collect();
    lost.sort_unstable();
    lost
}

/// The trace of a capture from which some frames, by their numbers, were taken out.
pub(crate) fn without(capture: &Path, missed: impl Fn(u64) -> bool) -> Trace {
    altered(capture, |frame| u64::from(!missed(frame)))
}

/// The trace of a capture that holds each frame twice, the copies 3 µs later or, if the next frame
/// comes sooner, with that.
pub(crate) fn twice(capture: &Path) -> Trace {
    altered(capture, |_| 2)
}

/// The trace at a capture point so many nanoseconds before the receiver's, with no loss between:
/// packets of `sender` pass there sooner, the answers later. And each frame's number in the
/// receiver's capture.
pub(crate) fn before(capture: &Path, sender: IpAddr, nanos: u64) -> (Trace, Vec<u64>) {
    let mut reader = tcplab_capture::open(capture).unwrap();
    let mut frames = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let time = record.time.unwrap().as_nanos();
        let (captured, original_len) = (record.captured.to_vec(), record.original_len);
        let interface = record.interface as usize;
        let link = LinkType::from_number(reader.interfaces()[interface].link_type);
        let view = FrameView::new(link, &captured, original_len);
        let towards = view.tcp().is_some_and(|tcp| tcp.src() == sender);
        let time_ns = if towards { time - nanos } else { time + nanos };
        frames.push((time_ns, frames.len() as u64 + 1, link, captured, original_len));
    }
    frames.sort_by_key(|&(time_ns, number, ..)| (time_ns, number));
    let mut analyzer = Analyzer::new();
    for (time_ns, _, link, captured, original_len) in &frames {
        let (time_ns, link, original_len) = (*time_ns, *link, *original_len);
        analyzer.packet(&Frame { time_ns, link, captured, original_len, comment: None });
    }
    (analyzer.finish(), frames.iter().map(|&(_, number, ..)| number).collect())
}

fn altered(capture: &Path, times: impl Fn(u64) -> u64) -> Trace {
    let mut reader = tcplab_capture::open(capture).unwrap();
    let mut frames = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let time_ns = record.time.unwrap().as_nanos();
        let (captured, original_len) = (record.captured.to_vec(), record.original_len);
        let interface = record.interface as usize;
        let link = LinkType::from_number(reader.interfaces()[interface].link_type);
        frames.push((time_ns, link, captured, original_len));
    }
    let mut analyzer = Analyzer::new();
    for (at, (time_ns, link, captured, original_len)) in frames.iter().enumerate() {
        let (link, original_len) = (*link, *original_len);
        let next = frames.get(at + 1).map_or(u64::MAX, |(next, ..)| *next);
        for copy in 0..times(at as u64 + 1) {
            let time_ns = (time_ns + 3_000 * copy).min(next.max(*time_ns));
            analyzer.packet(&Frame { time_ns, link, captured, original_len, comment: None });
        }
    }
    analyzer.finish()
}
