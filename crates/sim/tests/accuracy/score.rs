//! What the analyser found in a simulated transfer, compared with what happened.

use tcplab_trace::{Segment, SegmentKind, Sign, Stall, StallCause, Timer};

use crate::cases::Sender;
use crate::truth::{Facts, Passage, Tap, Truth};

/// The sums of one capture point, or of many.
#[derive(Debug, Default, Clone)]
pub(crate) struct Score {
    /// Retransmissions captured here, and of these found.
    pub(crate) again: usize,
    pub(crate) found: usize,
    /// Frames called retransmissions that were none.
    pub(crate) invented: usize,
    /// Of those found, with a cause, and with the right one.
    pub(crate) judged: usize,
    pub(crate) right: usize,
    /// Found, with an unknown cause.
    pub(crate) unknown: usize,
    /// Stalls ended by the sender: explained, and rightly.
    pub(crate) stalls: usize,
    pub(crate) stalls_right: usize,
    pub(crate) stalls_unknown: usize,
    /// Timeouts at which the sender is said to have ignored ACKs, and of these wrongly: no ACK that
    /// reached it had revealed the loss.
    pub(crate) ignored: usize,
    pub(crate) accused: usize,
    /// Stalls said to come from ACKs late or lost, where the path dropped none.
    pub(crate) blamed: usize,
    /// What was wrong, in words.
    pub(crate) wrong: Vec<String>,
}

impl Score {
    pub(crate) fn of(truth: &Truth, tap: &Tap) -> Score {
        let mut score = Score::default();
        for segment in &tap.flow().segments {
            if let Some(&(index, copy)) = tap.frames.get(&segment.frame) {
                score.segment(truth, index, copy, segment);
            }
        }
        for stall in &tap.flow().stalls {
            let blames = stall.cause == StallCause::AckLoss;
            score.blamed += usize::from(blames && truth.acks_dropped == 0);
            if let Some(&(index, false)) = tap.frames.get(&stall.frames.1) {
                score.stall(&truth.passages[index], &truth.at(index), stall);
            }
        }
        score
    }

    pub(crate) fn add(&mut self, other: &Score) {
        self.again += other.again;
        self.found += other.found;
        self.invented += other.invented;
        self.judged += other.judged;
        self.right += other.right;
        self.unknown += other.unknown;
        self.stalls += other.stalls;
        self.stalls_right += other.stalls_right;
        self.stalls_unknown += other.stalls_unknown;
        self.ignored += other.ignored;
        self.accused += other.accused;
        self.blamed += other.blamed;
    }

    /// What must never be said: retransmissions that were none, senders accused of what they did
    /// not do, ACKs blamed that nothing dropped.
    pub(crate) fn faults(&self, sender: &Sender) -> usize {
        let accused = if sender.reacts { self.ignored } else { self.accused };
        self.invented + accused + self.blamed
    }

    /// Causes, of segments and stalls, and how many of them are right.
    pub(crate) fn causes(&self) -> (usize, usize) {
        (self.judged + self.stalls, self.right + self.stalls_right)
    }

    fn segment(&mut self, truth: &Truth, index: usize, copy: bool, segment: &Segment) {
        let passage = &truth.passages[index];
        let found = segment.kind.is_retransmission();
        if copy || !passage.again {
            if found {
                self.invented += 1;
                self.wrong.push(format!("invented: #{} {:?}", segment.frame, segment.kind));
            }
            return;
        }
        self.again += 1;
        if !found {
            self.wrong.push(format!("missed: #{} {:?}", segment.frame, segment.kind));
            return;
        }
        self.found += 1;
        if segment.proof.by == Sign::IgnoredAcks {
            self.ignored += 1;
            let facts = truth.at(index);
            if facts.resent || !facts.is_revealed() {
                self.accused += 1;
                self.wrong.push(format!("accused: #{} {:?}", segment.frame, facts));
            }
        }
        if segment.kind == SegmentKind::UnexplainedRetransmission {
            self.unknown += 1;
            return;
        }
        self.judged += 1;
        if is_cause(&passage.because, segment) || is_same(truth, index, segment) {
            self.right += 1;
        } else {
            self.wrong.push(format!(
                "#{} sent for {}: {:?} {:?}, {:?} after {}",
                segment.frame,
                passage.because,
                segment.kind,
                segment.timer,
                segment.proof.by,
                segment.proof.waited,
            ));
        }
    }

    fn stall(&mut self, passage: &Passage, facts: &Facts, stall: &Stall) {
        if stall.cause == StallCause::Undetermined {
            self.stalls_unknown += 1;
            return;
        }
        self.stalls += 1;
        if explains(stall.cause, passage, facts) {
            self.stalls_right += 1;
        } else {
            self.wrong.push(format!(
                "stall until #{} ({}, {}): {}; {facts:?}",
                stall.frames.1,
                stall.until.since(stall.from),
                passage.because,
                stall.cause.name(),
            ));
        }
    }
}

/// Whether a retransmission was sent for this, by the model's word.
fn is_cause(because: &str, segment: &Segment) -> bool {
    let (kind, timer) = match because {
        "fast-retransmit" | "rack" => (SegmentKind::FastRetransmission, None),
        "timeout" | "handshake-retransmission" => {
            (SegmentKind::TimeoutRetransmission, Some(Timer::Retransmission))
        }
        "after-timeout" => (SegmentKind::AfterTimeoutRetransmission, None),
        "tail-loss-probe" => (SegmentKind::TimeoutRetransmission, Some(Timer::Probe)),
        other => panic!("data is not retransmitted as {other}"),
    };
    segment.kind == kind && segment.timer == timer
}

/// Whether the packets are the same for another reason: what a sender retransmits on ACKs after a
/// timeout, where SACK or duplicate ACKs have shown it lost, follows from both. Which of them a
/// stack goes by (xnu continues an interrupted fast recovery) no packet shows.
fn is_same(truth: &Truth, index: usize, segment: &Segment) -> bool {
    let passage = &truth.passages[index];
    match (passage.because.as_str(), segment.kind) {
        ("fast-retransmit", SegmentKind::AfterTimeoutRetransmission) => {
            truth.follows_timeout(index)
        }
        ("after-timeout", SegmentKind::FastRetransmission) => truth.at(index).is_revealed(),
        _ => false,
    }
}

/// Whether a stall that this packet ended had that cause.
fn explains(cause: StallCause, passage: &Passage, facts: &Facts) -> bool {
    let by_timer = ["timeout", "tail-loss-probe"].contains(&passage.because.as_str());
    let lost = by_timer && !facts.head_arrived;
    match cause {
        StallCause::SenderIdle
        | StallCause::SenderSlow
        | StallCause::NoRequest
        | StallCause::ZeroWindow
        | StallCause::ReceiveWindow
        | StallCause::PacketDelay => !lost,
        StallCause::AckLoss => by_timer && facts.head_arrived,
        StallCause::IgnoredAcks => lost && facts.is_revealed(),
        StallCause::DoubleLoss => lost && facts.resent_lost,
        StallCause::TailLoss => lost && facts.last_lost && facts.duplicates < 3,
        StallCause::SmallWindow | StallCause::SmallReceiveWindow => lost && facts.segments < 4,
        StallCause::ContinuousLoss => lost && facts.all_lost,
        StallCause::Timeout => lost && !facts.is_revealed(),
        StallCause::Undetermined => true,
    }
}
