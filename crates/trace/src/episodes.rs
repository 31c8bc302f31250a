//! Recovery episodes: which losses belong together, what told of them, how they were repaired.
//!
//! Works on a stretch of the [`Log`] after the fact, when the acknowledgements have said what
//! arrived. The lost transmissions fall into *runs* (nothing sent between them arrived), as an
//! interruption makes them. A run opens an episode. It belongs to the episode before it if the
//! sender sent its first packet before knowing of that loss, or if it consists only of
//! repetitions of what that episode repairs: TCP's own recovery point (RFC 6675 section 5).
//! A run with new data sent later is a new episode, even if the first is not repaired yet: so two
//! interruptions give two episodes, each with its own losses. (If the second interruption hits
//! nothing but retransmissions of the first recovery, the two are one episode.)

use tcplab_units::{Bytes, Instant, Offset, Span};

use crate::log::{Arrival, Log, Transmission};
use crate::{Episode, EpisodeKind, Evidence, LostSegment, Timer};

/// An acknowledgement, as far as episodes need it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) una: Offset,
    /// The order that the next transmission had then.
    pub(crate) position: u64,
    /// The earliest transmission that its SACK blocks newly told of.
    pub(crate) sacked: Option<u64>,
    /// A duplicate without SACK blocks.
    pub(crate) bare_duplicate: bool,
}

/// An episode, and whether nothing that is still to come can change it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) episode: Episode,
    pub(crate) settled: bool,
    /// The order of its first lost transmission.
    pub(crate) first_lost: u64,
}

/// The episodes in a stretch of the log, in order of time.
pub(crate) fn find(log: &Log, marks: &[Mark]) -> Vec<Found> {
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    for run in runs(log) {
        match drafts.last_mut() {
            Some(draft) if draft.takes(&run, marks) => draft.lost.extend(run),
            _ => drafts.push(Draft::open(run, log, marks)),
        }
    }
    drafts.iter().map(|draft| draft.finish(log, marks)).collect()
}

type Sent<'a> = (u64, &'a Transmission);

/// The lost transmissions, those between which nothing arrived together.
fn runs(log: &Log) -> Vec<Vec<Sent<'_>>> {
    let mut runs: Vec<Vec<Sent<'_>>> = Vec::new();
    let mut broken = true;
    let sent: Vec<Sent<'_>> = log.iter().collect();
    for (index, &(order, transmission)) in sent.iter().enumerate() {
        match fate(log, &sent, index) {
            Some(true) if broken => runs.push(vec![(order, transmission)]),
            Some(true) => runs.last_mut().expect("not broken").push((order, transmission)),
            Some(false) => {}
            None => continue,
        }
        broken = fate(log, &sent, index) == Some(false);
    }
    runs
}

/// Whether the transmission was lost; `None` if nobody knows.
fn fate(log: &Log, sent: &[Sent<'_>], index: usize) -> Option<bool> {
    let certain = |index: usize| {
        let (order, transmission) = *sent.get(index)?;
        if transmission.syn {
            return None;
        }
        match transmission.arrival {
            Arrival::Arrived => Some(false),
            Arrival::Overtaken | Arrival::Superseded => Some(true),
            Arrival::Unknown => {
                let again = log.latest(transmission.range).is_some_and(|latest| latest > order);
                again.then_some(true)
            }
            Arrival::Surplus => None,
        }
    };
    match certain(index) {
        // Needless, and no D-SACK says that it arrived: if packets beside it were lost, it was
        // too; otherwise it is likelier that the D-SACK was lost or never sent.
        None if sent[index].1.arrival == Arrival::Surplus => {
            let before = index.checked_sub(1).and_then(certain);
            (before == Some(true) || certain(index + 1) == Some(true)).then_some(true)
        }
        known => known,
    }
}

/// An episode in the making.
struct Draft<'a> {
    lost: Vec<Sent<'a>>,
    evidence: Evidence,
    evidence_at: Instant,
    /// Transmissions from this order on were sent in the knowledge of the loss.
    known_from: u64,
    /// The end of the highest byte sent until then.
    recovery_point: Offset,
}

impl<'a> Draft<'a> {
    fn open(lost: Vec<Sent<'a>>, log: &'a Log, marks: &[Mark]) -> Draft<'a> {
        let (evidence, evidence_at, known_from) = first_evidence(lost[0], log, marks);
        let before = log.iter().take_while(|&(order, _)| order < known_from);
        let recovery_point = before.map(|(_, t)| t.range.end).max().unwrap_or_default();
        Draft { lost, evidence, evidence_at, known_from, recovery_point }
    }

    /// Whether a later run of losses belongs to this episode.
    fn takes(&self, run: &[Sent<'_>], marks: &[Mark]) -> bool {
        let first = run[0].0;
        if first < self.known_from {
            return true;
        }
        let repaired = self.repair(marks).is_some_and(|mark| mark.position <= first);
        !repaired && run.iter().all(|(_, t)| t.range.start < self.recovery_point)
    }

    /// Everything lost lies before this.
    fn end(&self) -> Offset {
        self.lost.iter().map(|(_, t)| t.range.end).max().unwrap_or_default()
    }

    /// The acknowledgement that covers everything lost.
    fn repair<'m>(&self, marks: &'m [Mark]) -> Option<&'m Mark> {
        let end = self.end();
        marks.iter().find(|mark| mark.una >= end && mark.at >= self.evidence_at)
    }

    fn finish(&self, log: &Log, marks: &[Mark]) -> Found {
        let (first_order, first) = self.lost[0];
        let repair = self.repair(marks);
        let until = repair.map_or(log.next(), |mark| mark.position);
        let bound = self.end().max(self.recovery_point);
        let span: Vec<Sent<'_>> =
            log.iter().filter(|&(order, _)| order >= first_order && order < until).collect();
        let repeats: Vec<Sent<'_>> =
            span.iter().copied().filter(|(_, t)| t.repeat && t.range.start < bound).collect();
        let count = |test: &dyn Fn(&Transmission) -> bool| {
            repeats.iter().filter(|(_, t)| test(t)).count() as u64
        };
        let first_repeat = repeats.iter().find(|&&(order, _)| order > first_order);
        let repeat_order = first_repeat.map_or(until, |&(order, _)| order + 1);
        let last_frame = repair.map(|mark| mark.frame).or(marks.last().map(|mark| mark.frame));
        let last_sent = span.last().map_or(first.frame, |(_, t)| t.frame);
        let episode = Episode {
            kind: self.kind(&span, marks, until),
            lost: self.lost.iter().map(|(_, t)| t.as_lost()).collect(),
            first_lost_sent: first.at,
            evidence_at: self.evidence_at,
            evidence: self.evidence,
            first_retransmission: first_repeat.map(|(_, t)| (t.at, t.frame)),
            repaired_at: repair.map(|mark| mark.at),
            retransmissions: repeats.len() as u64,
            retransmitted: repeats.iter().map(|(_, t)| Bytes::new(t.payload)).sum(),
            timeouts: count(&|t| t.timer.is_some()),
            probes: span.iter().filter(|(_, t)| t.timer == Some(Timer::Probe)).count() as u64,
            needless: count(&|t| t.needless),
            silence: longest_gap(span.iter().take_while(|&&(order, _)| order < repeat_order)),
            frames: (first.frame, last_frame.map_or(last_sent, |frame| frame.max(first.frame))),
        };
        Found {
            episode,
            settled: repair.is_some_and(|r| settled(r, log, marks)),
            first_lost: first_order,
        }
    }

    fn kind(&self, span: &[Sent<'_>], marks: &[Mark], until: u64) -> EpisodeKind {
        let by_timer = match self.evidence {
            Evidence::Timeout { .. } | Evidence::Probe { .. } => true,
            Evidence::Sack { .. } | Evidence::DuplicateAcks { .. } => false,
        };
        if lone_timeouts(span, marks, until) >= 2 {
            EpisodeKind::Intermittent
        } else if by_timer {
            EpisodeKind::WithTimeLag
        } else {
            EpisodeKind::WithoutTimeLag
        }
    }
}

impl Transmission {
    fn as_lost(&self) -> LostSegment {
        LostSegment { range: self.range, sent_at: self.at, frame: self.frame }
    }
}

/// What first told the sender that `lost` was lost: when, and from which transmission on it knew.
///
/// A SACK for something sent before any timer ran out tells without a timer's help, even if a
/// probe went out meanwhile; a retransmission timeout that comes first has told first.
fn first_evidence(lost: Sent<'_>, log: &Log, marks: &[Mark]) -> (Evidence, Instant, u64) {
    let (order, transmission) = lost;
    let later = |timer: Timer| log.iter().find(move |&(o, t)| o > order && t.timer == Some(timer));
    let (probe, timeout) = (later(Timer::Probe), later(Timer::Retransmission));
    let told = marks.iter().find(|mark| {
        mark.position > order
            && mark.una <= transmission.range.start
            && (mark.bare_duplicate || mark.sacked.is_some_and(|sacked| sacked > order))
    });
    let unaided = |mark: &Mark, probe: Sent<'_>| mark.sacked.is_some_and(|o| o < probe.0);
    let probe = probe.filter(|&probe| !told.is_some_and(|mark| unaided(mark, probe)));
    let timer = match (probe, timeout) {
        (Some(probe), Some(timeout)) if timeout.0 < probe.0 => Some(timeout),
        (probe, timeout) => probe.or(timeout),
    };
    let by_timer = |(order, sent): Sent<'_>| {
        let evidence = match sent.timer {
            Some(Timer::Probe) => Evidence::Probe { frame: sent.frame },
            _ => Evidence::Timeout { frame: sent.frame },
        };
        (evidence, sent.at, order)
    };
    match (told, timer) {
        (Some(mark), timer) if timer.is_none_or(|(_, sent)| mark.at <= sent.at) => {
            let evidence = if mark.bare_duplicate {
                Evidence::DuplicateAcks { frame: mark.frame }
            } else {
                Evidence::Sack { frame: mark.frame }
            };
            (evidence, mark.at, mark.position)
        }
        (_, Some(timer)) => by_timer(timer),
        // Neither was captured: the repetition itself tells.
        (_, None) => {
            let again = log.overlapping(transmission.range).into_iter().find(|&o| o > order);
            let again = again.and_then(|o| Some((o, log.get(o)?))).unwrap_or(lost);
            by_timer(again)
        }
    }
}

/// How many timeouts in a row each repaired one segment and were followed by nothing but one or
/// two new segments until the next timeout or the repair: the paper's figure 11.
fn lone_timeouts(span: &[Sent<'_>], marks: &[Mark], until: u64) -> u64 {
    let timeouts: Vec<u64> = span
        .iter()
        .filter(|(_, t)| t.timer == Some(Timer::Retransmission) && t.repeat)
        .map(|&(order, _)| order)
        .collect();
    let una_at = |position: u64| {
        let before = marks.partition_point(|mark| mark.position <= position);
        before.checked_sub(1).map_or(Offset::ZERO, |index| marks[index].una)
    };
    let (mut longest, mut row) = (0, 0);
    for (index, &order) in timeouts.iter().enumerate() {
        let end = timeouts.get(index + 1).copied().unwrap_or(until);
        let between: Vec<&Transmission> =
            span.iter().filter(|&&(o, _)| o > order && o < end).map(|&(_, t)| t).collect();
        let moved = una_at(end) > una_at(order);
        let lone = moved && between.len() <= 2 && between.iter().all(|t| !t.repeat);
        row = if lone { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    longest
}

/// Whether everything sent before the repair is answered, and something that was sent after its
/// last repetition: a later SACK or D-SACK cannot speak of it any more.
fn settled(repair: &Mark, log: &Log, marks: &[Mark]) -> bool {
    let Some(una) = marks.last().map(|mark| mark.una) else { return false };
    let before = || log.iter().take_while(|&(order, _)| order < repair.position);
    let last_repeat = before().filter(|(_, t)| t.repeat).last().map_or(0, |(order, _)| order);
    let mut after = log.iter().filter(|&(order, t)| order > last_repeat && !t.repeat);
    before().all(|(_, t)| t.range.end <= una) && after.any(|(_, t)| t.range.end <= una)
}

fn longest_gap<'a>(sent: impl Iterator<Item = &'a Sent<'a>>) -> Span {
    let times: Vec<Instant> = sent.map(|(_, t)| t.at).collect();
    times.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap_or_default()
}
