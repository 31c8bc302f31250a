//! Comments on frames, for an annotated copy of the capture.

mod sent;

use std::collections::{BTreeMap, BTreeSet};

use tcplab_units::Bytes;

use crate::{
    Ack, Connection, Episode, Evidence, FlowId, Segment, SegmentKind, Sign, Sink, Spurious, Stall,
    Timer,
};
use sent::Sent;

/// The most frames with comments.
const MOST: usize = 1 << 20;

/// Collects a sentence for each remarkable frame: retransmissions with their cause, losses,
/// out-of-order and duplicate packets, probes, zero windows, D-SACKs, the ends of stalls and
/// recoveries. Memory grows with these frames, up to [`Explanations::MOST`].
///
/// The sink of one pass; `tcplab_capture::annotate` writes [`Explanations::of`] as comments.
#[derive(Debug, Default)]
pub struct Explanations {
    /// In the order found.
    remarks: BTreeMap<u64, Vec<Remark>>,
    lost: BTreeSet<u64>,
    live: BTreeMap<usize, [Direction; 2]>,
    left_out: u64,
}

#[derive(Debug, Default)]
struct Direction {
    sent: Sent,
    /// The last advertised window was zero.
    closed: bool,
}

/// One remark on a frame, in short form.
#[derive(Debug, Clone, PartialEq)]
enum Remark {
    /// A retransmission of another frame.
    Again {
        of: Option<u64>,
        kind: SegmentKind,
        timer: Option<Timer>,
        by: Sign,
        proof: Option<u64>,
    },
    /// A probe with new data.
    NewProbe,
    /// A segment of this kind.
    Kind {
        kind: SegmentKind,
        by: Sign,
        proof: Option<u64>,
    },
    Spurious(Spurious),
    ShowsSpurious {
        of: u64,
        echo: bool,
    },
    FirstEvidence {
        lost: u64,
        first: u64,
    },
    Repaired {
        lost: u64,
        evidence: u64,
    },
    Closed,
    Opened(Option<Bytes>),
    Stalled(Stall),
    /// Text from elsewhere.
    Other(String),
}

impl Explanations {
    /// The most frames with comments.
    pub const MOST: usize = MOST;

    /// No comments.
    pub fn new() -> Explanations {
        Explanations::default()
    }

    /// Adds a sentence to a frame's comment.
    pub fn add(&mut self, frame: u64, sentence: String) {
        self.say(frame, Remark::Other(sentence));
    }

    /// The comment on a frame, in one line; none for most.
    pub fn of(&self, frame: u64) -> Option<String> {
        let remarks = self.remarks.get(&frame).map_or(&[][..], |remarks| remarks);
        let mut sentences: Vec<String> =
            remarks.iter().map(|remarks| self.sentence(remarks)).collect();
        if self.lost.contains(&frame) {
            sentences.insert(0, "lost".to_owned());
        }
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }

    /// The number of frames with a comment.
    pub fn len(&self) -> usize {
        self.remarks.len()
            + self.lost.iter().filter(|frame| !self.remarks.contains_key(frame)).count()
    }

    /// Whether no frame has a comment.
    pub fn is_empty(&self) -> bool {
        self.remarks.is_empty() && self.lost.is_empty()
    }

    /// The number of remarks left out at the bound.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn say(&mut self, frame: u64, remarks: Remark) {
        if self.remarks.len() >= MOST && !self.remarks.contains_key(&frame) {
            self.left_out += 1;
            return;
        }
        self.remarks.entry(frame).or_default().push(remarks);
    }

    fn direction(&mut self, flow: FlowId) -> &mut Direction {
        &mut self.live.entry(flow.connection).or_default()[usize::from(!flow.forward)]
    }

    fn sentence(&self, remarks: &Remark) -> String {
        match remarks {
            Remark::Again { of, kind, timer, by, proof } => {
                let of = match of {
                    Some(frame) if self.lost.contains(frame) => format!(" of #{frame} (lost)"),
                    Some(frame) => format!(" of #{frame}"),
                    None => String::new(),
                };
                format!("retransmission{of}: {}", reason(*kind, *timer, *by, *proof))
            }
            Remark::NewProbe => "tail loss probe with new data".to_owned(),
            Remark::Kind { kind, by, proof } => what(*kind, *by, *proof),
            Remark::Spurious(Spurious::DSack { frame }) => {
                format!("spurious: D-SACK in #{frame} shows that the original arrived")
            }
            Remark::Spurious(Spurious::Echo { frame }) => {
                format!("spurious: #{frame} echoes the original's timestamp")
            }
            Remark::Spurious(Spurious::Acknowledged) => "spurious: already acknowledged".to_owned(),
            Remark::ShowsSpurious { of, echo: false } => {
                format!("D-SACK: the retransmission in #{of} was spurious")
            }
            Remark::ShowsSpurious { of, echo: true } => {
                format!("echoes the original's timestamp: the retransmission in #{of} was spurious")
            }
            Remark::FirstEvidence { lost: 1, first } => {
                format!("first evidence of the loss of #{first}")
            }
            Remark::FirstEvidence { lost, first } => {
                format!("first evidence of the loss of {lost} segments from #{first} on")
            }
            Remark::Repaired { lost: 1, evidence } => {
                format!("loss recovered (first evidence #{evidence})")
            }
            Remark::Repaired { lost, evidence } => {
                format!("loss of {lost} segments recovered (first evidence #{evidence})")
            }
            Remark::Closed => "zero window".to_owned(),
            Remark::Opened(Some(window)) => format!("window update: {} bytes", window.as_u64()),
            Remark::Opened(None) => "window update (scale unknown)".to_owned(),
            Remark::Stalled(stall) => format!(
                "ends a stall of {} since #{}: {}",
                stall.until.since(stall.from),
                stall.frames.0,
                stall.cause.name()
            ),
            Remark::Other(sentence) => sentence.clone(),
        }
    }
}

fn reason(kind: SegmentKind, timer: Option<Timer>, by: Sign, proof: Option<u64>) -> String {
    let proof = proof.map(|frame| format!(" in #{frame}")).unwrap_or_default();
    match (timer, kind, by) {
        (Some(Timer::Probe), ..) => "tail loss probe".to_owned(),
        (Some(Timer::Retransmission), _, Sign::IgnoredAcks) => {
            format!("retransmission timeout, although the loss was revealed{proof}")
        }
        (Some(Timer::Retransmission), ..) => "retransmission timeout".to_owned(),
        (None, SegmentKind::UnexplainedRetransmission, _) => "cause unknown".to_owned(),
        (None, SegmentKind::RepeatedControl, _) => {
            "too soon for a timer: with an answer, or because a packet came twice".to_owned()
        }
        (None, SegmentKind::AfterTimeoutRetransmission, _) => {
            "after the timeout, on acknowledgements".to_owned()
        }
        (None, _, Sign::Sack) => format!("SACK{proof}"),
        (None, _, Sign::Rack) => format!("RACK: a segment sent later was acknowledged{proof}"),
        (None, _, Sign::DuplicateAcks) => format!("duplicate ACKs{proof}"),
        (None, _, Sign::PacketTooBig) => format!("ICMP packet too big{proof}"),
        (None, _, Sign::PartialAck) => format!("partial ACK{proof}"),
        (None, SegmentKind::TimeoutRetransmission, _) => "timeout".to_owned(),
        (None, ..) => "acknowledgements".to_owned(),
    }
}

fn what(kind: SegmentKind, by: Sign, proof: Option<u64>) -> String {
    let frame = proof.map(|frame| format!(" #{frame}")).unwrap_or_default();
    let why = match by {
        Sign::IpId => " (by IP identification)",
        Sign::Timestamp => " (by timestamp)",
        Sign::Time => " (by time)",
        _ => "",
    };
    match kind {
        SegmentKind::OutOfOrder if proof.is_some() => format!(
            "out of order: sent \
                                                              before{frame}{why}"
        ),
        SegmentKind::OutOfOrder => format!("out of order{why}"),
        SegmentKind::FillsGap => {
            format!("fills the gap before{frame}: retransmitted or out of order, unknown")
        }
        SegmentKind::NetworkDuplicate => format!("duplicate of{frame} made by the network{why}"),
        SegmentKind::LinkRetry => {
            format!("{frame} sent again by the radio link{why}").trim_start().to_owned()
        }
        SegmentKind::CaptureDuplicate => format!("captured twice: same packet as{frame}{why}"),
        SegmentKind::WindowProbe => "zero-window probe".to_owned(),
        SegmentKind::KeepAlive => "keep-alive".to_owned(),
        _ => String::new(),
    }
}

impl Sink for Explanations {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        let of = self.direction(flow).sent.sent(segment.range, segment.frame);
        let (kind, by, proof) = (segment.kind, segment.proof.by, segment.proof.frame);
        match kind {
            SegmentKind::New if segment.timer == Some(Timer::Probe) => {
                self.say(segment.frame, Remark::NewProbe);
            }
            SegmentKind::New => {}
            kind if kind.is_retransmission() => {
                let again = Remark::Again { of, kind, timer: segment.timer, by, proof };
                self.say(segment.frame, again);
                if let Some(why) = segment.proof.spurious {
                    self.say(segment.frame, Remark::Spurious(why));
                }
            }
            _ => self.say(segment.frame, Remark::Kind { kind, by, proof: proof.or(of) }),
        }
    }

    fn ack(&mut self, flow: FlowId, ack: Ack) {
        let direction = self.direction(flow);
        direction.sent.answered(ack.ack);
        let closed = ack.window == Some(Bytes::ZERO);
        let changes = std::mem::replace(&mut direction.closed, closed) != closed;
        if changes {
            self.say(ack.frame, if closed { Remark::Closed } else { Remark::Opened(ack.window) });
        }
    }

    fn episode(&mut self, _flow: FlowId, episode: Episode) {
        for lost in &episode.lost {
            if self.lost.len() < MOST {
                self.lost.insert(lost.frame);
            } else {
                self.left_out += 1;
            }
        }
        let (lost, Some(first)) = (episode.lost.len() as u64, episode.lost.first()) else { return };
        // Timers and ICMP have their own remark.
        let evidence = match episode.evidence {
            Evidence::Sack { frame } | Evidence::DuplicateAcks { frame } => {
                self.say(frame, Remark::FirstEvidence { lost, first: first.frame });
                frame
            }
            Evidence::PacketTooBig { frame }
            | Evidence::Timeout { frame }
            | Evidence::Probe { frame } => frame,
        };
        if episode.repaired_at.is_some() {
            self.say(episode.frames.1, Remark::Repaired { lost, evidence });
        }
    }

    fn stall(&mut self, _flow: FlowId, stall: Stall) {
        self.say(stall.frames.1, Remark::Stalled(stall));
    }

    fn spurious(&mut self, _flow: FlowId, frame: u64, why: Spurious) {
        self.say(frame, Remark::Spurious(why));
        match why {
            Spurious::DSack { frame: proof } => {
                self.say(proof, Remark::ShowsSpurious { of: frame, echo: false });
            }
            Spurious::Echo { frame: proof } => {
                self.say(proof, Remark::ShowsSpurious { of: frame, echo: true });
            }
            Spurious::Acknowledged => {}
        }
    }

    fn connection(&mut self, index: usize, _connection: &Connection) {
        self.live.remove(&index);
    }
}

#[cfg(test)]
mod tests;
