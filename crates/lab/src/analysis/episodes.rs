//! Recovery episodes of a trial, compared with what the path dropped or damaged.

use std::collections::BTreeMap;

use tcplab_path::{Cause, Direction};
use tcplab_recording::LostPacket;
use tcplab_results::EpisodeRow;
use tcplab_trace::{Connection, Episode, Evidence, Flow, Range};
use tcplab_units::{Bytes, Span};

/// The episodes of a direction, and where they contradict the path, if it has a log.
pub(super) fn episode_rows(
    connection: &Connection,
    flow: &Flow,
    drops: Option<&[Dropped]>,
) -> (Vec<EpisodeRow>, Vec<String>) {
    let owned = shared_out(drops.unwrap_or_default(), &flow.episodes);
    let row = |(index, (episode, own)): (usize, (&Episode, &Vec<&Dropped>))| {
        episode_row(index + 1, episode, connection, flow, drops.map(|_| own.as_slice()))
    };
    let rows = flow.episodes.iter().zip(&owned).enumerate().map(row).collect();
    let found = drops.map(|drops| contradictions(&flow.episodes, &owned, drops.len()));
    (rows, found.unwrap_or_default())
}

/// A packet of the stream that did not arrive.
pub(super) struct Dropped {
    /// Its frame in the sender's capture.
    frame: u64,
    range: Range,
    /// The number of the interruption that it met.
    interruption: Option<u64>,
}

/// All of them in the order sent. As in [`Episode::lost`], data and FIN count, the handshake's SYN
/// does not.
pub(super) fn drops(flow: &Flow, lost: &[LostPacket], direction: Direction) -> Vec<Dropped> {
    let stream: BTreeMap<u64, Range> = flow
        .segments
        .iter()
        .filter(|segment| segment.payload > Bytes::ZERO || segment.fin)
        .map(|segment| (segment.frame, segment.range))
        .collect();
    let dropped = |LostPacket { frame, verdict }: &LostPacket| {
        let frame = (*frame).filter(|_| verdict.direction == direction)?;
        let interruption = match verdict.fate.cause() {
            Some(Cause::Interruption { number, .. }) => Some(number),
            _ => None,
        };
        Some(Dropped { frame, range: *stream.get(&frame)?, interruption })
    };
    lost.iter().filter_map(dropped).collect()
}

/// Shares the drops out among the episodes, each to one at most: to the one that counts it, or else
/// to the latest in whose time it falls (episodes may overlap).
fn shared_out<'d>(drops: &'d [Dropped], episodes: &[Episode]) -> Vec<Vec<&'d Dropped>> {
    let mut owned = vec![Vec::new(); episodes.len()];
    for dropped in drops {
        let counts = |e: &Episode| e.lost.iter().any(|lost| lost.frame == dropped.frame);
        let spans = |e: &Episode| (e.frames.0..=e.frames.1).contains(&dropped.frame);
        let owner = episodes.iter().position(counts).or_else(|| episodes.iter().rposition(spans));
        if let Some(owner) = owner {
            owned[owner].push(dropped);
        }
    }
    owned
}

/// Where what the analyser found in the capture is not what the path did, damage included.
///
/// Data counts, not frames: when a segment was sent twice and one of the two was lost, the sender
/// cannot always know which.
fn contradictions(episodes: &[Episode], owned: &[Vec<&Dropped>], dropped: usize) -> Vec<String> {
    let mut contradictions = Vec::new();
    for (index, (episode, own)) in episodes.iter().zip(owned).enumerate() {
        let (found, truth) = (episode.lost.len(), own.len());
        let real = |range: Range| own.iter().any(|dropped| dropped.range.overlaps(range));
        let known = |range: Range| episode.lost.iter().any(|lost| lost.range.overlaps(range));
        let wrong = episode.lost.iter().filter(|lost| !real(lost.range)).count();
        let missed = own.iter().filter(|dropped| !known(dropped.range)).count();
        if found != truth || wrong + missed > 0 {
            contradictions.push(format!(
                "episode {}: the analyser finds {found} lost segments, the path lost {truth} \
                 ({wrong} not lost, {missed} not found)",
                index + 1
            ));
        }
    }
    let outside = dropped - owned.iter().map(Vec::len).sum::<usize>();
    if outside > 0 {
        contradictions.push(format!("the path lost {outside} segments that are in no episode"));
    }
    contradictions
}

fn episode_row(
    number: usize,
    episode: &Episode,
    connection: &Connection,
    flow: &Flow,
    drops: Option<&[&Dropped]>,
) -> EpisodeRow {
    let interruption = drops.unwrap_or_default().iter().find_map(|dropped| dropped.interruption);
    EpisodeRow {
        number,
        kind: episode.kind.name().into(),
        evidence: match episode.evidence {
            Evidence::Sack { .. } => "sack",
            Evidence::DuplicateAcks { .. } => "duplicate acks",
            Evidence::PacketTooBig { .. } => "icmp",
            Evidence::Timeout { .. } => "timeout",
            Evidence::Probe { .. } => "probe",
        }
        .into(),
        start_s: episode.evidence_at.as_secs_f64(),
        duration_s: episode.duration(connection.last).as_secs_f64(),
        silence_s: episode.silence.map(Span::as_secs_f64),
        lost_segments: episode.lost.len(),
        retransmissions: episode.retransmissions,
        retransmitted_bytes: episode.retransmitted.as_u64(),
        timeouts: episode.timeouts,
        repaired: episode.repaired_at.is_some(),
        truth_lost: drops.map(<[_]>::len),
        interruption,
        story: tcplab_findings::story(episode, flow),
    }
}
