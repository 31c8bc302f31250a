//! Recovery episodes: which losses belong together, the evidence, the recovery.
//!
//! Works on a stretch of the [`Log`] once its ACKs arrived. Lost transmissions form *runs* (nothing
//! sent between them arrived). A run opens an episode, unless the sender sent its first packet
//! before it knew of the previous episode's loss, or the run holds only retransmissions of that
//! episode: TCP's recovery point (RFC 6675 section 5). So two interruptions give two episodes, even
//! before the first is recovered, unless the second loses only retransmissions of the first.

use tcplab_units::{Bytes, Instant, Offset, Span};

use super::transmissions::{Arrival, Log, Transmission};
use crate::bounds::EPISODES;
use crate::fold::folded;
use crate::{Episode, EpisodeKind, Evidence, LostSegment, Range, Timer};

/// An acknowledgement, as far as episodes need it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AckMark {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) una: Offset,
    /// The order that the next transmission had then.
    pub(crate) position: u64,
    /// The earliest transmission newly SACKed.
    pub(crate) sacked: Option<u64>,
    /// A duplicate without SACK blocks.
    pub(crate) bare_duplicate: bool,
    /// Not an ACK but ICMP packet too big.
    pub(crate) too_big: bool,
}
folded! { AckMark { at, frame, una, position, sacked, bare_duplicate, too_big } }

impl AckMark {
    /// Whether it may be evidence that this transmission was lost. A duplicate ACK without SACK is
    /// about the segment at its number, and an answer to what was sent a round trip before.
    fn is_evidence_of(&self, (order, sent): Sent<'_>, least_round_trip: Span) -> bool {
        let is_answer = self.una >= sent.range.start && self.at >= sent.at + least_round_trip;
        self.bare_duplicate && is_answer
            || self.too_big
            || self.sacked.is_some_and(|sacked| sacked > order)
    }
}

/// An episode, and whether it is final.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) episode: Episode,
    pub(crate) settled: bool,
    /// The order of its first lost transmission.
    pub(crate) first_lost: u64,
}

/// The episodes in order of time; at the bound [`EPISODES`] the last takes all later losses.
pub(crate) fn find<'a>(
    log: &'a Log,
    marks: &'a [AckMark],
    least_round_trip: Span,
) -> impl Iterator<Item = Found> + use<'a> {
    let context = Context::new(log, marks, least_round_trip);
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    for run in runs(log) {
        let full = drafts.len() >= EPISODES.most();
        match drafts.last_mut() {
            Some(draft) if full || draft.takes(&run, marks) => draft.lose(run),
            _ => drafts.push(Draft::open(run, &context)),
        }
    }
    drafts.into_iter().map(move |draft| draft.finish(&context))
}

type Sent<'a> = (u64, &'a Transmission);

/// A stretch of the log and its ACKs, in order of time, indexed.
struct Context<'a> {
    log: &'a Log,
    marks: &'a [AckMark],
    /// Transmissions by timers.
    timers: Vec<Sent<'a>>,
    /// For each transmission, the end of the highest byte sent until then.
    highest: Vec<Offset>,
    /// No answer comes sooner.
    least_round_trip: Span,
}

impl<'a> Context<'a> {
    fn new(log: &'a Log, marks: &'a [AckMark], least_round_trip: Span) -> Context<'a> {
        let mut high = Offset::ZERO;
        let mut rise = |(_, sent): Sent<'_>| {
            high = high.max(sent.range.end);
            high
        };
        Context {
            log,
            marks,
            timers: log.iter().filter(|(_, sent)| sent.timer.is_some()).collect(),
            highest: log.iter().map(&mut rise).collect(),
            least_round_trip,
        }
    }

    /// The end of the highest byte that was sent before `order`; zero if nothing was.
    fn high_before(&self, order: u64) -> Offset {
        let sent = (order.saturating_sub(self.log.first()) as usize).min(self.highest.len());
        sent.checked_sub(1).map_or(Offset::ZERO, |last| self.highest[last])
    }

    /// What a timer of this kind sent first after `order`.
    fn timer_after(&self, order: u64, timer: Timer) -> Option<Sent<'a>> {
        let from = self.timers.partition_point(|&(o, _)| o <= order);
        self.timers[from..].iter().find(|(_, sent)| sent.timer == Some(timer)).copied()
    }
}

/// The lost transmissions, those between which nothing arrived together.
fn runs(log: &Log) -> Vec<Vec<Sent<'_>>> {
    let mut runs: Vec<Vec<Sent<'_>>> = Vec::new();
    let mut broken = true;
    for (order, transmission) in log.iter() {
        let fate = fate(log, order, transmission);
        match fate {
            Some(true) if broken => runs.push(vec![(order, transmission)]),
            Some(true) => runs.last_mut().expect("not broken").push((order, transmission)),
            Some(false) => {}
            None => continue,
        }
        broken = fate == Some(false);
    }
    runs
}

/// Whether the transmission was lost; `None` if unknown.
fn fate(log: &Log, order: u64, transmission: &Transmission) -> Option<bool> {
    match certain_fate(log, order, transmission) {
        // Spurious, and no D-SACK says that it arrived: if packets beside it were lost, it was
        // too; otherwise it is likelier that the D-SACK was lost or never sent.
        None if transmission.arrival == Arrival::Surplus => {
            let beside = |order: u64| certain_fate(log, order, log.get(order)?);
            let before = order.checked_sub(1).and_then(beside);
            (before == Some(true) || beside(order + 1) == Some(true)).then_some(true)
        }
        known => known,
    }
}

/// As above, without the evidence of its neighbours.
#[inline]
fn certain_fate(log: &Log, order: u64, transmission: &Transmission) -> Option<bool> {
    if transmission.syn {
        return None;
    }
    match transmission.arrival {
        Arrival::Arrived => Some(false),
        Arrival::Overtaken | Arrival::Superseded => Some(true),
        Arrival::Unknown => {
            let range = transmission.range;
            if log.only_one_in(range).is_some() {
                return None;
            }
            let again = log.latest(range).is_some_and(|latest| latest > order);
            again.then_some(true)
        }
        Arrival::Surplus => None,
    }
}

/// An episode in the making.
struct Draft<'a> {
    lost: Vec<Sent<'a>>,
    /// Everything lost lies before this.
    end: Offset,
    evidence: Evidence,
    evidence_at: Instant,
    /// Transmissions from this order on were sent in the knowledge of the loss.
    known_from: u64,
    /// The end of the highest byte sent until then.
    recovery_point: Offset,
}

impl<'a> Draft<'a> {
    fn open(lost: Vec<Sent<'a>>, context: &Context<'a>) -> Draft<'a> {
        let (evidence, evidence_at, known_from) = first_evidence(lost[0], context);
        let recovery_point = context.high_before(known_from);
        let end = highest_end(&lost);
        Draft { lost, end, evidence, evidence_at, known_from, recovery_point }
    }

    /// Takes in a later run of losses.
    fn lose(&mut self, run: Vec<Sent<'a>>) {
        self.end = self.end.max(highest_end(&run));
        self.lost.extend(run);
    }

    /// Whether a later run of losses belongs to this episode.
    fn takes(&self, run: &[Sent<'_>], marks: &[AckMark]) -> bool {
        let first = run[0].0;
        if first < self.known_from {
            return true;
        }
        let repaired = self.repair(marks).is_some_and(|mark| mark.position <= first);
        !repaired && run.iter().all(|(_, t)| t.range.start < self.recovery_point)
    }

    /// The acknowledgement that covers everything lost.
    fn repair<'m>(&self, marks: &'m [AckMark]) -> Option<&'m AckMark> {
        let covering = marks.partition_point(|mark| mark.una < self.end);
        marks[covering..].iter().find(|mark| mark.at >= self.evidence_at)
    }

    fn finish(&self, context: &Context<'_>) -> Found {
        let &Context { log, marks, .. } = context;
        let (first_order, first) = self.lost[0];
        let repair = self.repair(marks);
        let until = repair.map_or(log.next(), |mark| mark.position);
        let bound = self.end.max(self.recovery_point);
        let span: Vec<Sent<'_>> =
            log.iter_from(first_order).take_while(|&(order, _)| order < until).collect();
        let repeats: Vec<Sent<'_>> =
            span.iter().copied().filter(|(_, t)| t.repeat && t.range.start < bound).collect();
        let count = |test: &dyn Fn(&Transmission) -> bool| {
            repeats.iter().filter(|(_, t)| test(t)).count() as u64
        };
        let beginning = self.beginning(context, until);
        let from = beginning.map_or(until, |(order, _)| order);
        let first_repeat = repeats.iter().find(|&&(order, _)| order >= from);
        let last_frame = repair.map(|mark| mark.frame).or(marks.last().map(|mark| mark.frame));
        let last_sent = span.last().map_or(first.frame, |(_, t)| t.frame);
        let episode = Episode {
            kind: kind(beginning, &span, marks, until),
            lost: self.lost.iter().map(|&lost| segment(lost, log, repair.is_some())).collect(),
            first_lost_sent: first.at,
            evidence_at: self.evidence_at,
            evidence: self.evidence,
            first_retransmission: first_repeat.map(|(_, t)| (t.at, t.frame)),
            repaired_at: repair.map(|mark| mark.at),
            retransmissions: repeats.len() as u64,
            retransmitted: repeats.iter().map(|(_, t)| Bytes::new(t.payload)).sum(),
            timeouts: count(&|t| t.timer.is_some()),
            probes: span.iter().filter(|(_, t)| t.timer == Some(Timer::Probe)).count() as u64,
            spurious: count(&|t| t.spurious),
            silence: beginning.and_then(|sent| silence_before(sent, log)),
            frames: (first.frame, last_frame.map_or(last_sent, |frame| frame.max(first.frame))),
        };
        Found {
            episode,
            settled: repair.is_some_and(|repair| settled(repair, context)),
            first_lost: first_order,
        }
    }

    /// What began the recovery: the first retransmission of the first lost segment, or what a timer
    /// sent before it.
    fn beginning(&self, context: &Context<'a>, until: u64) -> Option<Sent<'a>> {
        let (first_order, first) = self.lost[0];
        let repeats = context.log.overlapping(first.range);
        let repeat = repeats.into_iter().find(|&order| order > first_order);
        let repeat = repeat.and_then(|order| Some((order, context.log.get(order)?)));
        let timers = [Timer::Probe, Timer::Retransmission];
        let by_timer = timers.into_iter().filter_map(|it| context.timer_after(first_order, it));
        by_timer.chain(repeat).filter(|&(order, _)| order < until).min_by_key(|&(order, _)| order)
    }
}

/// What was lost of a transmission. Of a packet that offloading makes of several segments, perhaps
/// one of them: once everything was `repaired`, that is what was sent again.
fn segment((order, sent): Sent<'_>, log: &Log, repaired: bool) -> LostSegment {
    let Transmission { range, at: sent_at, frame, .. } = *sent;
    let whole = LostSegment { range, sent_at, frame };
    if !repaired {
        return whole;
    }
    let again = log.overlapping(range).into_iter().filter(|&other| other > order);
    let again = again.filter_map(|other| Some(log.get(other)?.range));
    let Some(hull) = again.reduce(|one, other| Range {
        start: one.start.min(other.start),
        end: one.end.max(other.end),
    }) else {
        return whole;
    };
    let range = Range { start: range.start.max(hull.start), end: range.end.min(hull.end) };
    LostSegment { range, ..whole }
}

/// The type, by what began the recovery.
fn kind(
    beginning: Option<Sent<'_>>,
    span: &[Sent<'_>],
    marks: &[AckMark],
    until: u64,
) -> EpisodeKind {
    match beginning {
        None => EpisodeKind::Unknown,
        // The first mark is the retransmission's. Without an ACK what prompted it is unknown.
        Some((_, Transmission { timer: None, .. })) if marks.len() < 2 => EpisodeKind::Unknown,
        Some((_, Transmission { timer: None, .. })) => EpisodeKind::WithoutTimeLag,
        Some(_) if lone_timeouts(span, marks, until) >= 2 => EpisodeKind::Intermittent,
        Some(_) => EpisodeKind::WithTimeLag,
    }
}

/// The first evidence of `lost` at the sender: its time, and the first transmission after it.
///
/// SACKs of data sent before a probe precede it; a retransmission timeout counts if it was first.
fn first_evidence(lost: Sent<'_>, context: &Context<'_>) -> (Evidence, Instant, u64) {
    let &Context { log, marks, .. } = context;
    let (order, transmission) = lost;
    let later = |timer: Timer| context.timer_after(order, timer);
    let (probe, timeout) = (later(Timer::Probe), later(Timer::Retransmission));
    let after = marks.partition_point(|mark| mark.position <= order);
    let mark = marks[after..]
        .iter()
        .take_while(|mark| mark.una < transmission.range.end)
        .find(|mark| mark.is_evidence_of(lost, context.least_round_trip));
    let unaided = |mark: &AckMark, probe: Sent<'_>| mark.sacked.is_some_and(|o| o < probe.0);
    let probe = probe.filter(|&probe| !mark.is_some_and(|mark| unaided(mark, probe)));
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
    match (mark, timer) {
        (Some(mark), timer) if timer.is_none_or(|(_, sent)| mark.at <= sent.at) => {
            let frame = mark.frame;
            let evidence = match mark {
                AckMark { too_big: true, .. } => Evidence::PacketTooBig { frame },
                AckMark { bare_duplicate: true, .. } => Evidence::DuplicateAcks { frame },
                _ => Evidence::Sack { frame },
            };
            (evidence, mark.at, mark.position)
        }
        // Without either, or before them, the retransmission is the evidence.
        (_, timer) => {
            let again = log.overlapping(transmission.range).into_iter().find(|&o| o > order);
            let again = again.and_then(|o| Some((o, log.get(o)?)));
            let first = timer.into_iter().chain(again).min_by_key(|&(order, _)| order);
            by_timer(first.unwrap_or(lost))
        }
    }
}

/// How many timeouts in a row each repaired one segment and were followed by nothing but one or
/// two new segments until the next timeout or the repair: the paper's figure 11.
fn lone_timeouts(span: &[Sent<'_>], marks: &[AckMark], until: u64) -> u64 {
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
        let from = span.partition_point(|&(o, _)| o <= order);
        let between = &span[from..span.partition_point(|&(o, _)| o < end).max(from)];
        let moved = una_at(end) > una_at(order);
        let lone = moved && between.len() <= 2 && between.iter().all(|(_, t)| !t.repeat);
        row = if lone { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    longest
}

/// Whether everything sent before the repair is answered, and something that was sent after its
/// last retransmission: no later SACK or D-SACK can cover it.
fn settled(repair: &AckMark, context: &Context<'_>) -> bool {
    let Some(una) = context.marks.last().map(|mark| mark.una) else { return false };
    let mut before = context.log.iter_before(repair.position).rev();
    let last_repeat = before.find(|(_, t)| t.repeat).map_or(0, |(order, _)| order);
    let mut after = context.log.iter_from(last_repeat + 1).filter(|(_, t)| !t.repeat);
    context.high_before(repair.position) <= una && after.any(|(_, t)| t.range.end <= una)
}

/// Everything of these lies before it.
fn highest_end(sent: &[Sent<'_>]) -> Offset {
    sent.iter().map(|(_, t)| t.range.end).max().unwrap_or_default()
}

/// How long the sender had sent nothing.
fn silence_before((order, sent): Sent<'_>, log: &Log) -> Option<Span> {
    let before = log.get(order.checked_sub(1)?)?;
    Some(sent.at.since(before.at))
}
