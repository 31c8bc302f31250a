//! What a direction of a path promises to a lone packet, in closed form, from its description.

use tcplab_path::{
    CorruptionPlan, DelayPlan, DelaySpec, DuplicationPlan, ElementPlan, InterruptionPlan, LinkPlan,
    LossPlan, MarkPlan, QueueLimit, QueuePlan, ReorderingPlan, ServerPlan, TokenBucketPlan,
};
use tcplab_testbed::Train;
use tcplab_units::{Bytes, Instant, Rate, Span};

/// The expected values of one direction; a value that cannot be computed has the reason.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// Each transmitter's rate, in order.
    pub(super) servers: Vec<Rate>,
    /// The slowest one's queue.
    queue: Option<QueuePlan>,
    /// Why the rate is none that could be measured so.
    pub(super) no_rate: Option<&'static str>,
    /// The sum of all constant delays except one with jitter.
    pub(super) delay: Span,
    /// Why there is no constant delay.
    pub(super) no_delay: Option<&'static str>,
    /// The delay with jitter.
    pub(super) jitter: Option<DelayPlan>,
    /// Why the law of the delays cannot be tested.
    pub(super) no_jitter: Option<&'static str>,
    pub(super) losses: Vec<LossPlan>,
    /// Why the share of lost packets is not known.
    pub(super) no_loss: Option<&'static str>,
    pub(super) duplications: Vec<DuplicationPlan>,
    pub(super) corruptions: Vec<CorruptionPlan>,
    pub(super) marks: Vec<MarkPlan>,
    pub(super) reorderings: Vec<ReorderingPlan>,
    /// When nothing passes, by the time at which a probe is sent; until the time asked for, or
    /// else the first.
    pub(super) blocked: Vec<(Instant, Instant)>,
    /// No larger packet passes.
    pub(super) largest: Bytes,
    /// No more passes the entrance than this.
    policed: Option<Rate>,
    /// Packets that come less often than this find links idle whose rate is none that could be
    /// measured; wireless ones mostly.
    pub(super) turn: Span,
    /// Why probes that are missing do not say what was lost at random. In virtual time, verdicts
    /// do.
    pub(super) hidden_loss: Option<&'static str>,
    /// Why it cannot be said at which times of sending an interruption begins and ends.
    pub(super) no_edges: Option<&'static str>,
    /// Why the packets that arrive out of order are others than those held back.
    pub(super) no_reordering: Option<&'static str>,
    /// Why copies are missing that were made.
    pub(super) no_copies: Option<&'static str>,
    /// Whether copies are drawn for, and counted, by the losses.
    pub(super) loses_copies: bool,
    /// Whether what comes through the losses may be dropped behind them.
    pub(super) drops_behind_loss: bool,
}

/// Interruptions are looked for so far ahead.
const FAR: Span = Span::from_secs(3600);
/// So small a share of lost packets no measurement of some thousands sees.
const NEGLIGIBLE: f64 = 1e-6;
const CHANGES: &str = "it changes with time";
const SHARED: &str = "cross traffic shares the bottleneck";

impl Asked {
    /// What `link` promises with this seed to packets of `size` that find it idle, until `until`.
    pub(super) fn of(link: &LinkPlan, size: Bytes, until: Instant, seed: u64) -> Asked {
        let mut asked = Asked { largest: Bytes::new(1500), ..Asked::default() };
        // How long after it was sent a probe reaches an element, and why that is not known.
        let (mut after, mut unknown) = (Span::ZERO, None);
        for element in &link.elements {
            asked.note_order(element);
            match element {
                ElementPlan::Mtu(plan) => asked.largest = asked.largest.min(plan.size),
                // It lets everything but TCP pass, and probes are datagrams.
                // Nor do they take the way that some connections have to the path.
                ElementPlan::Nat(_) | ElementPlan::PortDelay(_) => {}
                ElementPlan::Policer(plan) => {
                    asked.no_rate = Some("a policer stands at the entrance");
                    asked.policed = Some(asked.policed.map_or(plan.rate, |r| r.min(plan.rate)));
                }
                ElementPlan::CrossTraffic(_) => {
                    (asked.no_rate, asked.no_delay) = (Some(SHARED), Some(SHARED));
                    asked.no_jitter = Some(SHARED);
                    asked.hidden_loss = Some("cross traffic fills the queue, which drops, too");
                    unknown = unknown.or(Some(SHARED));
                }
                ElementPlan::Bottleneck(plan) => match &plan.server {
                    ServerPlan::Rate(rate) => {
                        if asked.servers.iter().all(|other| rate < other) {
                            asked.queue = Some(plan.queue);
                        }
                        asked.servers.push(*rate);
                        after += transmission(*rate, size);
                    }
                    other => {
                        let why = Some(changing(other));
                        (asked.no_rate, asked.no_delay, asked.no_jitter) = (why, why, why);
                        // A bucket lets packets so far apart pass at once.
                        let at_once = matches!(other, ServerPlan::TokenBucket(_));
                        unknown = unknown.or(why.filter(|_| !at_once));
                        asked.find_idle(other, until);
                    }
                },
                ElementPlan::Interruption(plan) => {
                    asked.no_edges = asked.no_edges.or(unknown);
                    asked.find_interruptions(plan, (after, until), seed);
                }
                ElementPlan::Blackhole(plan) => {
                    asked.no_edges = asked.no_edges.or(unknown);
                    let at = |span: Span| back(Instant::ZERO + span, after);
                    asked.blocked.push((at(plan.from), plan.until.map_or(Instant::MAX, at)));
                }
                ElementPlan::Loss(plan) => asked.losses.push(*plan),
                ElementPlan::LossChanges(_) => asked.no_loss = Some(CHANGES),
                ElementPlan::Drop(_) | ElementPlan::DropNext(_) => {
                    asked.no_loss = Some("rules drop packets by what they are");
                }
                ElementPlan::Mark(plan) => asked.marks.push(plan.clone()),
                ElementPlan::Corruption(plan) => asked.corruptions.push(*plan),
                ElementPlan::Duplication(plan) => asked.duplications.push(*plan),
                ElementPlan::Reordering(plan) => asked.reorderings.push(*plan),
                ElementPlan::Delay(plan) => {
                    after += asked.hold(plan);
                    unknown = unknown.or(asked.no_delay);
                }
            }
        }
        asked.blocked.retain(|(from, to)| from < to);
        asked.blocked.sort_unstable();
        asked
    }

    /// Takes in what an element does to what those before it did.
    fn note_order(&mut self, element: &ElementPlan) {
        let (is_held, is_copied) = (!self.reorderings.is_empty(), !self.duplications.is_empty());
        match element {
            ElementPlan::Reordering(_) => {
                let why = is_copied.then_some("copies are held back and overtake, too");
                self.no_reordering = self.no_reordering.or(why);
                return;
            }
            ElementPlan::Loss(_) | ElementPlan::LossChanges(_) => self.loses_copies |= is_copied,
            ElementPlan::Policer(_)
            | ElementPlan::Bottleneck(_)
            | ElementPlan::Interruption(_)
            | ElementPlan::Blackhole(_)
            | ElementPlan::Drop(_)
            | ElementPlan::DropNext(_) => self.drops_behind_loss |= !self.losses.is_empty(),
            _ => return,
        }
        if is_held {
            self.no_reordering = Some("packets are dropped behind where they overtake");
        }
        if is_copied {
            self.no_copies = Some("copies are dropped behind where they are made");
        }
    }

    /// Takes in the interruptions that probes meet which are sent until then, and reach them so
    /// long after.
    fn find_interruptions(
        &mut self,
        plan: &InterruptionPlan,
        (after, until): (Span, Instant),
        seed: u64,
    ) {
        let meet = |(from, to)| (back(from, after), back(to, after));
        // Where packets take as long as that, nothing is measured.
        let end = (until + after).min(Instant::ZERO + FAR);
        self.blocked.extend(plan.windows(end, seed).map(meet));
        if self.blocked.is_empty() {
            // The first, though nobody will see it: for saying so.
            self.blocked.extend(plan.windows(until + FAR, seed).map(meet).next());
        }
    }

    /// Takes in how far apart packets must come that find each other gone, where the bottleneck is
    /// no plain rate.
    fn find_idle(&mut self, server: &ServerPlan, until: Instant) {
        let apart = match server {
            ServerPlan::Rate(rate) => transmission(*rate, Train::SMALLEST) * 2,
            ServerPlan::Varying(schedule)
            | ServerPlan::TokenBucket(TokenBucketPlan { rate: schedule, .. }) => {
                let is_zero = |rate: &Rate| rate.bits_per_second() == 0;
                if schedule.values().any(|rate| is_zero(&rate)) {
                    self.hidden_loss = Some("the queue may fill while the rate is zero");
                }
                let slowest = schedule.values().filter(|rate| !is_zero(rate)).min();
                slowest.map_or(Span::ZERO, |rate| transmission(rate, Train::SMALLEST) * 2)
            }
            // Both of two that come as far apart as this would else wait for the same moment if
            // the first were a little late.
            ServerPlan::Trace(trace) => trace.longest_wait(until) + Span::from_millis(1),
            ServerPlan::Wifi(wifi) => {
                if wifi.loss() > NEGLIGIBLE {
                    self.hidden_loss = Some("a wireless link gives packets up, too");
                }
                wifi.turn() * 2
            }
        };
        self.turn = self.turn.max(apart);
    }

    /// Takes a delay in; how long it is at the start.
    fn hold(&mut self, plan: &DelayPlan) -> Span {
        let at_start = match &plan.delay {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Schedule(schedule) => {
                (self.no_delay, self.no_jitter) =
                    (Some(CHANGES), Some("the delay changes with time"));
                schedule.start
            }
        };
        let Some(jitter) = &plan.jitter else {
            self.delay += at_start;
            return at_start;
        };
        self.no_delay = self.no_delay.or(Some("it differs from packet to packet: see jitter"));
        if !jitter.correlation.as_f64().total_cmp(&0.0).is_eq() {
            self.no_jitter =
                Some("delays depend on those before, and the test needs independent ones");
        }
        if self.jitter.replace(plan.clone()).is_some() {
            self.no_jitter = Some("several delays with jitter follow one another");
        }
        at_start
    }

    /// The rate of the bottleneck.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.servers.iter().min().copied()
    }

    /// The most that may come in without waiting or being dropped.
    pub(super) fn narrowest(&self) -> Option<Rate> {
        self.rate().into_iter().chain(self.policed).min()
    }

    /// How many packets of that size the bottleneck lets wait, where it drops none before; none
    /// where that is random.
    pub(super) fn room(&self, size: Bytes) -> Option<u64> {
        let limit = match self.queue.as_ref()? {
            QueuePlan::DropTail(limit) | QueuePlan::DropHead(limit) => *limit,
            QueuePlan::StepMark(plan) => plan.limit,
            QueuePlan::Codel(plan) => plan.limit,
            QueuePlan::FqCodel(plan) => plan.limit,
            QueuePlan::Pie(plan) => plan.limit,
            QueuePlan::Red(_) => return None,
        };
        Some(match limit {
            QueueLimit::Packets(packets) => u64::from(packets),
            QueueLimit::Bytes(bytes) => bytes.as_u64() / size.as_u64(),
        })
    }

    /// How long a lone packet takes, without jitter: each bottleneck serialises it again.
    pub(super) fn passage(&self, size: Bytes) -> Span {
        self.servers.iter().fold(self.delay, |sum, rate| sum + transmission(*rate, size))
    }

    /// Between which delays practically all lie, with jitter.
    pub(super) fn spread(&self) -> Option<(Span, Span)> {
        let plan = self.jitter.as_ref()?;
        Some((quantile(plan, 0.0005), quantile(plan, 0.9995)))
    }
}

/// Why the time of a lone packet at a transmitter cannot be predicted.
fn changing(server: &ServerPlan) -> &'static str {
    match server {
        ServerPlan::Rate(_) | ServerPlan::Varying(_) => "the rate changes with time",
        ServerPlan::TokenBucket(_) => "a token bucket sends in bursts",
        ServerPlan::Trace(_) => "a trace says when something is sent",
        ServerPlan::Wifi(_) => "on a wireless link, chance says when something is sent",
    }
}

/// How long it takes to send `size` at `rate`, rounded up.
pub(super) fn transmission(rate: Rate, size: Bytes) -> Span {
    let nanos = (size.bits() * 1_000_000_000).div_ceil(u128::from(rate.bits_per_second()));
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// So much earlier, but not before the start.
pub(super) fn back(at: Instant, by: Span) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_sub(by.as_nanos()))
}

/// The smallest delay with at least that probability.
fn quantile(plan: &DelayPlan, p: f64) -> Span {
    let mut high = 1;
    while plan.cdf(Span::from_nanos(high)) < p && high < u64::MAX / 2 {
        high *= 2;
    }
    let mut low = 0;
    while low < high {
        let middle = low + (high - low) / 2;
        if plan.cdf(Span::from_nanos(middle)) < p {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Span::from_nanos(low)
}
