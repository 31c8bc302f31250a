//! The packets of a connection that a page opens as bytes.

use std::collections::BTreeSet;

use tcplab_findings::Finding;
use tcplab_trace::{Connection, Episode, Flow, LadderLine, ladder};
use tcplab_units::Instant;

/// The longest episodes have a ladder.
const MOST_EPISODES: usize = 12;
/// The most packets of a connection.
const MOST: usize = 200;
/// Packets at the beginning and at the end of a connection.
const FIRST: usize = 12;
const LAST: usize = 6;
/// The most frames of a finding.
const OF_FINDING: usize = 8;

/// The frames whose bytes the page of a connection shows: its first and last packets, those that
/// findings name, and those of the ladder diagrams; at most 200.
pub fn page_frames(connection: &Connection, findings: &[Finding]) -> BTreeSet<u64> {
    let flows = [&connection.forward, &connection.reverse];
    let first: BTreeSet<u64> = flows.iter().flat_map(|flow| ends(flow, FIRST, false)).collect();
    let last: BTreeSet<u64> = flows.iter().flat_map(|flow| ends(flow, LAST, true)).collect();
    let mut frames: BTreeSet<u64> = first.into_iter().take(FIRST).collect();
    frames.extend(last.into_iter().rev().take(LAST));
    let named = findings.iter().flat_map(|finding| finding.frames.iter().take(OF_FINDING).copied());
    let drawn = flows.into_iter().flat_map(|flow| {
        let episodes = shown_episodes(flow, connection.last);
        let lines = episodes.into_iter().flat_map(|(_, episode)| ladder(flow, episode));
        lines.filter(|line: &LadderLine| line.folded == 0).map(|line| line.frame)
    });
    for frame in named.chain(drawn) {
        if frames.len() >= MOST {
            break;
        }
        frames.insert(frame);
    }
    frames
}

/// The first or last frames of a direction, of the acknowledgements of its data, and of its resets
/// that acknowledge nothing.
fn ends(flow: &Flow, count: usize, last: bool) -> Vec<u64> {
    let segments = flow.segments.iter().map(|segment| segment.frame);
    let acks = flow.acks.iter().map(|ack| ack.frame);
    let resets = flow.resets.iter().filter(|reset| reset.from_sender).map(|reset| reset.frame);
    if last {
        let packets = segments.rev().take(count).chain(acks.rev().take(count));
        packets.chain(resets.rev().take(count)).collect()
    } else {
        segments.take(count).chain(acks.take(count)).chain(resets.take(count)).collect()
    }
}

/// The longest episodes of a direction with their numbers, in order of time.
pub(crate) fn shown_episodes(flow: &Flow, last: Instant) -> Vec<(usize, &Episode)> {
    let mut costliest: Vec<(usize, &Episode)> = flow.episodes.iter().enumerate().collect();
    costliest.sort_by_key(|(_, e)| std::cmp::Reverse((e.duration(last), e.silence)));
    costliest.truncate(MOST_EPISODES);
    costliest.sort_by_key(|(index, _)| *index);
    costliest
}
