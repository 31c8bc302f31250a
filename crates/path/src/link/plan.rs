//! What a link is made of, merged and checked.

use tcplab_units::{Bytes, Instant, Rate, Span};

use crate::behaviour::{Behaviour, Streams};
use crate::bottleneck::{BottleneckPlan, ServerPlan, bottleneck};
use crate::elements::{
    BlackholePlan, Corruption, CorruptionPlan, CrossFlow, CrossTraffic, Delay, DelayPlan, DropNext,
    DropNextPlan, DropPlan, DropRules, Duplication, DuplicationPlan, HeldBack, Interruption,
    InterruptionPlan, InterruptionTimes, Loss, LossChangesPlan, LossPlan, Mark, MarkPlan, MtuLimit,
    MtuPlan, Nat, NatPlan, Policer, PolicerSpec, PortDelayPlan, PortDelays, Reordering,
    ReorderingPlan,
};

/// The elements of one direction of a path, in the order a packet meets them.
///
/// [`PathSpec::link`](crate::PathSpec::link) makes one from the keys of a scenario, in this order:
///
/// 1. the **entrance**: the way that ends further away have to the path (`port_delay`), the limit
///    to the size of packets, which the first router knows, the NAT, and the policer;
/// 2. **cross traffic**, which joins here, and the **bottleneck** (queue and rate), because packets
///    are impaired on the line, not in front of it. So an interruption hits what the bottleneck
///    sends during it, and neither what waits in the queue nor all that the sender bursts into it.
///    This is what the interruption paper measured: a 200 ms interruption lost 88 segments, which
///    is the bottleneck's rate times 200 ms, while 300 were in flight;
/// 3. the **interruptions** and the **black hole**: first what the line does to all packets;
/// 4. the **loss**, the **rules** and what **events** drop: then what it does to some, so that
///    packets of an interruption do not count as drawn and lost, and what is lost is that share of
///    what is not interrupted;
/// 5. what changes packets that get through: **marks**, **corruption**, **duplication**;
/// 6. **reordering** and the **delay**, last, because then a verdict on a drop falls at the moment
///    the packet enters the line, and packets already beyond it are safe from an interruption, as
///    on a long cable cut at the near end.
///
/// Any other order is written as `stages`, each of which has all these places again. Events
/// [change](LinkPlan::change) a plan; then they are part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct LinkPlan {
    /// The entrance first. Empty: packets pass at once.
    pub elements: Vec<ElementPlan>,
}

/// One element of a link.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElementPlan {
    /// Delays packets of some ports.
    PortDelay(PortDelayPlan),
    /// Drops, and may answer, packets that are too large.
    Mtu(MtuPlan),
    /// Drops, and may answer, packets of connections that it does not know.
    Nat(NatPlan),
    /// Drops packets above the configured rate.
    Policer(PolicerSpec),
    /// Adds packets of others.
    CrossTraffic(CrossFlow),
    /// Sends one packet after the other; the others wait in a queue.
    Bottleneck(BottleneckPlan),
    /// Drops all packets during interruptions.
    Interruption(InterruptionPlan),
    /// Drops all packets from some time on.
    Blackhole(BlackholePlan),
    /// Drops some packets at random.
    Loss(LossPlan),
    /// Drops some packets at random, by laws that events change.
    LossChanges(LossChangesPlan),
    /// Drops packets by rules.
    Drop(DropPlan),
    /// Drops the next data segments when events say so.
    DropNext(DropNextPlan),
    /// Marks some packets as having met congestion, at random.
    Mark(MarkPlan),
    /// Flips bits.
    Corruption(CorruptionPlan),
    /// Adds copies.
    Duplication(DuplicationPlan),
    /// Holds some packets back, so that others overtake them.
    Reordering(ReorderingPlan),
    /// Delays each packet.
    Delay(DelayPlan),
}

impl LinkPlan {
    /// How long a packet is on the idle link: its delays, without the time to send it. Where they
    /// change with time, in the mean over a repetition if they repeat, else at the start.
    pub fn delay(&self) -> Span {
        let delays = self.elements.iter().filter_map(|element| match element {
            ElementPlan::Delay(plan) => Some(plan.delay.nominal()),
            _ => None,
        });
        delays.sum()
    }

    /// Whether what happens to packets depends on the seed: one of its elements draws numbers.
    pub fn leaves_to_chance(&self) -> bool {
        self.elements.iter().any(|element| match element {
            ElementPlan::CrossTraffic(_)
            | ElementPlan::LossChanges(_)
            | ElementPlan::Mark(_)
            | ElementPlan::Corruption(_)
            | ElementPlan::Duplication(_) => true,
            ElementPlan::Loss(plan) => !matches!(plan, LossPlan::Every { .. }),
            ElementPlan::Drop(plan) => plan.leaves_to_chance(),
            ElementPlan::Reordering(plan) => matches!(plan.held_back, HeldBack::Random(_)),
            ElementPlan::Delay(plan) => plan.jitter.is_some(),
            ElementPlan::Interruption(plan) => {
                matches!(plan.times, InterruptionTimes::Random { .. })
            }
            ElementPlan::Bottleneck(plan) => {
                matches!(plan.server, ServerPlan::Wifi(_)) || plan.queue.leaves_to_chance()
            }
            ElementPlan::PortDelay(_)
            | ElementPlan::Mtu(_)
            | ElementPlan::Nat(_)
            | ElementPlan::Policer(_)
            | ElementPlan::Blackhole(_)
            | ElementPlan::DropNext(_) => false,
        })
    }

    /// A time that no packet is on the link for less than, whatever the moment and the chance.
    pub fn least_delay(&self) -> Span {
        let delays = self.elements.iter().filter_map(|element| match element {
            ElementPlan::Delay(plan) => Some(plan.least()),
            _ => None,
        });
        delays.sum()
    }

    /// How long a packet is in the last element at least, which is none but in a delay.
    pub fn last_delay(&self) -> Span {
        match self.elements.last() {
            Some(ElementPlan::Delay(plan)) => plan.least(),
            _ => Span::ZERO,
        }
    }

    /// Whether something on the link may send the sender an answer of its own, such as an ICMP
    /// error.
    pub fn may_answer(&self) -> bool {
        self.elements.iter().any(|element| match element {
            ElementPlan::Mtu(plan) => plan.answer,
            ElementPlan::Nat(plan) => plan.answer,
            _ => false,
        })
    }

    /// The rate of its slowest bottleneck, which is what a long transfer gets at most; none without
    /// a bottleneck. See [`ServerPlan::rate`] for rates that change.
    pub fn rate(&self) -> Option<Rate> {
        self.servers().map(ServerPlan::rate).min()
    }
    /// The least rate of its bottlenecks and policers; none where nothing limits it. See
    /// [`ServerPlan::rate`] for rates that change.
    pub fn least_rate(&self) -> Option<Rate> {
        let policed = self.elements.iter().filter_map(|element| match element {
            ElementPlan::Policer(plan) => Some(plan.rate),
            _ => None,
        });
        self.servers().map(ServerPlan::rate).chain(policed).min()
    }
    /// The mean rate of its slowest bottleneck from one instant to a later one; none without one.
    pub fn mean_rate(&self, from: Instant, until: Instant) -> Option<Rate> {
        self.servers().filter_map(|server| server.mean(from, until)).min()
    }
    /// How much it lets through at most from one instant to a later one: the least of what its
    /// bottlenecks send in the mean and its policers let pass, each with its burst. None where
    /// nothing limits it.
    pub fn carries(&self, from: Instant, until: Instant) -> Option<Bytes> {
        self.elements.iter().filter_map(|element| element.carries(from, until)).min()
    }
    /// Whether copies that it makes are part of what it [carries](Self::carries): they come to the
    /// element that carries the least.
    pub fn carries_copies(&self, from: Instant, until: Instant) -> bool {
        let least = self.carries(from, until);
        let is_before = |element: &&ElementPlan| !matches!(element, ElementPlan::Duplication(_));
        let mut behind = self.elements.iter().skip_while(is_before);
        least.is_some() && behind.any(|element| element.carries(from, until) == least)
    }
    /// The most that its slowest bottleneck ever sends ([`ServerPlan::peak`]); none without one.
    pub fn peak(&self) -> Option<Rate> {
        self.servers().map(ServerPlan::peak).min()
    }
    pub(super) fn servers(&self) -> impl Iterator<Item = &ServerPlan> {
        self.elements.iter().filter_map(|element| match element {
            ElementPlan::Bottleneck(plan) => Some(&plan.server),
            _ => None,
        })
    }

    /// When it is interrupted in a trial with this `seed`, as start and end, for all interruptions
    /// that start before `until`; in order.
    pub fn interruptions(&self, until: Instant, seed: u64) -> Vec<(Instant, Instant)> {
        let mut windows = Vec::new();
        for element in &self.elements {
            if let ElementPlan::Interruption(plan) = element {
                windows.extend(plan.windows(until, seed));
            }
        }
        windows.sort_unstable();
        windows
    }

    /// How many interruptions begin in so long; in the mean, where they come at random.
    pub fn interruptions_in(&self, span: Span) -> u64 {
        let counts = self.elements.iter().map(|element| match element {
            ElementPlan::Interruption(plan) => plan.count_in(span),
            _ => 0,
        });
        counts.fold(0, u64::saturating_add)
    }

    /// What it does to a packet, a sentence per element.
    pub fn describe(&self) -> Vec<String> {
        if self.elements.is_empty() {
            return vec!["Packets pass at once.".into()];
        }
        self.elements.iter().map(ElementPlan::describe).collect()
    }
}

impl ElementPlan {
    /// What kind of element it is; part of the name of its stream of random numbers.
    pub const fn kind(&self) -> &'static str {
        match self {
            ElementPlan::PortDelay(_) => "port-delay",
            ElementPlan::Mtu(_) => "mtu",
            ElementPlan::Nat(_) => "nat",
            ElementPlan::Policer(_) => "policer",
            ElementPlan::CrossTraffic(_) => "cross",
            ElementPlan::Bottleneck(_) => "bottleneck",
            ElementPlan::Interruption(_) => "interruption",
            ElementPlan::Blackhole(_) => "blackhole",
            ElementPlan::Loss(_) | ElementPlan::LossChanges(_) => "loss",
            ElementPlan::Drop(_) => "drop",
            ElementPlan::DropNext(_) => "drop-next",
            ElementPlan::Mark(_) => "mark",
            ElementPlan::Corruption(_) => "corrupt",
            ElementPlan::Duplication(_) => "duplicate",
            ElementPlan::Reordering(_) => "reorder",
            ElementPlan::Delay(_) => "delay",
        }
    }

    /// Its place in the order that [`LinkPlan`] explains.
    pub(super) const fn place(&self) -> u8 {
        match self {
            ElementPlan::PortDelay(_) => 0,
            ElementPlan::Mtu(_) => 1,
            ElementPlan::Nat(_) => 2,
            ElementPlan::Policer(_) => 3,
            ElementPlan::CrossTraffic(_) => 4,
            ElementPlan::Bottleneck(_) => 5,
            ElementPlan::Interruption(_) => 6,
            ElementPlan::Blackhole(_) => 7,
            ElementPlan::Loss(_) | ElementPlan::LossChanges(_) => 8,
            ElementPlan::Drop(_) => 9,
            ElementPlan::DropNext(_) => 10,
            ElementPlan::Mark(_) => 11,
            ElementPlan::Corruption(_) => 12,
            ElementPlan::Duplication(_) => 13,
            ElementPlan::Reordering(_) => 14,
            ElementPlan::Delay(_) => 15,
        }
    }

    /// What passes it at once when nothing has for long: where it limits the rate.
    pub fn burst(&self) -> Option<Bytes> {
        match self {
            ElementPlan::Policer(plan) => Some(plan.burst),
            ElementPlan::Bottleneck(plan) => match &plan.server {
                ServerPlan::TokenBucket(plan) => Some(plan.burst),
                _ => Some(Bytes::ZERO),
            },
            _ => None,
        }
    }

    /// See [`LinkPlan::carries`].
    fn carries(&self, from: Instant, until: Instant) -> Option<Bytes> {
        let rate = match self {
            ElementPlan::Policer(plan) => plan.rate,
            ElementPlan::Bottleneck(plan) => plan.server.mean(from, until)?,
            _ => return None,
        };
        Some(rate.bytes_in(until.since(from)) + self.burst()?)
    }

    /// A sentence about it.
    pub(crate) fn describe(&self) -> String {
        match self {
            ElementPlan::PortDelay(plan) => plan.describe(),
            ElementPlan::Mtu(plan) => plan.describe(),
            ElementPlan::Nat(plan) => plan.describe(),
            ElementPlan::Policer(plan) => plan.describe(),
            ElementPlan::CrossTraffic(plan) => plan.describe(),
            ElementPlan::Bottleneck(plan) => plan.describe(),
            ElementPlan::Interruption(plan) => plan.describe(),
            ElementPlan::Blackhole(plan) => plan.describe(),
            ElementPlan::Loss(plan) => plan.describe(),
            ElementPlan::LossChanges(plan) => plan.describe(),
            ElementPlan::Drop(plan) => plan.describe(),
            ElementPlan::DropNext(plan) => plan.describe(),
            ElementPlan::Mark(plan) => plan.describe(),
            ElementPlan::Corruption(plan) => plan.describe(),
            ElementPlan::Duplication(plan) => plan.describe(),
            ElementPlan::Reordering(plan) => plan.describe(),
            ElementPlan::Delay(plan) => plan.describe(),
        }
    }
}

impl ElementPlan {
    /// The element at work, drawing from `streams` if it is a random one.
    pub(super) fn at_work(&self, streams: Streams) -> Box<dyn Behaviour> {
        match self {
            ElementPlan::PortDelay(plan) => Box::new(PortDelays::new(plan)),
            ElementPlan::Mtu(plan) => Box::new(MtuLimit::new(*plan)),
            ElementPlan::Nat(plan) => Box::new(Nat::new(*plan)),
            ElementPlan::Policer(plan) => Box::new(Policer::new(plan)),
            ElementPlan::CrossTraffic(plan) => Box::new(CrossTraffic::new(plan, streams)),
            ElementPlan::Bottleneck(plan) => bottleneck(plan, streams),
            ElementPlan::Interruption(plan) => Box::new(Interruption::new(plan, streams)),
            ElementPlan::Blackhole(plan) => Box::new(*plan),
            ElementPlan::Loss(plan) => Box::new(Loss::new(plan, streams)),
            ElementPlan::LossChanges(plan) => Box::new(Loss::changing(plan, streams)),
            ElementPlan::Drop(plan) => Box::new(DropRules::new(plan, streams)),
            ElementPlan::DropNext(plan) => Box::new(DropNext::new(plan)),
            ElementPlan::Mark(plan) => Box::new(Mark::new(plan, streams)),
            ElementPlan::Corruption(plan) => Box::new(Corruption::new(plan, streams)),
            ElementPlan::Duplication(plan) => Box::new(Duplication::new(plan, streams)),
            ElementPlan::Reordering(plan) => Box::new(Reordering::new(plan, streams)),
            ElementPlan::Delay(plan) => Box::new(Delay::new(plan, streams)),
        }
    }

    /// Whether it acts only when a packet arrives: it holds none.
    pub(super) fn is_passive(&self) -> bool {
        !matches!(
            self,
            ElementPlan::PortDelay(_)
                | ElementPlan::CrossTraffic(_)
                | ElementPlan::Bottleneck(_)
                | ElementPlan::Reordering(_)
                | ElementPlan::Delay(_)
        )
    }
}

/// What a world may leave out.
impl LinkPlan {
    /// Whether it holds no packet and makes none: each passes or is dropped in the instant it
    /// comes.
    pub fn is_instant(&self) -> bool {
        let makes_none = |element: &ElementPlan| !matches!(element, ElementPlan::Duplication(_));
        self.elements.iter().all(|element| element.is_passive() && makes_none(element))
    }

    /// Whether each packet passes or is dropped at once, and only its size counts: then a world
    /// need not hand packets over, but can [ask](crate::Link::judge).
    pub fn is_gate(&self) -> bool {
        self.is_instant() && !self.reads_packets()
    }

    /// Whether some element damages packets, whose checksums then tell.
    pub fn damages_packets(&self) -> bool {
        self.elements.iter().any(|element| matches!(element, ElementPlan::Corruption(_)))
    }

    /// Whether some element looks into packets, changes, or copies them. If none does, packets
    /// [of a size only](crate::Packet::of_size) get the very same verdicts.
    pub fn reads_packets(&self) -> bool {
        self.elements.iter().any(|element| match element {
            ElementPlan::PortDelay(_)
            | ElementPlan::Mtu(_)
            | ElementPlan::Nat(_)
            | ElementPlan::Drop(_)
            | ElementPlan::DropNext(_)
            | ElementPlan::Mark(_)
            | ElementPlan::Corruption(_)
            | ElementPlan::Duplication(_) => true,
            ElementPlan::Bottleneck(plan) => plan.queue.reads_packets(),
            _ => false,
        })
    }
}
