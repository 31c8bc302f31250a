//! What a link is made of, merged and checked.

use tcplab_units::{Instant, Probability, Rate, Span};

use crate::interruption::InterruptionPlan;
use crate::queue::{QueueLimit, QueuePlan};

/// The elements of one direction of a path, in the order a packet meets them.
///
/// [`PathSpec::link`](crate::PathSpec::link) makes one from the keys of a scenario, in this order:
///
/// 1. the **bottleneck** (queue and rate), because packets are impaired on the line, not in front
///    of it. So an interruption hits what the bottleneck sends during it, and neither what waits
///    in the queue nor all that the sender bursts into it. This is what the interruption paper
///    measured: a 200 ms interruption lost 88 segments, which is the bottleneck's rate times
///    200 ms, while 300 were in flight;
/// 2. the **interruption**: first what the line does to all packets;
/// 3. the **loss**: then what it does to some, so that packets of an interruption do not count as
///    drawn and lost, and what is lost is that share of what is not interrupted;
/// 4. the **delay**, last, because then a verdict on a drop falls at the moment the packet enters
///    the line, and packets already beyond it are safe from an interruption, as on a long cable cut
///    at the near end.
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
    /// Sends one packet after the other at a rate; the others wait in a queue.
    Bottleneck {
        /// Above zero; counts bytes of IP.
        rate: Rate,
        /// Where packets wait.
        queue: QueuePlan,
    },
    /// Drops all packets for a while.
    Interruption(InterruptionPlan),
    /// Drops some packets at random, independently of one another.
    Loss {
        /// For each packet.
        probability: Probability,
    },
    /// Holds each packet for a constant time.
    Delay {
        /// How long.
        delay: Span,
    },
}

impl LinkPlan {
    /// How long a packet is on the idle link at least: its delays, without the time to send it.
    pub fn delay(&self) -> Span {
        let delays = self.elements.iter().map(|element| match element {
            ElementPlan::Delay { delay } => delay.as_nanos(),
            _ => 0,
        });
        Span::from_nanos(delays.fold(0, u64::saturating_add))
    }

    /// When it is interrupted, as start and end, for all interruptions that start before `until`;
    /// in order.
    pub fn interruptions(&self, until: Instant) -> Vec<(Instant, Instant)> {
        let mut windows = Vec::new();
        for element in &self.elements {
            if let ElementPlan::Interruption(plan) = element {
                windows.extend(plan.windows(until));
            }
        }
        windows.sort_unstable();
        windows
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
            ElementPlan::Bottleneck { .. } => "bottleneck",
            ElementPlan::Interruption(_) => "interruption",
            ElementPlan::Loss { .. } => "loss",
            ElementPlan::Delay { .. } => "delay",
        }
    }

    fn describe(&self) -> String {
        match self {
            ElementPlan::Bottleneck { rate, queue: QueuePlan::DropTail(limit) } => {
                let limit = match limit {
                    QueueLimit::Packets(1) => "1 packet".into(),
                    QueueLimit::Packets(n) => format!("{n} packets"),
                    QueueLimit::Bytes(bytes) => bytes.to_string(),
                };
                format!("A bottleneck sends {rate}; {limit} can wait, what comes then is dropped.")
            }
            ElementPlan::Interruption(InterruptionPlan { every, lasting, offset }) => {
                format!("Every {every}, first at {offset}, all packets are dropped for {lasting}.")
            }
            ElementPlan::Loss { probability } => {
                format!("Each packet is lost with a probability of {probability}.")
            }
            ElementPlan::Delay { delay } => format!("Each packet takes {delay}."),
        }
    }
}

/// What a world may leave out.
impl LinkPlan {
    /// Whether it holds no packet: each passes or is dropped in the instant it comes.
    pub fn is_instant(&self) -> bool {
        self.elements.iter().all(|element| match element {
            ElementPlan::Interruption(_) | ElementPlan::Loss { .. } => true,
            ElementPlan::Bottleneck { .. } | ElementPlan::Delay { .. } => false,
        })
    }

    /// Whether some element looks into packets, changes, or copies them. If none does, packets
    /// [of a size only](crate::Packet::of_size) get the very same verdicts.
    pub fn reads_packets(&self) -> bool {
        self.elements.iter().any(|element| match element {
            ElementPlan::Interruption(_)
            | ElementPlan::Loss { .. }
            | ElementPlan::Bottleneck { .. }
            | ElementPlan::Delay { .. } => false,
        })
    }
}
