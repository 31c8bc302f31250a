//! What a link will do over time, as far as plan and seed determine it: for pictures.

use tcplab_units::{Instant, Rate, Span};

use crate::elements::{CrossFlow, DelayPlan, DelaySpec, InterruptionTimes};
use crate::queue::Standing;
use crate::{ElementPlan, InterruptionPlan, LinkPlan, LossPlan, QueuePlan, Schedule, ServerPlan};

/// What a link will do.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// It is looked at from the world's zero until then.
    pub until: Instant,
    /// What holds from when on, in order; the first at zero.
    pub moments: Vec<Moment>,
    /// What the wait in [`Moment::queue`] is.
    pub wait: Wait,
    /// [`Moment::loss`] in the mean over time until then.
    pub loss: f64,
    /// Whether rules or events drop packets besides.
    pub has_rules: bool,
    /// When everything is lost, in order and apart.
    pub outages: Vec<Outage>,
    /// Until when they are complete, where there are more than [`LinkPlan::MOST_OUTAGES`].
    pub outages_until: Option<Instant>,
    /// What the numbers do not show, a sentence each.
    pub notes: Vec<String>,
}

/// What waits are shown of queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Those of full queues.
    Full,
    /// Those that disciplines steer to (CoDel, FQ-CoDel, PIE).
    Target,
    /// Those of some full queues, and the targets of others.
    Both,
}

/// What a link does from an instant until the next that is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// From when on.
    pub at: Instant,
    /// What can be sent in the mean over this time: the least that any bottleneck or policer lets
    /// through, in bits of IP packets. Of a trace that of full packets in the bin of
    /// [`LinkPlan::TRACE_BIN`] or more that it lies in; of a wireless link that of full packets,
    /// with errors and beside the other stations. None: nothing limits it.
    pub rate: Option<Rate>,
    /// What cross traffic leaves of it to one flow, where there is any: its mean in the long run
    /// taken off, not below zero; where flows take turns (FQ-CoDel), not below its fair share.
    pub left: Option<Rate>,
    /// How long a packet takes that neither waits nor needs time to be sent: the mean of the delay
    /// over this time, without jitter.
    pub delay: Span,
    /// The same with as little jitter as one packet in a hundred meets, or with none. Where several
    /// delays have jitter, their quantiles are added, which are further apart than those of the
    /// sum of most laws.
    pub least: Span,
    /// The same with as much jitter as one packet in a hundred exceeds.
    pub most: Span,
    /// How much longer it takes for a packet that joins full queues now and waits there until all
    /// of their content has been sent, of which packets are 1500 B. None: there is no queue.
    pub queue: Option<Span>,
    /// The share of packets that is lost at random in the long run, from 0 to 1: by the loss
    /// models, and on a wireless link by exhausted retries. Drop rules are not included.
    pub loss: f64,
}

/// A time in which everything is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// Its beginning.
    pub from: Instant,
    /// Its end.
    pub until: Instant,
}

/// The quantiles between which jitter is shown.
const QUANTILES: [f64; 2] = [0.01, 0.99];

impl LinkPlan {
    /// Opportunities of a trace are counted over at least so long: over less, their number jumps
    /// between a few and none.
    pub const TRACE_BIN: Span = Span::from_millis(100);

    /// An outlook has so many interruptions of an element, the first: a picture cannot show more.
    pub const MOST_OUTAGES: usize = 100_000;

    /// What it will do in a trial with this `seed` until then. What changes evenly has about
    /// so many `points`; jumps have their exact instants, unless there are more.
    ///
    /// # Panics
    /// When there are no points.
    pub fn outlook(&self, until: Instant, seed: u64, points: usize) -> Outlook {
        assert!(points > 0, "an outlook has points");
        let moments = LinkView { plan: self, until, points: points as u64 }.moments();
        let (outages, outages_until) = self.outages(until, seed);
        let cut = outages_until.map(|end| {
            let end = end.since(Instant::ZERO);
            format!("Interruptions are shown until {end}, and there are more later.")
        });
        Outlook {
            until,
            wait: self.wait(),
            loss: mean_loss(&moments, until),
            has_rules: self
                .elements
                .iter()
                .any(|element| matches!(element, ElementPlan::Drop(_) | ElementPlan::DropNext(_))),
            outages,
            outages_until,
            notes: self.elements.iter().filter_map(note).chain(cut).collect(),
            moments,
        }
    }

    fn wait(&self) -> Wait {
        let is_target = |queue| matches!(queue, Standing::Target(_));
        let managed = self.queues().filter(|(_, queue)| is_target(*queue)).count();
        match (managed, self.queues().count() - managed) {
            (0, _) => Wait::Full,
            (_, 0) => Wait::Target,
            _ => Wait::Both,
        }
    }

    /// For how long to look at it to see all that happens once, and two rounds of all that repeats.
    /// Zero: nothing changes.
    pub fn time_to_show(&self) -> Span {
        self.elements.iter().map(time_to_show).max().unwrap_or(Span::ZERO)
    }

    /// How many packets of cross traffic come to it until then, in the mean.
    pub fn cross_packets(&self, until: Instant) -> f64 {
        let packets = self.elements.iter().map(|element| match element {
            ElementPlan::CrossTraffic(flow) => {
                let rate = mean_of(flow, Instant::ZERO, until) as f64;
                rate * until.since(Instant::ZERO).as_secs_f64() / flow.size.bits() as f64
            }
            _ => 0.0,
        });
        packets.sum()
    }

    /// The share of packets that is lost at random.
    fn loss(&self, at: Instant) -> f64 {
        1.0 - self.elements.iter().map(|element| 1.0 - loss(element, at)).product::<f64>()
    }

    fn queues(&self) -> impl Iterator<Item = (&ServerPlan, Standing)> {
        self.elements.iter().filter_map(|element| match element {
            ElementPlan::Bottleneck(plan) => Some((&plan.server, plan.queue.standing())),
            _ => None,
        })
    }

    fn delays(&self) -> impl Iterator<Item = &DelayPlan> {
        self.elements.iter().filter_map(|element| match element {
            ElementPlan::Delay(plan) => Some(plan),
            _ => None,
        })
    }

    /// With the time until which they are complete, if that is before `until`.
    fn outages(&self, until: Instant, seed: u64) -> (Vec<Outage>, Option<Instant>) {
        let mut windows: Vec<(Instant, Instant)> = Vec::new();
        let mut complete: Option<Instant> = None;
        for element in &self.elements {
            match element {
                ElementPlan::Interruption(plan) => {
                    let mut all = plan.windows(until, seed);
                    windows.extend(all.by_ref().take(LinkPlan::MOST_OUTAGES));
                    complete = Instant::earlier(complete, all.next().map(|(from, _)| from));
                }
                ElementPlan::Blackhole(plan) => {
                    let end = plan.until.map_or(Instant::MAX, |end| Instant::ZERO + end);
                    windows.push((Instant::ZERO + plan.from, end));
                }
                _ => {}
            }
        }
        windows.retain(|(from, _)| *from < complete.unwrap_or(until));
        windows.sort_unstable();
        let mut outages: Vec<Outage> = Vec::new();
        for (from, end) in windows {
            let end = end.min(until);
            match outages.last_mut() {
                Some(last) if from <= last.until => last.until = last.until.max(end),
                _ => outages.push(Outage { from, until: end }),
            }
        }
        (outages, complete)
    }
}

/// A link looked at for a time.
struct LinkView<'a> {
    plan: &'a LinkPlan,
    until: Instant,
    points: u64,
}

impl LinkView<'_> {
    fn moments(&self) -> Vec<Moment> {
        let edges = self.edges();
        let ends = edges[1..].iter().copied().chain([self.until]);
        let mut moments: Vec<Moment> = Vec::new();
        for (at, until) in edges.iter().copied().zip(ends) {
            let moment = self.moment(at, until);
            let is_new = moments.last().is_none_or(|last| Moment { at, ..*last } != moment);
            if is_new {
                moments.push(moment);
            }
        }
        moments
    }

    fn moment(&self, at: Instant, until: Instant) -> Moment {
        let (rate, left) = self.rates(at, until);
        let (mut delay, mut least, mut most) = (Span::ZERO, Span::ZERO, Span::ZERO);
        for plan in self.plan.delays() {
            let mean = match &plan.delay {
                DelaySpec::Constant(delay) => *delay,
                DelaySpec::Schedule(schedule) => schedule.mean(at, until),
            };
            let [low, high] = QUANTILES.map(|u| {
                let offset = plan.jitter.as_ref().map_or(0.0, |jitter| jitter.law.quantile(u));
                Span::from_nanos(mean.as_nanos().saturating_add_signed(offset.ceil() as i64))
            });
            delay += mean;
            least += low;
            most += high;
        }
        let waits = self.plan.queues().map(|(server, standing)| match standing {
            Standing::Full(limit) => server.drain(at, limit.of_full_packets()),
            Standing::Target(target) => target,
        });
        let queue = waits.reduce(|one, other| one + other);
        let loss = self.plan.loss(at);
        Moment { at, rate, left, delay, least, most, queue, loss }
    }

    /// The least rate, and what others leave. Cross traffic leaves the path behind its bottleneck.
    fn rates(&self, at: Instant, until: Instant) -> (Option<Rate>, Option<Rate>) {
        let (mut rate, mut left, mut others) = (None, None, Vec::new());
        let mut is_shared = false;
        for element in &self.plan.elements {
            match element {
                ElementPlan::Policer(plan) => {
                    rate = lower(rate, Some(plan.rate));
                    left = lower(left, Some(plan.rate));
                }
                ElementPlan::CrossTraffic(flow) => {
                    is_shared = true;
                    others.push(mean_of(flow, at, until));
                }
                ElementPlan::Bottleneck(plan) => {
                    let own = match &plan.server {
                        ServerPlan::Trace(_) => {
                            let (from, until) = self.bin_of(at);
                            plan.server.mean(from, until)
                        }
                        server => server.mean(at, until),
                    };
                    rate = lower(rate, own);
                    let others = std::mem::take(&mut others);
                    left = lower(left, own.map(|own| left_of(own, others, &plan.queue)));
                }
                _ => {}
            }
        }
        (rate, left.filter(|_| is_shared))
    }

    /// When something may be another: at jumps, and where anything changes evenly or too often, at
    /// even distances too.
    fn edges(&self) -> Vec<Instant> {
        let mut edges = vec![Instant::ZERO];
        let (mut is_even, mut has_trace) = (false, false);
        let mut add = |corners: Option<Vec<Instant>>| match corners {
            Some(corners) => edges.extend(corners),
            None => is_even = true,
        };
        let most = self.points as usize;
        for element in &self.plan.elements {
            match element {
                ElementPlan::Delay(DelayPlan { delay: DelaySpec::Schedule(schedule), .. }) => {
                    add(schedule.corners(self.until, most));
                    if has_ramps(schedule) {
                        add(None);
                    }
                }
                ElementPlan::Bottleneck(plan) => {
                    // How long a queue lasts changes before the rate does.
                    if let Some(schedule) = plan.server.schedule().filter(|it| !it.steps.is_empty())
                    {
                        add(schedule.corners(self.until, most));
                        add(None);
                    }
                    has_trace |= matches!(plan.server, ServerPlan::Trace(_));
                }
                ElementPlan::CrossTraffic(CrossFlow { from, until, .. }) => {
                    let ends = [Some(*from), *until].into_iter().flatten();
                    add(Some(ends.map(|end| Instant::ZERO + end).collect()));
                }
                ElementPlan::LossChanges(plan) => {
                    add(Some(plan.changes.iter().map(|it| Instant::ZERO + it.at).collect()));
                }
                _ => {}
            }
        }
        let steps = [is_even.then_some(self.step()), has_trace.then_some(self.bin())];
        for step in steps.into_iter().flatten() {
            let count = self.until.as_nanos().div_ceil(step.as_nanos());
            edges.extend((0..count).map(|n| Instant::ZERO + step * n));
        }
        edges.retain(|at| *at < self.until || *at == Instant::ZERO);
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    fn step(&self) -> Span {
        Span::from_nanos(self.until.as_nanos().div_ceil(self.points).max(1))
    }

    fn bin(&self) -> Span {
        self.step().max(LinkPlan::TRACE_BIN)
    }

    /// The bin of a trace that an instant lies in.
    fn bin_of(&self, at: Instant) -> (Instant, Instant) {
        let bin = self.bin();
        let from = Instant::ZERO + bin * (at.as_nanos() / bin.as_nanos());
        (from, from + bin)
    }
}

/// The lower of two rates; none where neither limits.
fn lower(one: Option<Rate>, other: Option<Rate>) -> Option<Rate> {
    one.into_iter().chain(other).min()
}

/// What the `others`, in bits per second, leave of a rate to one more flow, which takes all it
/// gets. Where flows take turns, each gets what it asks for, up to an equal share of what those
/// that ask for less leave (the max-min fair share).
fn left_of(rate: Rate, mut others: Vec<u64>, queue: &QueuePlan) -> Rate {
    others.sort_unstable();
    let mut left = rate.bits_per_second();
    for (index, other) in others.iter().enumerate() {
        let share = left / (others.len() - index + 1) as u64;
        if queue.takes_turns() && *other > share {
            return Rate::from_bits_per_second(share);
        }
        left = left.saturating_sub(*other);
    }
    Rate::from_bits_per_second(left)
}

/// The mean rate of a cross-traffic flow between two instants, in bits per second.
fn mean_of(flow: &CrossFlow, at: Instant, until: Instant) -> u64 {
    let rate = u128::from(flow.rate.bits_per_second());
    let rate = match (flow.on, flow.off) {
        (Some(on), Some(off)) => {
            let (on, off) = (u128::from(on.as_nanos()), u128::from(off.as_nanos()));
            rate * on / (on + off)
        }
        _ => rate,
    };
    let from = at.max(Instant::ZERO + flow.from);
    let end = flow.until.map_or(until, |end| until.min(Instant::ZERO + end));
    let (during, whole) = (end.since(from).as_nanos(), until.since(at).as_nanos().max(1));
    u64::try_from(rate * u128::from(during) / u128::from(whole)).unwrap_or(u64::MAX)
}

fn has_ramps<T>(schedule: &Schedule<T>) -> bool {
    schedule.steps.iter().any(|step| !step.over.is_zero())
}

/// The share of packets that is lost at random, in the mean over time.
fn mean_loss(moments: &[Moment], until: Instant) -> f64 {
    let first = moments.first().map_or(0.0, |moment| moment.loss);
    if moments.iter().all(|moment| moment.loss.to_bits() == first.to_bits()) {
        return first;
    }
    let ends = moments.iter().skip(1).map(|moment| moment.at).chain([until]);
    let each = moments.iter().zip(ends);
    let lost = each.map(|(moment, end)| moment.loss * end.since(moment.at).as_secs_f64());
    lost.sum::<f64>() / until.since(Instant::ZERO).as_secs_f64().max(f64::MIN_POSITIVE)
}

/// What share of the packets the element loses at random from then on.
fn loss(element: &ElementPlan, at: Instant) -> f64 {
    match element {
        ElementPlan::Loss(plan) => plan.share(),
        ElementPlan::LossChanges(plan) => plan.share(at),
        ElementPlan::Bottleneck(plan) => match &plan.server {
            ServerPlan::Wifi(plan) => plan.loss(),
            _ => 0.0,
        },
        _ => 0.0,
    }
}

/// What the numbers do not show of an element.
fn note(element: &ElementPlan) -> Option<String> {
    match element {
        ElementPlan::Bottleneck(plan) => {
            let is_more = matches!(plan.server, ServerPlan::TokenBucket(_) | ServerPlan::Wifi(_));
            let is_more = is_more || matches!(plan.queue.standing(), Standing::Target(_));
            is_more.then(|| element.describe())
        }
        ElementPlan::Loss(LossPlan::Independent(_))
        | ElementPlan::Interruption(_)
        | ElementPlan::Blackhole(_)
        | ElementPlan::Delay(_) => None,
        ElementPlan::Mtu(_)
        | ElementPlan::Nat(_)
        | ElementPlan::Policer(_)
        | ElementPlan::CrossTraffic(_)
        | ElementPlan::Loss(_)
        | ElementPlan::LossChanges(_)
        | ElementPlan::Drop(_)
        | ElementPlan::DropNext(_)
        | ElementPlan::Mark(_)
        | ElementPlan::Corruption(_)
        | ElementPlan::Duplication(_)
        | ElementPlan::Reordering(_)
        | ElementPlan::PortDelay(_) => Some(element.describe()),
    }
}

fn time_to_show(element: &ElementPlan) -> Span {
    match element {
        ElementPlan::Delay(DelayPlan { delay: DelaySpec::Schedule(schedule), .. }) => {
            time_of(schedule)
        }
        ElementPlan::Bottleneck(plan) => match &plan.server {
            ServerPlan::Trace(plan) => plan.period() * 2,
            server => server.schedule().map_or(Span::ZERO, time_of),
        },
        ElementPlan::Interruption(InterruptionPlan { times, lasting }) => match times {
            InterruptionTimes::Periodic { every, offset } => *offset + *every * 2,
            InterruptionTimes::Listed { at } => {
                and_then_some(at.last().copied().unwrap_or_default() + *lasting)
            }
            InterruptionTimes::Events { each } => {
                let ends = each.iter().map(|(at, lasting)| *at + *lasting);
                and_then_some(ends.max().unwrap_or_default())
            }
            InterruptionTimes::Random { up, offset, .. } => {
                offset.unwrap_or(*up) + (*up + *lasting) * 2
            }
        },
        ElementPlan::Blackhole(plan) => and_then_some(plan.until.unwrap_or(plan.from)),
        ElementPlan::CrossTraffic(flow) => and_then_some(flow.until.unwrap_or(flow.from)),
        ElementPlan::LossChanges(plan) => {
            and_then_some(plan.changes.last().map_or(Span::ZERO, |change| change.at))
        }
        ElementPlan::DropNext(plan) => {
            and_then_some(plan.events.last().map_or(Span::ZERO, |event| event.at))
        }
        _ => Span::ZERO,
    }
}

fn time_of<T>(schedule: &Schedule<T>) -> Span {
    let end = schedule.steps.last().map_or(Span::ZERO, |step| step.at + step.over);
    // Where events end the repeating, the last of them is what happens last.
    let repeat = schedule.repeat.filter(|repeat| end < *repeat);
    repeat.map_or_else(|| and_then_some(end), |repeat| repeat * 2)
}

/// What happens once ends before the picture does: a quarter more.
fn and_then_some(span: Span) -> Span {
    span + span / 4
}

#[cfg(test)]
mod tests;
