//! Compares what arrived with the configured path.

use std::collections::BTreeMap;

use tcplab_path::{Direction, HeldBack, JitterLaw, LinkPlan};
use tcplab_recording::quality::tolerance;
use tcplab_results::verification::{CheckRow, micros};
use tcplab_stats::{KolmogorovSmirnov, binomial_range};
use tcplab_testbed::{Arrival, DirectionRecord, RoundRecord, Train};
use tcplab_units::{Bytes, Span};

use super::asked::Asked;
use super::loss_law::{self, CONFIDENCE};
use super::machine::at;
use super::rounds::{FEWEST, Plan};
use super::unmeasured;

/// A measured rate may differ by so much, in per mille: what a few late packets at both ends of a
/// train of a quarter of a second do.
const RATE_PER_MILLE: f64 = 10.0;
/// The median of the delay's error may be this, or this share of the delay.
const MEDIAN_BOUND: Span = Span::from_micros(100);
/// The share of the delay, in per cent.
const MEDIAN_SHARE: u64 = 1;
/// Samples less likely than this do not come from the law: one right path in a thousand is blamed.
const LEAST_P: f64 = 1.0 - CONFIDENCE;
/// With fewer samples the test of a law sees nothing.
const FEWEST_SAMPLES: usize = 30;
/// Around the edges of an interruption, what is lost belongs to neither side.
const EDGE: Span = Span::from_millis(2);

/// Why a row without a sample says nothing.
pub(super) const NOTHING: &str = "nothing came through";

/// Everything that was found of a path.
pub(super) fn rows(links: &[LinkPlan; 2], plan: &Plan, rounds: &[RoundRecord]) -> Vec<CheckRow> {
    let round_trip = Span::from_nanos(links.iter().map(|link| link.delay().as_nanos()).sum());
    let bound = tolerance(round_trip);
    let mut rest = rounds.iter();
    let Some(probes) = rest.next() else { return Vec::new() };
    let sparse = plan.sparse.and_then(|_| rest.next());
    let mut rows = Vec::new();
    for (way, direction) in Direction::BOTH.into_iter().enumerate() {
        let train = plan.trains[way].as_ref().map(|train| train.zip(rest.clone().next()));
        if let Ok(Some(_)) = &train {
            rest.next();
        }
        let asked = &plan.asked[way];
        let seen = ProbeArrivals::of(&probes.directions[way], asked);
        let mut found = vec![rate(asked, train, way)];
        found.push(Some(delay(asked, &seen, bound)));
        let source = sparse.map(|round| ProbeArrivals::of(&round.directions[way], asked));
        found.push(jitter(asked, source.as_ref().unwrap_or(&seen)));
        found.push(Some(loss(asked, &seen)));
        found.push(interruption(asked, &seen));
        found.extend(shares(asked, &seen));
        let overlooked: u64 = rounds.iter().map(|round| round.directions[way].overlooked).sum();
        if overlooked > 0 {
            let why = format!("{overlooked} arrivals were not looked at in time");
            found = found.into_iter().map(|row| row.map(|row| row.not_measured(&why))).collect();
        }
        let found = found.into_iter().flatten().chain(unmeasured::rows(&links[way]));
        rows.extend(found.map(|row| row.in_direction(direction)));
    }
    // A train keeps the bridge busy all the time, so the bound of the wait says nothing there.
    let quiet = 1 + usize::from(plan.sparse.is_some());
    rows.extend(world(&rounds[..quiet.min(rounds.len())], rounds, bound));
    rows
}

/// What the probes took for both ways, the medians; none where too few of them came through.
pub(super) fn round_trip(plan: &Plan, rounds: &[RoundRecord]) -> Option<Span> {
    let probes = rounds.first()?;
    let one_way = |(way, asked)| {
        let delays: Vec<f64> =
            ProbeArrivals::of(way, asked).delays().into_iter().map(|nanos| nanos as f64).collect();
        (delays.len() >= FEWEST as usize).then(|| tcplab_stats::median(&delays))?
    };
    let both: Option<Vec<f64>> = probes.directions.iter().zip(&plan.asked).map(one_way).collect();
    Some(Span::from_secs_f64(both?.iter().sum::<f64>().max(0.0) / 1e9))
}

/// The probes of one direction that say something, by number.
struct ProbeArrivals<'a> {
    way: &'a DirectionRecord,
    /// The first arrival of each.
    first: BTreeMap<u32, &'a Arrival>,
    /// How often each arrived.
    copies: BTreeMap<u32, u64>,
    /// Arrivals whose number is damaged.
    nameless: u64,
    /// Those that arrived out of order.
    out_of_order: Vec<u32>,
    /// Sent while the path was open, and not near the edge of an interruption.
    open: Vec<u32>,
}

impl<'a> ProbeArrivals<'a> {
    fn of(way: &'a DirectionRecord, asked: &Asked) -> ProbeArrivals<'a> {
        let (mut first, mut copies) = (BTreeMap::new(), BTreeMap::new());
        let (mut out_of_order, mut highest, mut nameless) = (Vec::new(), None, 0);
        for arrival in &way.arrivals {
            let Some(number) = arrival.number else {
                nameless += 1;
                continue;
            };
            *copies.entry(number).or_insert(0) += 1;
            if first.contains_key(&number) {
                continue;
            }
            first.insert(number, arrival);
            if highest.is_some_and(|highest| number < highest) {
                out_of_order.push(number);
            }
            highest = highest.max(Some(number));
        }
        let is_open = |sent: u64| {
            let edge = EDGE.as_nanos();
            !asked.blocked.iter().any(|(from, to)| {
                sent + edge >= from.as_nanos() && sent <= to.as_nanos().saturating_add(edge)
            })
        };
        let open = (0..).zip(&way.sent).filter(|(_, sent)| is_open(**sent)).map(|(n, _)| n);
        ProbeArrivals { way, first, copies, nameless, out_of_order, open: open.collect() }
    }

    /// How long each whole probe took that nothing held back, in nanoseconds.
    fn delays(&self) -> Vec<i64> {
        let whole = self
            .first
            .iter()
            .filter(|(number, arrival)| !arrival.damaged && !self.out_of_order.contains(number));
        whole
            .filter_map(|(number, arrival)| {
                let sent = self.way.sent.get(*number as usize)?;
                Some(arrival.at.cast_signed() - sent.cast_signed())
            })
            .collect()
    }

    /// How many of those sent while it was open arrived.
    fn arrived(&self) -> u64 {
        self.open.iter().filter(|number| self.first.contains_key(number)).count() as u64
    }
}

type Measured<'a> = Result<Option<(Train, &'a RoundRecord)>, &'a String>;

fn rate(asked: &Asked, train: Measured<'_>, way: usize) -> Option<CheckRow> {
    let rate = asked.rate();
    let text = rate.map_or("varying".into(), |rate| rate.to_string());
    let unknown = |why: &str| Some(CheckRow::unknown("rate", text.clone(), why));
    let (train, round) = match train {
        Ok(None) => return None,
        Ok(Some(measured)) => measured,
        Err(why) => return unknown(why),
    };
    let rate = rate?;
    if !kept_pace(&round.directions[way].sent, &train) {
        return unknown("the sender was too late too often to keep the bottleneck busy");
    }
    let Some(achieved) = slope(&round.directions[way], train.size) else {
        return unknown("too few packets of the train arrived");
    };
    let error = (achieved / rate.bits_per_second() as f64 - 1.0) * 100.0;
    Some(CheckRow::new(
        "rate",
        text,
        format!("{:.4} Mbit/s ({error:+.3} %)", achieved / 1e6),
        error.abs() * 10.0 <= RATE_PER_MILLE,
        format!("±{} %", RATE_PER_MILLE / 10.0),
    ))
}

/// Whether the backlog that a train starts with has, at three of four packets, covered what the
/// sender was late: the median of the slopes then has seen a busy bottleneck.
fn kept_pace(sent: &[u64], train: &Train) -> bool {
    let Some(first) = sent.first() else { return false };
    let backlog = (train.gap * u64::from(train.ahead)).as_nanos();
    let behind = |(number, at): (u64, &u64)| {
        let due = (train.gap * (number + 1).saturating_sub(u64::from(train.ahead))).as_nanos();
        (at - first).saturating_sub(due) > backlog
    };
    let late = (0..).zip(sent).filter(|pair| behind(*pair)).count();
    late * 4 <= sent.len()
}

/// The rate at which a train came out, in bits per second: the median over all pairs of arrivals
/// half a train apart (after Theil 1950), so that some that are late say nothing. Numbers count,
/// not arrivals: the bottleneck also sent what was lost behind it.
fn slope(way: &DirectionRecord, size: Bytes) -> Option<f64> {
    let mut arrivals: Vec<(u32, u64)> = way
        .arrivals
        .iter()
        .filter(|arrival| !arrival.damaged)
        .filter_map(|arrival| Some((arrival.number?, arrival.at)))
        .collect();
    arrivals.sort_unstable();
    arrivals.dedup_by_key(|(number, _)| *number);
    let half = arrivals.len() / 2;
    if (arrivals.len() as u64) < FEWEST / 2 {
        return None;
    }
    let slopes: Vec<f64> = arrivals
        .iter()
        .zip(&arrivals[half..])
        .filter(|((_, from), (_, to))| to > from)
        .map(|((first, from), (last, to))| {
            f64::from(last - first) * size.bits() as f64 / ((to - from) as f64 / 1e9)
        })
        .collect();
    tcplab_stats::median(&slopes)
}

fn delay(asked: &Asked, seen: &ProbeArrivals<'_>, bound: Span) -> CheckRow {
    let passage = asked.passage(Train::SMALLEST);
    if let Some(why) = asked.no_delay {
        return CheckRow::unknown("delay", "varying".into(), why);
    }
    let mut errors: Vec<i64> =
        seen.delays().iter().map(|delay| delay - passage.as_nanos().cast_signed()).collect();
    errors.sort_unstable();
    let asked = if asked.servers.is_empty() {
        passage.to_string()
    } else {
        format!("{passage} ({} and sending)", asked.delay)
    };
    if errors.len() < FEWEST as usize {
        let why = format!("{} probes came through in the time there was", errors.len());
        return CheckRow::unknown("delay", asked, why);
    }
    let (median, tail) = (at(&errors, 500), at(&errors, 990));
    let share = Span::from_nanos(passage.as_nanos() / 100 * MEDIAN_SHARE);
    let most = MEDIAN_BOUND.max(share);
    CheckRow::new(
        "delay",
        asked,
        format!("error p50 {} µs, p99 {} µs", micros(median), micros(tail)),
        median.unsigned_abs() <= most.as_nanos() && tail.unsigned_abs() <= bound.as_nanos(),
        format!("|p50| ≤ {}, p99 ≤ {}", brief(most), brief(bound)),
    )
}

fn jitter(asked: &Asked, seen: &ProbeArrivals<'_>) -> Option<CheckRow> {
    let plan = asked.jitter.as_ref()?;
    let text = match plan.jitter.as_ref().map(|jitter| &jitter.law) {
        Some(JitterLaw::Uniform(most)) => format!("uniform, ± {most}"),
        Some(JitterLaw::Normal(deviation)) => format!("normal, σ = {deviation}"),
        Some(JitterLaw::Pareto(scale)) => format!("Pareto, scale {scale}"),
        Some(JitterLaw::ParetoNormal(scale)) => format!("Pareto-normal, scale {scale}"),
        Some(JitterLaw::Table(table)) => format!("table {}, scale {}", table.name, table.scale),
        None => "none".into(),
    };
    let unknown = |why: String| Some(CheckRow::unknown("jitter", text.clone(), why));
    if let Some(why) = asked.no_jitter {
        return unknown(why.into());
    }
    if !asked.reorderings.is_empty() {
        return unknown("packets are held back besides".into());
    }
    // Overtaking is part of the law here.
    let rest = asked.passage(Train::SMALLEST).as_nanos() as f64;
    let delays: Vec<f64> = seen
        .first
        .iter()
        .filter(|(_, arrival)| !arrival.damaged)
        .filter_map(|(number, arrival)| {
            Some(arrival.at as f64 - *seen.way.sent.get(*number as usize)? as f64 - rest)
        })
        .collect();
    if delays.len() < FEWEST_SAMPLES {
        return unknown(format!(
            "{} probes came through; {FEWEST_SAMPLES} are needed, as far apart as delays differ",
            delays.len()
        ));
    }
    // Where the law has delays of zero, this machine makes them a little more: what is shorter than
    // it can tell counts as one.
    let least = if plan.cdf(Span::ZERO) > 0.0 { MEDIAN_BOUND } else { Span::ZERO };
    let delays: Vec<f64> =
        delays.into_iter().map(|delay| delay.max(least.as_nanos() as f64)).collect();
    let law = |delay| if delay < least { 0.0 } else { plan.cdf(delay) };
    Some(law_row("jitter", text, &delays, law))
}

/// A sample of delays, in nanoseconds, against their law.
pub(super) fn law_row(
    quantity: &str,
    asked: String,
    delays: &[f64],
    law: impl Fn(Span) -> f64,
) -> CheckRow {
    let up_to = |nanos: f64| if nanos < 0.0 { 0.0 } else { law(Span::from_nanos(nanos as u64)) };
    let Some(test) = KolmogorovSmirnov::of(delays, up_to, |nanos| up_to(nanos - 1.0)) else {
        return CheckRow::unknown(quantity, asked, NOTHING);
    };
    let agrees = test.p >= LEAST_P;
    CheckRow::new(
        quantity,
        asked,
        format!(
            "{}: KS D = {:.4}, p = {:.3} (n = {})",
            if agrees { "agrees" } else { "differs" },
            test.statistic,
            test.p,
            delays.len()
        ),
        agrees,
        format!("p ≥ {LEAST_P:.3}"),
    )
}

fn loss(asked: &Asked, seen: &ProbeArrivals<'_>) -> CheckRow {
    let share = loss_law::share(&asked.losses);
    let text = per_cent(share);
    // What is missing does not say who lost it; in virtual time the verdicts do.
    if let Some(why) = asked.no_loss.or(asked.hidden_loss).or(asked.no_edges) {
        return CheckRow::unknown("loss", text, why);
    }
    if asked.loses_copies {
        return CheckRow::unknown("loss", text, "copies arrive of packets that are lost");
    }
    let sent = seen.open.len() as u64;
    if sent < FEWEST {
        let why = format!("{sent} probes were sent while the path was open");
        return CheckRow::unknown("loss", text, why);
    }
    // A packet without its number still counts as arrived.
    let lost = (sent - seen.arrived()).saturating_sub(seen.nameless);
    match loss_law::range(&asked.losses, sent) {
        Ok(range) => counted("loss", text, lost, sent, range),
        Err(why) => CheckRow::unknown("loss", text, why),
    }
}

/// A number of events against the range of those that were to be expected.
pub(super) fn counted(
    quantity: &str,
    asked: String,
    count: u64,
    of: u64,
    (low, high): (u64, u64),
) -> CheckRow {
    if of == 0 {
        return CheckRow::unknown(quantity, asked, NOTHING);
    }
    let share = count as f64 / of.max(1) as f64;
    CheckRow::new(
        quantity,
        asked,
        format!("{} ({count} of {of})", per_cent(share)),
        (low..=high).contains(&count),
        format!("{low} to {high} expected at {} %", CONFIDENCE * 100.0),
    )
}

fn shares(asked: &Asked, seen: &ProbeArrivals<'_>) -> Vec<Option<CheckRow>> {
    let either = |ps: &mut dyn Iterator<Item = f64>| 1.0 - ps.map(|p| 1.0 - p).product::<f64>();
    let arrived = seen.first.len() as u64;
    let row = |name, p: f64, count| {
        let range = binomial_range(arrived, p, CONFIDENCE);
        Some(counted(name, per_cent(p), count, arrived, range))
    };
    let mut rows = Vec::new();
    if !asked.duplications.is_empty() {
        let p = either(&mut asked.duplications.iter().map(|plan| plan.probability.as_f64()));
        let count = seen.copies.values().filter(|copies| **copies > 1).count() as u64;
        rows.push(match asked.no_copies {
            Some(why) => Some(CheckRow::unknown("duplication", per_cent(p), why)),
            None => row("duplication", p, count),
        });
    }
    let damaged = seen.first.values().filter(|arrival| arrival.damaged).count() as u64;
    let damaged = damaged + seen.nameless;
    if !asked.corruptions.is_empty() || damaged > 0 {
        let p = either(&mut asked.corruptions.iter().map(|plan| plan.probability.as_f64()));
        rows.push(row("corruption", p, damaged));
    }
    if !asked.marks.is_empty() {
        let p = either(&mut asked.marks.iter().map(|plan| plan.probability.as_f64()));
        let count = seen.first.values().filter(|arrival| arrival.marked).count() as u64;
        rows.push(row("marking", p, count));
    }
    if !asked.reorderings.is_empty() {
        rows.push(Some(reordering(asked, seen)));
    }
    rows
}

fn reordering(asked: &Asked, seen: &ProbeArrivals<'_>) -> CheckRow {
    let [plan] = asked.reorderings[..] else {
        return CheckRow::unknown("reordering", "several".into(), "several hold packets back");
    };
    let p = match plan.held_back {
        HeldBack::Random(probability) => probability.as_f64(),
        HeldBack::Every(n) => 1.0 / n as f64,
    };
    if let Some(why) = asked.no_reordering {
        return CheckRow::unknown("reordering", per_cent(p), why);
    }
    if asked.jitter.as_ref().is_some_and(tcplab_path::DelayPlan::reorders) {
        return CheckRow::unknown(
            "reordering",
            per_cent(p),
            "jitter lets packets overtake besides",
        );
    }
    let gap = match (seen.way.sent.first(), seen.way.sent.last(), seen.way.sent.len()) {
        (Some(first), Some(last), count) if count > 1 => (last - first) / (count as u64 - 1),
        _ => u64::MAX,
    };
    if plan.at_most.as_nanos() < gap.saturating_mul(u64::from(plan.gap.unwrap_or(1)) + 2) {
        let why =
            format!("probes come {} apart, too far to overtake", brief(Span::from_nanos(gap)));
        return CheckRow::unknown("reordering", per_cent(p), why);
    }
    let (arrived, out_of_order) = (seen.first.len() as u64, seen.out_of_order.len() as u64);
    let range = match plan.held_back {
        // No packet follows the last ones.
        HeldBack::Random(_) => {
            let (low, high) = binomial_range(arrived, p, CONFIDENCE);
            (low.saturating_sub(1), high)
        }
        HeldBack::Every(n) => ((arrived / n).saturating_sub(2), arrived / n + 2),
    };
    counted("reordering", per_cent(p), out_of_order, arrived, range)
}

/// How far the edges of the interruptions are from where they should be, at the worst.
fn interruption(asked: &Asked, seen: &ProbeArrivals<'_>) -> Option<CheckRow> {
    let (next, _) = asked.blocked.first()?;
    if let Some(why) = asked.no_edges {
        return Some(CheckRow::unknown("interruption", "at its times".into(), why));
    }
    let sent = &seen.way.sent;
    let (first, last) = (*sent.first()?, *sent.last()?);
    let in_sight = |(from, to): &&(tcplab_units::Instant, tcplab_units::Instant)| {
        from.as_nanos() > first + EDGE.as_nanos()
            && to.as_nanos().saturating_add(EDGE.as_nanos()) < last
    };
    let windows: Vec<_> = asked.blocked.iter().filter(in_sight).collect();
    let text = format!("{} in sight", windows.len());
    if windows.is_empty() {
        let ended = Span::from_nanos(last);
        let starts = next.since(tcplab_units::Instant::ZERO);
        let why = format!(
            "the first is at {}, the last probe was sent at {}",
            brief(starts),
            brief(ended)
        );
        return Some(CheckRow::unknown("interruption", "at its times".into(), why));
    }
    let got = |index: usize| seen.first.contains_key(&(index as u32));
    let shortest = windows.iter().map(|(from, to)| to.since(*from)).min().unwrap_or_default();
    let (mut at_start, mut at_end, mut leaked): (i64, i64, u64) = (0, 0, 0);
    let mut gap = 0;
    for (from, to) in windows {
        let (from, to) = (from.as_nanos(), to.as_nanos());
        let middle = sent.partition_point(|at| *at < from.midpoint(to));
        let before = (0..middle).rev().find(|index| got(*index));
        let after = (middle..sent.len()).find(|index| got(*index));
        let (Some(before), Some(after)) = (before, after) else { continue };
        at_start = farther(at_start, outside(from, sent[before], sent[before + 1]));
        at_end = farther(at_end, outside(to, sent[after - 1], sent[after]));
        gap = gap.max(sent[before + 1] - sent[before]);
        let deep = |at: u64| at > from + EDGE.as_nanos() && at + EDGE.as_nanos() < to;
        leaked += (0..sent.len()).filter(|index| deep(sent[*index]) && got(*index)).count() as u64;
    }
    // Those beside it may be lost by chance.
    let hidden = Span::from_nanos((gap as f64 * loss_law::longest_run(&asked.losses)) as u64);
    if hidden > Span::from_nanos(shortest.as_nanos() / 4) && leaked == 0 {
        let why = format!("losses in a row may hide its edges for {}", brief(hidden));
        return Some(CheckRow::unknown("interruption", text, why));
    }
    let bound = Span::from_millis(1) + hidden;
    let worst = at_start.unsigned_abs().max(at_end.unsigned_abs());
    Some(CheckRow::new(
        "interruption",
        text,
        format!(
            "start {} µs, end {} µs off at most; {leaked} packets passed in between",
            micros(at_start),
            micros(at_end)
        ),
        worst <= bound.as_nanos() && leaked == 0,
        format!(
            "±{} beyond the {} between probes, nothing passes",
            brief(bound),
            brief(Span::from_nanos(gap))
        ),
    ))
}

/// How far `edge` lies before (below zero) or behind the time from `from` to `to`.
fn outside(edge: u64, from: u64, to: u64) -> i64 {
    if edge < from {
        (from - edge).cast_signed()
    } else if edge > to {
        -(edge - to).cast_signed()
    } else {
        0
    }
}

fn farther(one: i64, other: i64) -> i64 {
    if other.unsigned_abs() > one.unsigned_abs() { other } else { one }
}

/// How the bridge fared while probes were sent, and what was lost in all rounds.
fn world(quiet: &[RoundRecord], rounds: &[RoundRecord], bound: Span) -> Vec<CheckRow> {
    let worst = |of: fn(&RoundRecord) -> Span| quiet.iter().map(of).max().unwrap_or_default();
    let (late, waited) = (worst(|r| r.lateness.p99), worst(|r| r.ring_wait.p99));
    let drops: u64 = rounds.iter().map(|round| round.device_drops).sum();
    let time = |span: Span| format!("p99 {} µs", micros(span.as_nanos().cast_signed()));
    let none = || "none".to_owned();
    let most = || format!("p99 ≤ {bound}");
    let mut ways = quiet.iter().flat_map(|round| &round.directions);
    let lateness = if ways.any(|way| !way.arrivals.is_empty()) {
        CheckRow::new("lateness", none(), time(late), late <= bound, most())
    } else {
        CheckRow::unknown("lateness", none(), NOTHING)
    };
    vec![
        lateness,
        CheckRow::new("ring wait", none(), time(waited), waited <= bound, most()),
        CheckRow::new("drops outside", none(), drops.to_string(), drops == 0, none()),
    ]
}

/// A time as a reader wants it: to a tenth of its unit.
pub(super) fn brief(span: Span) -> String {
    match span.as_nanos() {
        nanos if nanos < 1_000_000 => format!("{:.0} µs", nanos as f64 / 1e3),
        nanos if nanos < 1_000_000_000 => format!("{:.1} ms", nanos as f64 / 1e6),
        nanos => format!("{:.2} s", nanos as f64 / 1e9),
    }
}

/// A share as people write it.
pub(super) fn per_cent(share: f64) -> String {
    let text = format!("{:.3}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
