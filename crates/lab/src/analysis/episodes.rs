//! Recovery episodes of a trial, compared with what the path dropped or damaged.

use std::collections::BTreeMap;

use tcplab_path::{Cause, Direction};
use tcplab_recording::LostPacket;
use tcplab_results::EpisodeRow;
use tcplab_trace::{Connection, Episode, Evidence, Flow, LostSegment, Range};
use tcplab_units::rounded::counted;
use tcplab_units::{Bytes, Span};

/// The episodes of a direction, and what the path lost outside them, if it has a log.
pub(super) fn episode_rows(
    connection: &Connection,
    flow: &Flow,
    drops: Option<&[Dropped]>,
) -> (Vec<EpisodeRow>, Option<String>) {
    let owned = shared_out(drops.unwrap_or_default(), &flow.episodes);
    let row = |(index, (episode, own)): (usize, (&Episode, &Vec<&Dropped>))| {
        episode_row(index + 1, episode, connection, flow, drops.map(|_| own.as_slice()))
    };
    let rows = flow.episodes.iter().zip(&owned).enumerate().map(row).collect();
    let inside = owned.iter().map(Vec::len).sum::<usize>();
    let outside = drops.map_or(0, |drops| drops.len() - inside);
    let segments = counted(outside, "segment", "segments");
    let warning = format!("the path lost {segments} outside all recovery episodes");
    (rows, (outside > 0).then_some(warning))
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

/// How the lost transmissions of an episode are not those that the path lost, damage included.
#[derive(Debug, Default, PartialEq, Eq)]
struct Differences {
    not_lost: usize,
    not_found: usize,
}

impl Differences {
    /// Each transmission that was found stands for one that was lost: the same, or else one of the
    /// same data, as a sender cannot always know which of two was lost.
    fn between(found: &[LostSegment], own: &[&Dropped]) -> Differences {
        let (mut found, mut lost) = (found.to_vec(), own.to_vec());
        found.retain(|it| !took(&mut lost, |dropped| dropped.frame == it.frame));
        found.retain(|it| !took(&mut lost, |dropped| dropped.range == it.range));
        found.retain(|it| !took(&mut lost, |dropped| dropped.range.overlaps(it.range)));
        Differences { not_lost: found.len(), not_found: lost.len() }
    }
}

/// Takes the first that is so.
fn took(all: &mut Vec<&Dropped>, is_so: impl Fn(&Dropped) -> bool) -> bool {
    let place = all.iter().position(|it| is_so(it));
    place.map(|place| all.remove(place)).is_some()
}

fn episode_row(
    number: usize,
    episode: &Episode,
    connection: &Connection,
    flow: &Flow,
    drops: Option<&[&Dropped]>,
) -> EpisodeRow {
    let Differences { not_lost, not_found } =
        drops.map(|own| Differences::between(&episode.lost, own)).unwrap_or_default();
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
        not_lost,
        not_found,
        interruption,
        story: tcplab_findings::story(episode, flow),
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::{Instant, Offset};

    use super::*;

    fn range(start: u64, end: u64) -> Range {
        Range { start: Offset::new(start), end: Offset::new(end) }
    }

    #[test]
    fn found_less_not_lost_plus_not_found_is_what_the_path_lost() {
        // Frames and data of what was found and of what was lost.
        type Sent = (u64, u64, u64);
        type Case<'a> = (&'a [Sent], &'a [Sent], (usize, usize));
        let cases: [Case<'_>; 6] = [
            (&[(1, 0, 10), (2, 10, 20)], &[(1, 0, 10), (2, 10, 20)], (0, 0)),
            // The other one of two transmissions.
            (&[(1, 0, 10)], &[(7, 0, 10)], (0, 0)),
            // Twice found, once lost, and the reverse.
            (&[(1, 0, 10), (7, 0, 10)], &[(7, 0, 10)], (1, 0)),
            (&[(1, 0, 10)], &[(1, 0, 10), (7, 0, 10)], (0, 1)),
            (&[(1, 0, 10)], &[(2, 10, 20)], (1, 1)),
            // A retransmission of several segments at once.
            (&[(1, 0, 10), (2, 10, 20)], &[(7, 0, 20), (2, 10, 20)], (0, 0)),
        ];
        for (found, lost, (not_lost, not_found)) in cases {
            let lost_segment = |&(frame, start, end): &Sent| LostSegment {
                frame,
                range: range(start, end),
                sent_at: Instant::ZERO,
            };
            let dropped = |&(frame, start, end): &Sent| Dropped {
                frame,
                range: range(start, end),
                interruption: None,
            };
            let segments: Vec<LostSegment> = found.iter().map(lost_segment).collect();
            let all: Vec<Dropped> = lost.iter().map(dropped).collect();
            let own: Vec<&Dropped> = all.iter().collect();
            let differences = Differences::between(&segments, &own);
            assert_eq!(differences, Differences { not_lost, not_found }, "{found:?} {lost:?}");
            assert_eq!(found.len() - not_lost + not_found, lost.len());
        }
    }
}
