//! What a direction of a path promises to a lone packet, in closed form, from its description.

use tcplab_path::{
    CorruptionPlan, DelayPlan, DelaySpec, DuplicationPlan, ElementPlan, LinkPlan, LossPlan,
    MarkPlan, QueueLimit, QueuePlan, ReorderingPlan, ServerPlan,
};
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
    /// Packets that come less often than this find wireless links idle, mostly.
    pub(super) turn: Span,
    /// Whether a wireless link gives some packets up.
    pub(super) gives_up: bool,
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
        // How long after it was sent a probe reaches an element.
        let mut after = Span::ZERO;
        for element in &link.elements {
            match element {
                ElementPlan::Mtu(plan) => asked.largest = asked.largest.min(plan.size),
                // It lets everything but TCP pass, and probes are datagrams.
                ElementPlan::Nat(_) => {}
                ElementPlan::Policer(plan) => {
                    asked.no_rate = Some("a policer stands at the entrance");
                    asked.policed = Some(asked.policed.map_or(plan.rate, |r| r.min(plan.rate)));
                }
                ElementPlan::CrossTraffic(_) => {
                    (asked.no_rate, asked.no_delay) = (Some(SHARED), Some(SHARED));
                    asked.no_jitter = Some(SHARED);
                }
                ElementPlan::Bottleneck(plan) => {
                    let rate = match &plan.server {
                        ServerPlan::Rate(rate) => *rate,
                        other => {
                            let why = Some(changing(other));
                            if let ServerPlan::Wifi(wifi) = other {
                                asked.turn = asked.turn.max(wifi.turn() * 2);
                                asked.gives_up |= wifi.loss() > NEGLIGIBLE;
                            }
                            (asked.no_rate, asked.no_delay, asked.no_jitter) = (why, why, why);
                            continue;
                        }
                    };
                    if asked.servers.iter().all(|other| rate < *other) {
                        asked.queue = Some(plan.queue);
                    }
                    asked.servers.push(rate);
                    after += transmission(rate, size);
                }
                ElementPlan::Interruption(plan) => {
                    let meet = |(from, to)| (back(from, after), back(to, after));
                    asked.blocked.extend(plan.windows(until + after, seed).map(meet));
                    if asked.blocked.is_empty() {
                        // The first, though nobody will see it: for saying so.
                        asked.blocked.extend(plan.windows(until + FAR, seed).map(meet).next());
                    }
                }
                ElementPlan::Blackhole(plan) => {
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
                ElementPlan::Delay(plan) => after += asked.hold(plan),
            }
        }
        asked.blocked.retain(|(from, to)| from < to);
        asked.blocked.sort_unstable();
        asked
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

fn back(at: Instant, by: Span) -> Instant {
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
