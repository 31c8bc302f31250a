//! A recovery episode in sentences, in tcpdump's notation.

use tcplab_trace::{Episode, EpisodeKind, Evidence, Flow, Segment, SegmentKind};
use tcplab_units::{Offset, Span};

use crate::words::{counted, rounded, seconds};

/// What was lost, what revealed the loss to the sender, how it recovered.
pub fn story(episode: &Episode, flow: &Flow) -> String {
    let mut sentences = vec![loss(episode, flow), evidence(episode, flow)];
    sentences.extend(late_reaction(episode, flow));
    sentences.push(repair(episode));
    if episode.spurious > 0 {
        let (spurious, all) = (episode.spurious, episode.retransmissions);
        // Timestamps may show more of them to be spurious: that has a rule of its own.
        sentences.push(format!(
            "D-SACK reported {spurious} of {}: the receiver already had the data.",
            counted(all, "retransmission")
        ));
    }
    sentences.join(" ")
}

/// Whether the other end sent nothing after the losses: its ACKs may have been lost instead.
fn is_unanswered(episode: &Episode, flow: &Flow) -> bool {
    let heard = flow.unanswered.heard.map(|(at, _)| at);
    episode.repaired_at.is_none() && heard.is_none_or(|at| at < episode.first_lost_sent)
}

fn loss(episode: &Episode, flow: &Flow) -> String {
    let fate = |one: bool| match (is_unanswered(episode, flow), one) {
        (true, true) => "had no answer: it or its ACK was lost",
        (true, false) => "had no answer: they or their ACKs were lost",
        (false, true) => "was lost",
        (false, false) => "were lost",
    };
    let [first, .., last] = episode.lost.as_slice() else {
        let only = episode
            .lost
            .first()
            .map(|lost| format!(", {lost}, sent at {},", seconds(lost.sent_at)));
        return format!("One segment{} {}.", only.unwrap_or_default(), fate(true));
    };
    let again = episode.lost.iter().filter(|lost| is_repeat(flow, lost.frame)).count() as u64;
    let (what, among) = match again {
        0 => ("segment", String::new()),
        _ => ("transmission", format!(", {} among them,", counted(again, "retransmission"))),
    };
    let (from, until) = (seconds(first.sent_at), seconds(last.sent_at));
    let when = match last.sent_at.since(first.sent_at) {
        _ if from != until => format!("between {from} and {until}"),
        Span::ZERO => format!("at {from}"),
        within => format!("within {} from {from} on", rounded(within)),
    };
    format!(
        "{} ({}){among} sent {when} {}.",
        counted(episode.lost.len() as u64, what),
        place(episode),
        fate(false),
    )
}

/// `1967433:2093409` if everything between was lost, else `within 1967433:2093409`.
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

fn evidence(episode: &Episode, flow: &Flow) -> String {
    let at = seconds(episode.evidence_at);
    match episode.evidence {
        Evidence::Sack { frame } => {
            let block = flow.ack_in(frame).and_then(|ack| ack.sack.first().copied());
            let survivor = block.and_then(|block| {
                flow.segments.iter().find(|s| s.range.start >= block.start && s.frame < frame)
            });
            match survivor {
                Some(segment) => format!(
                    "The first segment received after the loss, {segment}, was SACKed at {at}."
                ),
                None => format!("The first SACK above the gap arrived at {at}."),
            }
        }
        Evidence::DuplicateAcks { frame } => {
            let number = flow.ack_in(frame).map_or(Offset::ZERO, |ack| ack.ack);
            format!("Duplicate ACKs of {number} revealed it from {at} on.")
        }
        Evidence::PacketTooBig { .. } => {
            format!("ICMP \"packet too big\" reached the sender at {at}.")
        }
        Evidence::Timeout { frame } => {
            let again = flow.segment_in(frame);
            let silence = silent(flow, frame);
            let (after, expired) = match again.map(|segment| (segment.kind, segment.timer)) {
                Some((SegmentKind::UnexplainedRetransmission, None)) => {
                    ("No ACK was captured; after", "")
                }
                Some((SegmentKind::RepeatedControl, None)) => (silence, ""),
                Some((_, None)) => ("After", ""),
                _ => (silence, "the retransmission timer expired and "),
            };
            format!(
                "{after} {} {expired}{} was retransmitted at {at}.",
                silence_before(episode, flow, frame),
                shown(flow, frame),
            )
        }
        Evidence::Probe { frame } => {
            let what = match flow.segment_in(frame) {
                Some(segment) if segment.kind == SegmentKind::New => "new data",
                _ => "the newest segment",
            };
            format!(
                "{} {} the sender sent a tail loss probe at {at} with {what}, \
                 {}.",
                silent(flow, frame),
                silence_before(episode, flow, frame),
                shown(flow, frame),
            )
        }
    }
}

/// Whether ACKs came between the last segment and this one.
fn silent(flow: &Flow, frame: u64) -> &'static str {
    let place = flow.place_of_segment(frame);
    let before = place.and_then(|place| flow.segments[..place].last()).map(Segment::order);
    let next = flow.acks.partition_point(|ack| Some(ack.order()) < before);
    let until = place.map(|place| flow.segments[place].order());
    if flow.acks.get(next).is_some_and(|ack| Some(ack.order()) < until) {
        "After"
    } else {
        "No ACK arrived; after"
    }
}

/// That a timer began the recovery after the loss had been revealed.
fn late_reaction(episode: &Episode, flow: &Flow) -> Option<String> {
    let by_timer = matches!(episode.kind, EpisodeKind::WithTimeLag | EpisodeKind::Intermittent);
    let revealed = !matches!(episode.evidence, Evidence::Timeout { .. } | Evidence::Probe { .. });
    // What a timer sent before was about other data.
    let (at, frame) = episode.first_retransmission?;
    let is_later = at >= episode.evidence_at && flow.segment_in(frame)?.timer.is_some();
    let silence = rounded(episode.silence.filter(|_| by_timer && revealed && is_later)?);
    Some(format!("The sender did not retransmit on that: a timer did, after {silence} of silence."))
}

fn repair(episode: &Episode) -> String {
    let Some(repaired) = episode.repaired_at else {
        return "Not recovered before the capture ends.".to_owned();
    };
    let took = rounded(repaired.since(episode.evidence_at));
    let timeouts = counted(episode.timeouts, "timer");
    match (episode.kind, episode.timeouts) {
        (EpisodeKind::Intermittent, _) => format!(
            "The sender then retransmitted a segment or two per timeout: recovery took {took} and \
             {}.",
            counted(episode.timeouts, "timeout"),
        ),
        (EpisodeKind::WithoutTimeLag, 0) => {
            format!("Recovered within {took}, without a timeout.")
        }
        (EpisodeKind::Unknown, 0) => format!("Recovered within {took}."),
        (EpisodeKind::WithoutTimeLag | EpisodeKind::Unknown, _) => {
            format!("Recovered within {took}; {timeouts} had to expire.")
        }
        (EpisodeKind::WithTimeLag, 0 | 1) => {
            format!("Later ACKs revealed the rest; recovered {took} later.")
        }
        (EpisodeKind::WithTimeLag, count) => format!(
            "Timers sent {count} retransmissions; when ACKs returned they revealed the rest. \
             Recovered {took} after the first evidence."
        ),
    }
}

fn silence_before(episode: &Episode, flow: &Flow, frame: u64) -> String {
    let before = flow.place_of_segment(frame).and_then(|place| flow.segments[..place].last());
    rounded(before.map_or(Span::ZERO, |s| episode.evidence_at.since(s.at)))
}

fn shown(flow: &Flow, frame: u64) -> String {
    flow.segment_in(frame).map(ToString::to_string).unwrap_or_default()
}

fn is_repeat(flow: &Flow, frame: u64) -> bool {
    flow.segment_in(frame).is_some_and(|segment| segment.kind != SegmentKind::New)
}
