//! The ladder diagram of a recovery episode in tcpdump's notation.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tcplab_units::{Instant, Offset};

use crate::{Episode, Evidence, Flow, LostSegment, Segment, SegmentKind, place_in};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LadderLine {
    /// When it passed the capture point; the first one's time for a folded line.
    pub at: Instant,
    /// The last one's time for a folded line; else the same.
    #[serde(skip)]
    pub until: Instant,
    /// Its frame; the first one's for a folded line.
    pub frame: u64,
    /// Sent by the data's sender (left to right), or an answer.
    pub from_sender: bool,
    /// `1967433:1968881(1448)`, `ack 1967433 SACK 2093409-2094857`, `… 84 more segments`.
    pub label: String,
    /// Its fate.
    pub fate: Fate,
    /// Its role: "retransmission timeout", "first SACK", "recovered".
    pub note: Option<String>,
    /// The number of packets of a folded line; 0 for a single one.
    pub folded: u64,
}

/// The fate of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It reached the other end; an answer, the capture point.
    Arrived,
    /// The path dropped it.
    Lost,
    /// Unknown.
    Unknown,
}

const MOST: usize = 40;
/// Runs up to this length are not folded.
const SHORT: usize = 3;

/// The ladder of an episode: from the last segment before the loss to the ACK that covers it. Runs
/// of like packets are folded except their first and last, so it has about 40 lines.
pub fn ladder(flow: &Flow, episode: &Episode) -> Vec<LadderLine> {
    let before = flow.segments.partition_point(|s| s.frame < episode.frames.0).saturating_sub(1);
    let from = flow.segments.get(before).map_or(episode.frames.0, |s| s.frame);
    folded(&rungs(flow, &episode.lost, Some(episode), [from, episode.frames.1]))
}

/// The ladder of the frames from `first` to `last`, folded likewise.
pub fn ladder_between(flow: &Flow, first: u64, last: u64) -> Vec<LadderLine> {
    let inside = |frame: u64| first <= frame && frame <= last;
    let known = flow.episodes.iter().flat_map(|episode| &episode.lost);
    let mut lost: Vec<LostSegment> = known.filter(|lost| inside(lost.frame)).copied().collect();
    lost.sort_by_key(|lost| lost.frame);
    folded(&rungs(flow, &lost, None, [first, last]))
}

/// Folds runs to a readable length.
fn folded(rungs: &[Rung]) -> Vec<LadderLine> {
    for keep in [Keep::Ends, Keep::Nothing] {
        let lines = fold(rungs, keep);
        if lines.len() <= MOST {
            return lines;
        }
    }
    cut(fold(rungs, Keep::Nothing))
}

/// A packet and the run it belongs to.
struct Rung {
    line: LadderLine,
    run: Run,
}

/// Packets of the same run may be folded into one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Run {
    Segments,
    Retransmissions,
    Lost,
    LostRetransmissions,
    Acks,
    Sacks,
    Resets,
    Unusual,
}

impl Run {
    fn more(self, count: usize) -> String {
        match self {
            Run::Segments => format!("… {count} more segments"),
            Run::Retransmissions => format!("… {count} more retransmissions"),
            Run::Lost => format!("… {count} more segments, lost"),
            Run::LostRetransmissions => format!("… {count} more retransmissions, lost"),
            Run::Acks => format!("… {count} more ACKs"),
            Run::Sacks => format!("… {count} more ACKs with SACK"),
            Run::Resets => format!("… {count} more resets"),
            Run::Unusual => format!("… {count} more unusual packets"),
        }
    }
}

/// What remains of a folded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Its first and last packet.
    Ends,
    /// None, unless lost.
    Nothing,
}

/// The packets in these frames; of `episode`, ACKs that are its evidence or its end have a note.
fn rungs(
    flow: &Flow,
    lost: &[LostSegment],
    episode: Option<&Episode>,
    [from, last]: [u64; 2],
) -> Vec<Rung> {
    let first = episode.map_or(from, |episode| episode.frames.0);
    let repaired_at = episode.and_then(|episode| episode.repaired_at);
    let received = flow.acks.iter().map(|ack| ack.ack).max().unwrap_or_default();
    let mut rungs: Vec<Rung> = Vec::new();
    let mut retransmitted = false;
    for segment in flow.segments.iter().filter(|s| s.frame >= from && s.frame <= last) {
        let fate = fate_of(segment, lost, received);
        let repeat = segment.kind != SegmentKind::New;
        let note = match segment.timer {
            Some(_) => super::listing::reason(segment).map(str::to_owned),
            None if repeat && !retransmitted => Some("first retransmission".to_owned()),
            None => None,
        };
        retransmitted |= repeat;
        let run = match (fate == Fate::Lost, repeat) {
            (true, true) => Run::LostRetransmissions,
            (true, false) => Run::Lost,
            (false, true) => Run::Retransmissions,
            (false, false) => Run::Segments,
        };
        let (at, frame, label) = (segment.at, segment.frame, label(segment));
        let line =
            LadderLine { at, until: at, frame, from_sender: true, label, fate, note, folded: 0 };
        rungs.push(Rung { line, run });
    }
    let third: Vec<u64> = flow.third_duplicates().map(|ack| ack.frame).collect();
    let sent_again = first_retransmissions(flow);
    let mut sacked = false;
    for ack in flow.acks.iter().filter(|a| a.frame >= from && a.frame <= last) {
        let first_sack = !sacked && !ack.sack.is_empty() && ack.frame > first;
        sacked |= first_sack;
        let duplicate = Evidence::DuplicateAcks { frame: ack.frame };
        // RACK, a probe or a timer was faster: the third had no effect.
        let is_late = sent_again.get(&ack.ack).is_some_and(|first| *first < ack.frame);
        let note = if Some(ack.at) == repaired_at && ack.frame == last {
            Some("recovered")
        } else if ack.dsack.is_some() {
            Some("D-SACK: arrived twice")
        } else if first_sack {
            Some("first SACK")
        } else if episode.is_some_and(|episode| episode.evidence == duplicate) {
            Some("first duplicate ACK")
        } else if third.contains(&ack.frame) && !is_late {
            Some("third duplicate ACK")
        } else {
            None
        };
        let line = LadderLine {
            at: ack.at,
            until: ack.at,
            frame: ack.frame,
            from_sender: false,
            label: ack.to_string(),
            fate: Fate::Arrived,
            note: note.map(str::to_owned),
            folded: 0,
        };
        let run = if ack.sack.is_empty() { Run::Acks } else { Run::Sacks };
        rungs.push(Rung { line, run });
    }
    add_others(flow, from, last, &mut rungs);
    rungs.sort_by_key(|rung| (rung.line.at, rung.line.frame));
    rungs
}

/// Adds the packets in these frames that are neither segments nor ACKs.
fn add_others(flow: &Flow, from: u64, last: u64, rungs: &mut Vec<Rung>) {
    rungs.extend(resets_between(flow, from, last));
    rungs.extend(unusual_between(flow, from, last, rungs));
}

fn resets_between(flow: &Flow, from: u64, last: u64) -> impl Iterator<Item = Rung> {
    let inside = flow.resets.iter().filter(move |reset| (from..=last).contains(&reset.frame));
    inside.map(|reset| {
        let line = LadderLine {
            at: reset.at,
            until: reset.at,
            frame: reset.frame,
            from_sender: reset.from_sender,
            label: reset.to_string(),
            // Nothing acknowledges it.
            fate: if reset.from_sender { Fate::Unknown } else { Fate::Arrived },
            note: None,
            folded: 0,
        };
        Rung { line, run: Run::Resets }
    })
}

/// The sender's packets that are neither segments nor resets.
fn unusual_between(flow: &Flow, from: u64, last: u64, shown: &[Rung]) -> Vec<Rung> {
    let shown: BTreeSet<u64> = shown.iter().map(|rung| rung.line.frame).collect();
    let inside = flow.unusual.iter().filter(|packet| (from..=last).contains(&packet.frame));
    let hidden = inside.filter(|packet| !shown.contains(&packet.frame));
    hidden
        .map(|packet| {
            let (at, frame) = (packet.at, packet.frame);
            let line = LadderLine {
                at,
                until: at,
                frame,
                from_sender: true,
                label: packet.to_string(),
                fate: Fate::Unknown,
                note: None,
                folded: 0,
            };
            Rung { line, run: Run::Unusual }
        })
        .collect()
}

/// The frame of the first retransmission of what begins at each place.
fn first_retransmissions(flow: &Flow) -> BTreeMap<Offset, u64> {
    let mut first = BTreeMap::new();
    for segment in flow.segments.iter().filter(|segment| segment.kind != SegmentKind::New) {
        first.entry(segment.range.start).or_insert(segment.frame);
    }
    first
}

/// Its range, and what it is if it is no new data; of a timer's the note says that.
fn label(segment: &Segment) -> String {
    use SegmentKind::{AfterTimeoutRetransmission, FastRetransmission, UnexplainedRetransmission};
    let what = match segment.kind {
        _ if segment.timer.is_some() => None,
        FastRetransmission | AfterTimeoutRetransmission | UnexplainedRetransmission => {
            Some("retransmitted")
        }
        _ => super::listing::reason(segment),
    };
    what.map_or_else(|| segment.to_string(), |what| format!("{segment} {what}"))
}

fn fate_of(segment: &Segment, lost: &[LostSegment], received: Offset) -> Fate {
    if place_in(lost, segment.frame, |lost| lost.frame).is_some() {
        Fate::Lost
    } else if segment.range.end <= received {
        Fate::Arrived
    } else {
        Fate::Unknown
    }
}

/// Keeps lines with notes and the first; folds the runs between.
fn fold(rungs: &[Rung], keep: Keep) -> Vec<LadderLine> {
    let mut lines = Vec::new();
    let mut between: BTreeMap<Run, Vec<&LadderLine>> = BTreeMap::new();
    for (index, rung) in rungs.iter().enumerate() {
        if index == 0 || rung.line.note.is_some() {
            flush(&mut between, keep, &mut lines);
            lines.push(rung.line.clone());
        } else {
            between.entry(rung.run).or_default().push(&rung.line);
        }
    }
    flush(&mut between, keep, &mut lines);
    lines
}

fn flush(between: &mut BTreeMap<Run, Vec<&LadderLine>>, keep: Keep, lines: &mut Vec<LadderLine>) {
    let from = lines.len();
    for (run, members) in std::mem::take(between) {
        let ends = keep == Keep::Ends || run == Run::Lost;
        if members.len() <= if ends { SHORT } else { 1 } {
            lines.extend(members.into_iter().cloned());
            continue;
        }
        let folded = if ends { &members[1..members.len() - 1] } else { &members[..] };
        lines.push(LadderLine {
            label: run.more(folded.len()),
            folded: folded.len() as u64,
            until: folded.iter().map(|line| line.until).max().unwrap_or_default(),
            ..folded[0].clone()
        });
        if ends {
            lines.push(members[0].clone());
            lines.push(members[members.len() - 1].clone());
        }
    }
    lines[from..].sort_by_key(|line| (line.at, line.frame));
}

/// Cuts the middle out of a ladder that stays too long.
fn cut(mut lines: Vec<LadderLine>) -> Vec<LadderLine> {
    let (head, tail) = (MOST / 2, lines.len() - MOST / 2 + 1);
    let count: u64 = lines[head..tail].iter().map(|line| line.folded.max(1)).sum();
    let gap = LadderLine {
        label: format!("… {count} more packets"),
        fate: Fate::Unknown,
        note: None,
        folded: count,
        until: lines[head..tail].iter().map(|line| line.until).max().unwrap_or_default(),
        ..lines[head].clone()
    };
    lines.splice(head..tail, [gap]);
    lines
}
