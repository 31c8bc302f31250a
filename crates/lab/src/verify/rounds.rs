//! What is sent to find out whether a path does what it promises, in the time there is.

use tcplab_path::LinkPlan;
use tcplab_testbed::{Round, Train};
use tcplab_units::{Bytes, Instant, Rate, Span};

use super::asked::{Asked, transmission};

/// Probes come no closer than this (1 kHz): each finds a path and a machine that are idle.
const CLOSEST: Span = Span::from_millis(1);
/// A train to measure a rate takes no longer than this, and no less than a quarter of the time.
const LONGEST_TRAIN: Span = Span::from_secs(1);
/// Fewer datagrams measure no rate.
pub(super) const FEWEST: u64 = 20;
/// Waiting packets that keep a bottleneck busy while the sender sleeps too long: 4 ms, a tick of a
/// kernel with HZ=250, if it is not more than half the queue.
const BACKLOG: Span = Span::from_millis(4);
/// A sender in user space cannot keep a queue busy that is empty after less than this.
const LEAST_BACKLOG: Span = Span::from_micros(500);
/// Datagrams per second that a sender manages beside the bridge and the listener.
const MOST_PER_SECOND: u64 = 100_000;
/// A rate is measured to a few parts in a thousand if arrivals vary by no more than this part of
/// the train.
const STEADY: u64 = 200;

/// What is waited for besides, for a machine that is late.
const MARGIN: Span = Span::from_secs(1);
/// A packet that takes longer is not waited for, unless the measurement is to take as long.
const LONGEST_WAIT: Span = Span::from_secs(10);

/// What is to be sent, and what each round is for.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) asked: [Asked; 2],
    /// All but the rate; and the law of the delays where packets may overtake.
    pub(super) probes: Round,
    /// The law of the delays, where packets keep their order.
    pub(super) sparse: Option<Round>,
    /// The rate, one way after the other.
    pub(super) trains: [Result<Option<Train>, String>; 2],
    /// How long it sends.
    lasting: Span,
}

impl Plan {
    pub(super) fn of(links: &[LinkPlan; 2], lasting: Span, seed: u64) -> Plan {
        let until = Instant::ZERO + lasting;
        let asked = [0, 1].map(|way| Asked::of(&links[way], Train::SMALLEST, until, seed));
        let time = Span::from_nanos(lasting.as_nanos() / 4).min(LONGEST_TRAIN);
        let trains = [0, 1].map(|way| train(&asked[way], time));
        let number = trains.iter().filter(|train| matches!(train, Ok(Some(_)))).count() as u64;
        let rest = lasting.saturating_sub(time * number);
        let keeps_order = asked.iter().any(keeps_order);
        let each = if keeps_order { Span::from_nanos(rest.as_nanos() / 2) } else { rest };
        let round = |gap: &dyn Fn(&Asked) -> Option<Span>| {
            let train = |way: usize| gap(&asked[way]).map(|gap| spaced(gap, each));
            Round { forward: train(0), reverse: train(1), patience: patience(&asked) }
        };
        let probes = round(&|asked| Some(gap(asked)));
        let sparse = keeps_order.then(|| round(&|asked| sparse_gap(asked)));
        Plan { asked, probes, sparse, trains, lasting }
    }

    /// The longest that a packet is on the path.
    fn longest(&self) -> Span {
        self.probes.patience.saturating_sub(MARGIN)
    }

    /// Why the path is not measured, if packets take too long.
    pub(super) fn too_slow(&self) -> Option<String> {
        let Plan { lasting, .. } = self;
        let longest = self.longest();
        (longest > LONGEST_WAIT.max(*lasting)).then(|| {
            let longest = Span::from_millis(longest.as_nanos() / 1_000_000);
            format!("a packet takes {longest}: too long to measure in {lasting}")
        })
    }

    /// How long it waits for packets after it has sent the last ones of each round, at most and
    /// without the margin.
    pub(super) fn waits(&self) -> Span {
        if self.too_slow().is_some() {
            return Span::ZERO;
        }
        self.longest() * self.rounds().len() as u64
    }

    /// As the other process gets it: probes, sparse ones, and a round for each train.
    pub(super) fn rounds(&self) -> Vec<Round> {
        let mut rounds = vec![self.probes];
        rounds.extend(self.sparse);
        for (way, train) in self.trains.iter().enumerate() {
            let Ok(Some(train)) = train else { continue };
            let mut round = Round { forward: None, reverse: None, patience: self.probes.patience };
            *(if way == 0 { &mut round.forward } else { &mut round.reverse }) = Some(*train);
            rounds.push(round);
        }
        rounds
    }
}

/// Whether there is jitter that can be tested, and packets wait for those before them.
fn keeps_order(asked: &Asked) -> bool {
    asked.no_jitter.is_none() && asked.jitter.as_ref().is_some_and(|jitter| !jitter.reorders())
}

/// Between probes: each has left the transmitters long before the next comes.
fn gap(asked: &Asked) -> Span {
    let busy = asked.narrowest().map_or(Span::ZERO, |rate| transmission(rate, Train::SMALLEST));
    CLOSEST.max(busy * 2).max(asked.turn)
}

/// The same, so far apart that none waits for the one before because of its jitter.
fn sparse_gap(asked: &Asked) -> Option<Span> {
    let (least, most) = asked.spread()?;
    keeps_order(asked).then(|| gap(asked).max(most.saturating_sub(least)))
}

fn spaced(gap: Span, lasting: Span) -> Train {
    let count = lasting.as_nanos() / gap.as_nanos().max(1);
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    Train { size: Train::SMALLEST, count, gap, ahead: 1 }
}

/// The longest that anything can still be on its way, and some more.
fn patience(asked: &[Asked; 2]) -> Span {
    let slowest = asked.iter().map(|asked| {
        let (_, most) = asked.spread().unwrap_or_default();
        let held = asked.reorderings.iter().map(|plan| plan.at_most).max().unwrap_or_default();
        asked.passage(Bytes::new(1500)) + asked.turn + most + held
    });
    slowest.max().unwrap_or_default() + MARGIN
}

/// The train that measures a rate; none where there is none to be measured, or why it cannot be.
fn train(asked: &Asked, time: Span) -> Result<Option<Train>, String> {
    let Some(rate) = asked.rate() else {
        return asked.no_rate.map_or(Ok(None), |why| Err(why.into()));
    };
    if let Some(why) = asked.no_rate {
        return Err(why.into());
    }
    let size = asked.largest;
    let gap = Span::from_nanos(transmission(rate, size).as_nanos().max(1));
    if MOST_PER_SECOND * gap.as_nanos() < 1_000_000_000 {
        return Err(format!(
            "more than {MOST_PER_SECOND} datagrams a second cannot be sent one by one: see ceiling"
        ));
    }
    let Some(room) = asked.room(size) else {
        return Err("the queue drops at random before it is full".into());
    };
    let backlog = (gap * (room / 2)).min(BACKLOG.max(gap * 2));
    if room < 4 || backlog < LEAST_BACKLOG {
        return Err(format!(
            "a queue of {room} packets is empty before a sender that sleeps can fill it again"
        ));
    }
    if asked.spread().is_some_and(|(least, most)| most.saturating_sub(least) * STEADY > time) {
        return Err("arrivals differ by more than the time there is can even out".into());
    }
    let count = time.as_nanos() / gap.as_nanos();
    if count < FEWEST {
        return Err(format!("it takes {} to send {FEWEST} packets", rounded(gap * FEWEST)));
    }
    let ahead = u32::try_from(backlog.as_nanos() / gap.as_nanos()).unwrap_or(1).max(2);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Some(Train { size, count, gap: exact_gap(rate, size), ahead }))
}

/// A little less than it takes to send one, so that the backlog never shrinks by rounding.
fn exact_gap(rate: Rate, size: Bytes) -> Span {
    Span::from_nanos(transmission(rate, size).as_nanos().saturating_sub(1))
}

fn rounded(span: Span) -> String {
    format!("{:.1} s", span.as_secs_f64())
}
