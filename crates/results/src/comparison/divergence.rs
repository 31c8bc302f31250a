//! Where two transfers part: the first packet that is not the same in both.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tcplab_trace::{
    Ack, BareReset, Connection, Fate, Flow, LadderLine, Range, Segment, SegmentKind, Sign, Timer,
};
use tcplab_units::{Bytes, Offset, Span};

/// The number of packets shown before and after the divergence.
const BEFORE: usize = 8;
const AFTER: usize = 12;

/// The packets of a transfer as one tap saw them, in order.
#[derive(Debug, Clone)]
pub struct PacketSequence {
    steps: Vec<Step>,
    is_of_data: bool,
}

/// One packet of a [`PacketSequence`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// As a ladder shows it.
    pub line: LadderLine,
    /// Why it was sent or what it says, as far as the tap shows.
    pub why: String,
    #[serde(skip)]
    what: What,
}

/// What makes a packet the same in two connections: all numbers count from the connection's own
/// first ones. Windows and times are not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
struct What {
    from_sender: bool,
    range: Option<Range>,
    /// SYN, FIN.
    flags: (bool, bool),
    ack: Option<Offset>,
    sack: Vec<Range>,
    has_data: bool,
    is_reset: bool,
}

/// Where two courses part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Divergence {
    /// The number of equal packets before.
    pub same: usize,
    /// Whether only packets with data were looked at.
    pub is_of_data: bool,
    /// The packets around the place, of A and of B.
    pub around: [Vec<Step>; 2],
    /// The place of the first different packet in `around`; past its end where that side has none.
    pub place: [usize; 2],
    /// What either side did there, in a sentence.
    pub words: [String; 2],
}

impl PacketSequence {
    /// The course of a connection whose client sends most of the data, or whose server does.
    /// Copies that the network or the capture made are left out: no end sent them.
    pub fn of(connection: &Connection, is_from_client: bool) -> PacketSequence {
        let (flow, other) = if is_from_client {
            (&connection.forward, &connection.reverse)
        } else {
            (&connection.reverse, &connection.forward)
        };
        let lost: BTreeSet<u64> =
            flow.episodes.iter().flat_map(|e| e.lost.iter().map(|lost| lost.frame)).collect();
        let mut steps = BTreeMap::new();
        for (from_sender, sent, acked) in [(true, flow, other), (false, other, flow)] {
            let segments = by_frame(sent);
            let acks = acked.acks.iter().filter(|ack| !ack.copied);
            let acks: BTreeMap<u64, &Ack> = acks.map(|ack| (ack.frame, ack)).collect();
            let resets = sent.resets.iter().filter(|reset| reset.from_sender);
            let resets: BTreeMap<u64, &BareReset> = resets.map(|it| (it.frame, it)).collect();
            let frames = segments.keys().chain(acks.keys()).chain(resets.keys());
            let frames: BTreeSet<u64> = frames.copied().collect();
            for frame in frames {
                let packet = Packet {
                    from_sender,
                    segment: segments.get(&frame).copied(),
                    ack: acks.get(&frame).copied(),
                    reset: resets.get(&frame).copied(),
                };
                steps.insert(frame, packet.step(frame, lost.contains(&frame)));
            }
        }
        PacketSequence { steps: steps.into_values().collect(), is_of_data: false }
    }

    /// Only the sender's data segments: in real time, the order of ACKs and data at a capture point
    /// varies from trial to trial.
    #[must_use]
    pub fn of_data(mut self) -> PacketSequence {
        self.steps.retain(|step| step.what.from_sender && step.what.has_data);
        for step in &mut self.steps {
            (step.what.ack, step.what.sack) = (None, Vec::new());
        }
        self.is_of_data = true;
        self
    }
}

fn by_frame(flow: &Flow) -> BTreeMap<u64, &Segment> {
    let sent = flow.segments.iter().filter(|segment| !segment.kind.is_copy());
    sent.map(|segment| (segment.frame, segment)).collect()
}

struct Packet<'a> {
    from_sender: bool,
    segment: Option<&'a Segment>,
    ack: Option<&'a Ack>,
    /// That it is a reset without an acknowledgement.
    reset: Option<&'a BareReset>,
}

impl Packet<'_> {
    fn step(&self, frame: u64, is_lost: bool) -> Step {
        let Packet { from_sender, segment, ack, reset } = *self;
        let is_dropped = segment.is_some_and(|it| it.dropped) || ack.is_some_and(|it| it.dropped);
        let is_lost = is_lost || is_dropped;
        let of_segment = segment.map(|segment| (segment.to_string(), segment.at));
        let of_ack = || ack.map(|ack| (ack.to_string(), ack.at));
        let of_reset = || reset.map(|reset| (reset.to_string(), reset.at));
        let (label, at) = of_segment.or_else(of_ack).or_else(of_reset).unwrap_or_default();
        let is_reset = reset.is_some() || ack.is_some_and(|ack| ack.reset);
        let line = LadderLine {
            at,
            until: at,
            frame,
            from_sender,
            label,
            fate: if is_lost { Fate::Lost } else { Fate::Arrived },
            note: None,
            folded: 0,
        };
        let what = What {
            from_sender,
            range: segment.map(|segment| segment.range),
            flags: segment.map_or((false, false), |segment| (segment.syn, segment.fin)),
            ack: ack.map(|ack| ack.ack),
            sack: ack.map(|ack| ack.sack.clone()).unwrap_or_default(),
            has_data: segment.is_some_and(|segment| segment.payload > Bytes::ZERO || segment.fin),
            is_reset,
        };
        let why = match (segment, ack) {
            _ if is_reset => "a reset".into(),
            (Some(segment), _) => why(segment).to_owned(),
            (None, Some(ack)) if ack.duplicate => "a duplicate acknowledgement".into(),
            _ => "an acknowledgement".into(),
        };
        Step { line, why, what }
    }
}

/// Why a segment was sent, as the end of a phrase that begins with its numbers.
fn why(segment: &Segment) -> &'static str {
    match segment.kind {
        SegmentKind::New if segment.syn => "its SYN",
        SegmentKind::New if segment.timer == Some(Timer::Probe) => "new data as a tail loss probe",
        SegmentKind::New if segment.payload == Bytes::ZERO => "its FIN",
        SegmentKind::New => "new data",
        SegmentKind::FastRetransmission => match segment.proof.by {
            Sign::DuplicateAcks => "a retransmission on three duplicate ACKs",
            Sign::Sack => "a retransmission on SACK",
            Sign::Rack => "a retransmission by RACK",
            Sign::PartialAck => "a retransmission on a partial ACK",
            Sign::PacketTooBig => "a retransmission, as it was too large for the path",
            _ => "a retransmission in recovery",
        },
        SegmentKind::TimeoutRetransmission if segment.timer == Some(Timer::Probe) => {
            "a retransmission as a tail loss probe"
        }
        SegmentKind::TimeoutRetransmission => "a retransmission on a timeout",
        SegmentKind::AfterTimeoutRetransmission => "a retransmission after a timeout",
        SegmentKind::UnexplainedRetransmission => "a retransmission, cause unknown",
        SegmentKind::FillsGap => "data that fill a gap",
        SegmentKind::OutOfOrder => "out of order",
        SegmentKind::RepeatedControl => "a repeated SYN or FIN",
        SegmentKind::NetworkDuplicate | SegmentKind::LinkRetry | SegmentKind::CaptureDuplicate => {
            "a copy"
        }
        SegmentKind::WindowProbe => "a zero window probe",
        SegmentKind::KeepAlive => "a keep-alive probe",
    }
}

/// Where two courses part; none where they are the same to their ends. `ends` are the names of the
/// sender of the data and of the other.
pub fn divergence(a: &PacketSequence, b: &PacketSequence, ends: [&str; 2]) -> Option<Divergence> {
    let courses = [&a.steps, &b.steps];
    let both = a.steps.iter().zip(&b.steps);
    let same = both.take_while(|(x, y)| x.what == y.what).count();
    if courses.iter().all(|steps| steps.len() == same) {
        return None;
    }
    let first = same.saturating_sub(BEFORE);
    let around = courses.map(|steps| {
        let mut around = steps[first..steps.len().min(same + AFTER)].to_vec();
        if let Some(step) = around.get_mut(same - first) {
            step.line.note = Some("first difference".into());
        }
        around
    });
    let words = courses.map(|steps| words(steps, same, ends));
    Some(Divergence { same, is_of_data: a.is_of_data, around, place: [same - first; 2], words })
}

/// What a side did with its packet of this index.
fn words(steps: &[Step], index: usize, [sender, receiver]: [&str; 2]) -> String {
    let Some(Step { line, why, .. }) = steps.get(index) else {
        return "nothing more was sent".into();
    };
    let end = if line.from_sender { sender } else { receiver };
    let before = index.checked_sub(1).and_then(|before| steps.get(before));
    let waited = before.map(|before| line.at.since(before.line.at));
    let waited = match waited {
        Some(span) if span >= Span::from_micros(1) => format!(", {} later", spoken(span)),
        Some(_) => ", at once".into(),
        None => String::new(),
    };
    let fate = if line.fate == Fate::Lost { "; the path dropped it" } else { "" };
    format!("the {end} sent {}{waited}: {why}{fate}", line.label)
}

fn spoken(span: Span) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 0.001 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::Instant;

    use super::*;

    /// One connection ends with a reset that acknowledges nothing, the other does not.
    #[test]
    fn bare_reset_is_a_packet() {
        let ends = ["10.0.0.1:1", "10.0.0.2:2"].map(|end| end.parse().unwrap());
        let whole = Connection::between(ends[0], ends[1]);
        let reset = BareReset {
            at: Instant::ZERO,
            frame: 3,
            flags: tcplab_wire::TcpFlags::RST,
            place: Offset::new(7),
            zero: true,
            from_sender: true,
            comment: None,
        };
        let mut cut = whole.clone();
        // As the flows of both directions have it.
        cut.forward.resets.push(BareReset { from_sender: false, ..reset.clone() });
        cut.reverse.resets.push(reset);
        let [whole, cut] = [whole, cut].map(|it| PacketSequence::of(&it, true));
        let found = divergence(&cut, &whole, ["client", "server"]).unwrap();
        assert_eq!(found.words, ["the server sent RST 7:7(0): a reset", "nothing more was sent"]);
        assert_eq!(divergence(&cut, &cut, ["client", "server"]), None);
    }

    /// A capture has an acknowledgement twice.
    #[test]
    fn copy_is_no_difference() {
        let ends = ["10.0.0.1:1", "10.0.0.2:2"].map(|end| end.parse().unwrap());
        let ack = |frame: u64, copied: bool| Ack {
            at: Instant::ZERO,
            frame,
            flags: tcplab_trace::TcpFlags::ACK,
            ack: Offset::new(7),
            window: None,
            sack: Vec::new(),
            dsack: None,
            duplicate: false,
            copied,
            reset: false,
            zero: false,
            has_data: false,
            in_flight: Bytes::ZERO,
            comment: None,
            dropped: false,
        };
        let with = |copied: bool| {
            let mut connection = Connection::between(ends[0], ends[1]);
            connection.forward.acks.extend([ack(1, false), ack(2, copied)]);
            PacketSequence::of(&connection, true)
        };
        let mut once = Connection::between(ends[0], ends[1]);
        once.forward.acks.push(ack(1, false));
        let once = PacketSequence::of(&once, true);
        assert_eq!(divergence(&with(true), &once, ["client", "server"]), None);
        assert!(divergence(&with(false), &once, ["client", "server"]).is_some());
    }
}
