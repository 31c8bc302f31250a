//! A recovery episode in plain sentences, in the founding paper's notation.

use tcplab_trace::{Ack, Episode, EpisodeKind, Evidence, Flow, Segment, SegmentKind};
use tcplab_units::{Offset, Span};

use crate::words::{counted, rounded, seconds};

/// What happened in `episode` of `flow`: what was lost, what told the sender, how it was repaired.
pub fn story(episode: &Episode, flow: &Flow) -> String {
    let mut sentences = vec![loss(episode, flow), telling(episode, flow), repair(episode)];
    if episode.spurious > 0 {
        let (needless, all) = (episode.spurious, episode.retransmissions);
        let was = if needless == 1 { "was" } else { "were" };
        sentences.push(format!(
            "{needless} of {} {was} needless: the receiver had the data already (D-SACK).",
            counted(all, "retransmission")
        ));
    }
    sentences.join(" ")
}

fn loss(episode: &Episode, flow: &Flow) -> String {
    let [first, .., last] = episode.lost.as_slice() else {
        let only =
            episode.lost.first().map(|lost| format!("{lost}, sent at {},", seconds(lost.sent_at)));
        return format!("One segment, {} was lost.", only.unwrap_or_default());
    };
    let again = episode.lost.iter().filter(|lost| is_repeat(flow, lost.frame)).count() as u64;
    let (what, among) = match again {
        0 => ("segment", String::new()),
        _ => ("transmission", format!(", {} among them,", counted(again, "retransmission"))),
    };
    format!(
        "{} ({}){among} sent between {} and {} were lost.",
        counted(episode.lost.len() as u64, what),
        place(episode),
        seconds(first.sent_at),
        seconds(last.sent_at),
    )
}

/// `1967433:2093409` where everything between was lost, `within 1967433:2093409` otherwise.
fn place(episode: &Episode) -> String {
    let mut ranges: Vec<_> = episode.lost.iter().map(|lost| lost.range).collect();
    ranges.sort_unstable();
    let start = ranges.first().map_or(Offset::ZERO, |range| range.start);
    let (mut end, mut whole) = (start, true);
    for range in ranges {
        whole &= range.start <= end;
        end = end.max(range.end);
    }
    format!("{}{start}:{end}", if whole { "" } else { "within " })
}

fn telling(episode: &Episode, flow: &Flow) -> String {
    let at = seconds(episode.evidence_at);
    match episode.evidence {
        Evidence::Sack { frame } => {
            let block = ack_in(flow, frame).and_then(|ack| ack.sack.first().copied());
            let survivor = block.and_then(|block| {
                flow.segments.iter().find(|s| s.range.start >= block.start && s.frame < frame)
            });
            match survivor {
                Some(segment) => format!(
                    "The first segment to arrive after the loss, {segment}, was SACKed at {at}."
                ),
                None => format!("The first SACK above the gap came at {at}."),
            }
        }
        Evidence::DuplicateAcks { frame } => {
            let number = ack_in(flow, frame).map_or(Offset::ZERO, |ack| ack.ack);
            format!("Duplicate acknowledgements of {number} told of it from {at} on.")
        }
        Evidence::PacketTooBig { .. } => {
            format!("ICMP told the sender at {at} that they were too large for the path.")
        }
        Evidence::Timeout { frame } => format!(
            "Nothing told the sender; after {} of silence the retransmission timer ran out and \
             {} was sent again at {at}.",
            silence_before(episode, flow, frame),
            shown(flow, frame),
        ),
        Evidence::Probe { frame } => {
            let what = match segment_in(flow, frame) {
                Some(segment) if segment.kind == SegmentKind::New => "the next new segment",
                _ => "the newest segment again",
            };
            format!(
                "Nothing told the sender; after {} of silence it probed at {at} with {what}, {}.",
                silence_before(episode, flow, frame),
                shown(flow, frame),
            )
        }
    }
}

fn repair(episode: &Episode) -> String {
    let Some(repaired) = episode.repaired_at else {
        return "The loss is not repaired before the capture ends.".to_owned();
    };
    let took = rounded(repaired.since(episode.evidence_at));
    let timeouts = counted(episode.timeouts, "timer");
    match (episode.kind, episode.timeouts) {
        (EpisodeKind::Intermittent, _) => format!(
            "It then repaired a segment or two per timeout: {took} and {} until everything lost \
             was acknowledged.",
            counted(episode.timeouts, "timeout"),
        ),
        (EpisodeKind::WithoutTimeLag, 0) => {
            format!("The sender repaired the loss within {took}, without waiting for a timer.")
        }
        (EpisodeKind::WithoutTimeLag, _) => {
            format!(
                "The sender repaired the loss within {took}, for which {timeouts} had to run out."
            )
        }
        (EpisodeKind::WithTimeLag, 0 | 1) => {
            format!("The acknowledgements that followed told the rest: repaired {took} later.")
        }
        (EpisodeKind::WithTimeLag, count) => format!(
            "{count} retransmissions were sent by timers; when acknowledgements came again they \
             told the rest: repaired {took} after the first sign."
        ),
    }
}

/// How long nothing had been sent before `frame`.
fn silence_before(episode: &Episode, flow: &Flow, frame: u64) -> String {
    let before = flow.segments.iter().take_while(|s| s.frame < frame).last();
    rounded(before.map_or(Span::ZERO, |s| episode.evidence_at.since(s.at)))
}

fn shown(flow: &Flow, frame: u64) -> String {
    segment_in(flow, frame).map(ToString::to_string).unwrap_or_default()
}

fn is_repeat(flow: &Flow, frame: u64) -> bool {
    segment_in(flow, frame).is_some_and(|segment| segment.kind != SegmentKind::New)
}

fn segment_in(flow: &Flow, frame: u64) -> Option<&Segment> {
    let index = flow.segments.binary_search_by_key(&frame, |segment| segment.frame).ok()?;
    flow.segments.get(index)
}

fn ack_in(flow: &Flow, frame: u64) -> Option<&Ack> {
    let index = flow.acks.binary_search_by_key(&frame, |ack| ack.frame).ok()?;
    flow.acks.get(index)
}
