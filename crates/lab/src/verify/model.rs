//! The same link in virtual time, against the laws of its description: a million packets prove the
//! model, as the probes in real time prove the machine.

use tcplab_path::{
    Cause, DelayPlan, DelaySpec, Direction, ElementPlan, Fate, HeldBack, Link, LinkPlan, LossPlan,
    Packet, PathError, PathSpec, ServerPlan, Verdict,
};
use tcplab_results::verification::CheckRow;
use tcplab_stats::binomial_range;
use tcplab_units::{Bytes, Instant, Span};

use super::achieved::{NOTHING, counted, law_row, per_cent};
use super::asked::{Asked, back, transmission};
use super::loss_law::{self, CONFIDENCE};
use super::unmeasured;

/// Full-sized, but a link that reads packets is given small ones: what it does to them does not
/// depend on it.
const SIZE: Bytes = Bytes::new(1500);
/// The most packets of cross traffic: a million packets over a slow link meet any number. With
/// more, fewer packets are sent,
const MOST_CROSSING: f64 = 1e6;
/// or none, if they would be fewer than this.
const FEWEST_PACKETS: u64 = 100;
/// The most interruptions of an element: a million packets over a slow link take years.
const MOST_WINDOWS: usize = 1_000_000;
/// See above; enough for IPv4 and UDP with something in it.
const SMALL: usize = 64;

/// Sends up to so many `packets` through both directions of a path in virtual time and holds what
/// became of them against the path's description.
///
/// # Errors
/// When the path is impossible.
pub fn check_model(path: &PathSpec, seed: u64, packets: u64) -> Result<Vec<CheckRow>, PathError> {
    let mut rows = Vec::new();
    for direction in Direction::BOTH {
        let plan = path.link(direction)?;
        let found = of_link(&plan, seed, direction, packets);
        rows.extend(found.into_iter().map(|row| row.in_direction(direction)));
    }
    Ok(rows)
}

/// What is counted of the verdicts.
#[derive(Default)]
struct Tally {
    sent: u64,
    delivered: u64,
    lost: u64,
    interrupted: u64,
    /// Of those that the interruptions should have.
    to_interrupt: u64,
    copied: u64,
    corrupted: u64,
    marked: u64,
    other: u64,
    out_of_order: u64,
    latest: u64,
    /// The time on the link but that at the bottleneck, in nanoseconds.
    delays: Vec<u64>,
    first: Option<Instant>,
    last: Instant,
}

fn of_link(plan: &LinkPlan, seed: u64, direction: Direction, packets: u64) -> Vec<CheckRow> {
    let reads = plan.reads_packets();
    let size = if reads { Bytes::from(SMALL) } else { SIZE };
    // Interruptions are judged by when a packet reaches them.
    let asked = Asked::of(plan, Bytes::ZERO, Instant::ZERO, seed);
    let gap = spacing(&asked, size);
    let others = plan.cross_packets(Instant::ZERO + gap * packets);
    let packets = (packets as f64 * (MOST_CROSSING / others).min(1.0)) as u64;
    if packets < FEWEST_PACKETS {
        let why = "cross traffic is many times as fast as the bottleneck";
        return vec![CheckRow::unknown("path", "as described".into(), why)];
    }
    let far = Instant::ZERO + gap * packets + Span::from_secs(3600);
    let windows = Windows::of(plan, far, seed);
    let mut link = Link::new(plan, seed, direction);
    let tally = run(&mut link, &windows, packets, gap, reads);
    let mut rows = Vec::new();
    rows.extend(rate(&asked, &tally, size));
    if let (Some(_), Some(why)) = (&asked.jitter, asked.no_delay) {
        rows.push(CheckRow::unknown("delay", "varying".into(), why));
    }
    rows.push(delay_or_jitter(&asked, &tally));
    rows.push(loss(&asked, &tally));
    rows.extend(interruption(&windows, &tally));
    rows.extend(shares(&asked, &tally));
    rows.extend(unmeasured::rows(plan));
    rows.push(CheckRow::new(
        "conservation",
        format!("{packets} packets"),
        format!(
            "{} delivered, {} lost, {} interrupted, {} dropped otherwise",
            tally.delivered, tally.lost, tally.interrupted, tally.other
        ),
        tally.sent == packets
            && tally.delivered + tally.lost + tally.interrupted + tally.other == packets,
        "each has one verdict".into(),
    ));
    rows
}

/// Packets come just as fast as the slowest transmitter sends them, a wireless one with some room.
fn spacing(asked: &Asked, size: Bytes) -> Span {
    let busy = asked.narrowest().map_or(Span::from_micros(100), |rate| transmission(rate, size));
    busy.max(asked.turn).max(Span::from_nanos(1))
}

/// What becomes of so many packets; those of the size alone, where the link reads none.
fn run(link: &mut Link, windows: &Windows, packets: u64, gap: Span, reads: bool) -> Tally {
    let mut tally = Tally::default();
    let packet = |id| if reads { Packet::new(id, datagram()) } else { Packet::of_size(id, SIZE) };
    for id in 0..packets {
        let now = Instant::ZERO + gap * id;
        link.handle_packet(now, packet(id));
        while let Some(departure) = link.poll(now) {
            tally.count(&departure.verdict, windows);
        }
    }
    while let Some(at) = link.poll_at() {
        while let Some(departure) = link.poll(at) {
            tally.count(&departure.verdict, windows);
        }
        // Cross traffic never ends.
        if tally.sent >= packets {
            break;
        }
    }
    tally
}

/// An IPv4 packet with UDP that allows marks (ECT(0), RFC 3168) and has something to damage.
fn datagram() -> Vec<u8> {
    let mut bytes = vec![0; SMALL];
    bytes[..10].copy_from_slice(&[0x45, 2, 0, SMALL as u8, 0, 0, 0x40, 0, 64, 17]);
    bytes[24..26].copy_from_slice(&(SMALL as u16 - 20).to_be_bytes());
    bytes
}

/// The times at which nothing passes.
#[derive(Default)]
struct Windows {
    /// By when a packet enters the link.
    at_entry: Sorted,
    /// By when the only bottleneck has sent it.
    on_line: Sorted,
    /// Why verdicts do not tell when a packet reaches one.
    unknown: Option<&'static str>,
}

/// Times in order, which may overlap.
#[derive(Default)]
struct Sorted(Vec<(Instant, Instant)>);

impl Windows {
    fn of(plan: &LinkPlan, until: Instant, seed: u64) -> Windows {
        let mut found = Windows::default();
        let is_bottleneck = |it: &&ElementPlan| matches!(it, ElementPlan::Bottleneck(_));
        let bottlenecks = plan.elements.iter().filter(is_bottleneck).count();
        // How long after it enters, or was sent, a packet reaches an element.
        let (mut after, mut is_sent) = (Ok(Span::ZERO), false);
        for element in &plan.elements {
            let times: Vec<(Instant, Instant)> = match element {
                ElementPlan::Bottleneck(plan) => {
                    is_sent = true;
                    after = match &plan.server {
                        _ if bottlenecks > 1 => {
                            Err("verdicts tell only when the last bottleneck sent a packet")
                        }
                        ServerPlan::Wifi(wifi) if wifi.aggregate > 1 => {
                            Err("packets wait for those of their frame that are sent again")
                        }
                        _ => Ok(Span::ZERO),
                    };
                    continue;
                }
                ElementPlan::Delay(DelayPlan {
                    delay: DelaySpec::Constant(delay),
                    jitter: None,
                }) => {
                    after = after.map(|after| after + *delay);
                    continue;
                }
                ElementPlan::PortDelay(_) | ElementPlan::Delay(_) | ElementPlan::Reordering(_) => {
                    after = Err("packets reach it after delays that differ");
                    continue;
                }
                ElementPlan::Interruption(plan) => {
                    let mut all = plan.windows(until, seed);
                    let first: Vec<_> = all.by_ref().take(MOST_WINDOWS).collect();
                    if all.next().is_some() {
                        after = Err("there are too many of them");
                    }
                    first
                }
                ElementPlan::Blackhole(plan) => {
                    let end = plan.until.map_or(Instant::MAX, |until| Instant::ZERO + until);
                    vec![(Instant::ZERO + plan.from, end)]
                }
                _ => continue,
            };
            match after {
                Ok(after) => {
                    let own = if is_sent { &mut found.on_line } else { &mut found.at_entry };
                    own.0.extend(
                        times.iter().map(|(from, to)| (back(*from, after), back(*to, after))),
                    );
                }
                Err(why) => found.unknown = Some(why),
            }
        }
        found.at_entry.0.sort_unstable();
        found.on_line.0.sort_unstable();
        found
    }

    fn hold(&self, verdict: &Verdict) -> bool {
        self.at_entry.hold(verdict.entered)
            || verdict.transmission.is_some_and(|sent| self.on_line.hold(sent.ended))
    }
}

impl Sorted {
    fn hold(&self, at: Instant) -> bool {
        let after = self.0.partition_point(|(from, _)| *from <= at);
        // Windows of several interruptions may overlap.
        self.0[..after].iter().rev().take(8).any(|(_, to)| at < *to)
    }
}

impl Tally {
    fn count(&mut self, verdict: &Verdict, windows: &Windows) {
        if verdict.is_made() {
            self.copied += u64::from(verdict.origin.is_some() && verdict.fate == Fate::Delivered);
            return;
        }
        self.sent += 1;
        // Where there are several bottlenecks, this is of no use, and nobody uses it.
        let at_bottleneck =
            verdict.transmission.map_or(Span::ZERO, |sent| sent.ended.since(sent.queued));
        if let Some(transmission) = verdict.transmission {
            let first = self.first.get_or_insert(transmission.began);
            *first = transmission.began.min(*first);
            self.last = self.last.max(transmission.ended);
        }
        match verdict.fate {
            Fate::Delivered => {
                self.delivered += 1;
                self.marked += u64::from(verdict.marked);
                self.corrupted += u64::from(verdict.corrupted.is_some());
                self.out_of_order += u64::from(self.delivered > 1 && verdict.id < self.latest);
                self.latest = self.latest.max(verdict.id);
                let time = verdict.time_on_link().as_nanos();
                self.delays.push(time.saturating_sub(at_bottleneck.as_nanos()));
            }
            Fate::Dropped(Cause::Loss) => {
                // Perhaps it did not come as far as an interruption.
                self.lost += 1;
                return;
            }
            Fate::Dropped(Cause::Interruption { .. } | Cause::Blackhole) => self.interrupted += 1,
            _ => {
                self.other += 1;
                return;
            }
        }
        self.to_interrupt += u64::from(windows.hold(verdict));
    }
}

fn interruption(windows: &Windows, tally: &Tally) -> Option<CheckRow> {
    if let Some(why) = windows.unknown {
        return Some(CheckRow::unknown("interruption", "at its times".into(), why));
    }
    (tally.to_interrupt + tally.interrupted > 0).then(|| {
        CheckRow::new(
            "interruption",
            format!("{} packets in its times", tally.to_interrupt),
            format!("{} dropped", tally.interrupted),
            tally.interrupted == tally.to_interrupt,
            "the same packets".into(),
        )
    })
}

fn rate(asked: &Asked, tally: &Tally, size: Bytes) -> Option<CheckRow> {
    let [rate] = asked.servers[..] else {
        return (asked.no_rate.is_some() || !asked.servers.is_empty()).then(|| {
            let why = asked.no_rate.unwrap_or("several transmitters follow one another");
            CheckRow::unknown("rate", "varying".into(), why)
        });
    };
    if let Some(why) = asked.no_rate {
        return Some(CheckRow::unknown("rate", rate.to_string(), why));
    }
    if tally.other > 0 {
        let why = "packets were dropped in front of the bottleneck";
        return Some(CheckRow::unknown("rate", rate.to_string(), why));
    }
    let (first, all) = (tally.first?, Bytes::new(size.as_u64() * tally.sent));
    let (took, should) = (tally.last.since(first), transmission(rate, all));
    // Packets come at whole nanoseconds, so each may find the transmitter idle for less than one.
    let slack = Span::from_nanos(tally.sent);
    Some(CheckRow::new(
        "rate",
        rate.to_string(),
        format!("{} packets in {took}", tally.sent),
        took >= should && took <= should + slack,
        format!("{should}, and at most 1 ns for each packet"),
    ))
}

fn delay_or_jitter(asked: &Asked, tally: &Tally) -> CheckRow {
    let several = (asked.servers.len() > 1).then_some("several transmitters follow one another");
    if let Some(plan) = &asked.jitter {
        let text = "its law".to_owned();
        if let Some(why) = asked.no_jitter.or(several) {
            return CheckRow::unknown("jitter", text, why);
        }
        if !asked.reorderings.is_empty() {
            return CheckRow::unknown("jitter", text, "packets are held back besides");
        }
        if !plan.reorders() {
            let why = "back to back, packets wait for those before them; \
                       the law is tested with packets far apart, in real time";
            return CheckRow::unknown("jitter", text, why);
        }
        let rest = asked.delay.as_nanos() as f64;
        let delays: Vec<f64> = tally.delays.iter().map(|delay| *delay as f64 - rest).collect();
        return law_row("jitter", text, &delays, |delay| plan.cdf(delay));
    }
    let text = asked.delay.to_string();
    if let Some(why) = asked.no_delay.or(several) {
        return CheckRow::unknown("delay", text, why);
    }
    if tally.delivered == 0 {
        return CheckRow::unknown("delay", text, NOTHING);
    }
    let exact = asked.delay.as_nanos();
    let differing = tally.delays.iter().filter(|delay| **delay != exact).count() as u64;
    // Only held packets arrive later.
    if !asked.reorderings.is_empty() {
        let early = tally.delays.iter().filter(|delay| **delay < exact).count();
        let achieved = format!("{early} packets earlier, {differing} held back");
        return CheckRow::new("delay", text, achieved, early == 0, "none earlier".into());
    }
    CheckRow::new(
        "delay",
        text,
        format!("{differing} of {} packets otherwise", tally.delivered),
        differing == 0,
        "exactly".into(),
    )
}

fn loss(asked: &Asked, tally: &Tally) -> CheckRow {
    let text = per_cent(loss_law::share(&asked.losses));
    if let Some(why) = asked.no_loss {
        return CheckRow::unknown("loss", text, why);
    }
    let is_independent = asked.losses.iter().all(|law| matches!(law, LossPlan::Independent(_)));
    if asked.loses_copies && !is_independent {
        return CheckRow::unknown("loss", text, "copies count, too, for which packet is lost");
    }
    if asked.drops_behind_loss && tally.interrupted + tally.other > 0 {
        let why = "packets are dropped behind the loss, and some before it";
        return CheckRow::unknown("loss", text, why);
    }
    let reached = tally.sent - tally.interrupted - tally.other;
    match loss_law::range(&asked.losses, reached) {
        Ok(range) => counted("loss", text, tally.lost, reached, range),
        Err(why) => CheckRow::unknown("loss", text, why),
    }
}

fn shares(asked: &Asked, tally: &Tally) -> Vec<CheckRow> {
    let row = |name, p: f64, count, unknown: Option<&str>| {
        let range = binomial_range(tally.delivered, p, CONFIDENCE);
        match unknown {
            Some(why) => CheckRow::unknown(name, per_cent(p), why),
            None => counted(name, per_cent(p), count, tally.delivered, range),
        }
    };
    let mut rows = Vec::new();
    if let [plan] = asked.duplications[..] {
        let copied = tally.copied / u64::from(plan.copies.max(1));
        rows.push(row("duplication", plan.probability.as_f64(), copied, asked.no_copies));
    }
    if let [plan] = asked.corruptions[..] {
        rows.push(row("corruption", plan.probability.as_f64(), tally.corrupted, None));
    }
    if let [plan] = &asked.marks[..] {
        rows.push(row("marking", plan.probability.as_f64(), tally.marked, None));
    }
    if let [plan] = asked.reorderings[..]
        && asked.jitter.is_none()
        && let HeldBack::Random(probability) = plan.held_back
    {
        let count = tally.out_of_order;
        rows.push(row("reordering", probability.as_f64(), count, asked.no_reordering));
    }
    rows
}
