//! Packets that others overtake.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability, Rng, Span};

use crate::behaviour::{Behaviour, Outbox, Streams, Transit};
use crate::fault::Fault;

/// Packets that others overtake: which (`probability` or `every`), and by how much (`gap` packets
/// or `extra` time).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { probability = \"1 %\", gap = 3 }")]
#[schemars(rename = "Reorder")]
pub struct ReorderSpec {
    /// The probability that a packet is held back, below 100 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
    /// Every n-th packet is held back, instead of `probability`: 2 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// The packet waits until this many later packets have passed, and goes right behind the last
    /// of them; packets that are held back themselves do not count. If fewer come, it goes after
    /// `extra`, or after 1 s where that is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<u32>,
    /// It is held back for so long; with `gap`, for so long at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Span>,
}

/// The default limit of a held packet's wait: TCP's initial retransmission timeout (RFC 6298 §2),
/// after which a sender with no other data has retransmitted it.
pub(crate) const LONGEST_WAIT: Span = Span::from_secs(1);

/// Packets that others overtake, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReorderingPlan {
    /// Which packets are held back.
    pub held_back: HeldBack,
    /// How many later packets pass them; as many as come in the time if there is none.
    pub gap: Option<u32>,
    /// After how long they go at the latest; above zero.
    pub at_most: Span,
}

/// Which packets are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldBack {
    /// Each with this probability, above 0 and below 1.
    Random(Probability),
    /// Each n-th, n being above 1.
    Every(u64),
}

impl ReorderSpec {
    /// None when it never happens.
    pub(crate) fn plan(&self) -> Result<Option<ReorderingPlan>, Fault> {
        let held_back = match (self.probability, self.every) {
            (Some(_), Some(_)) => {
                let what = "give either `probability` or `every`";
                return Err(Fault::below("every", what));
            }
            (None, None) => {
                let what = "give `probability` or `every`: which packets are held back";
                return Err(Fault::here(what));
            }
            (Some(Probability::ALWAYS), None) => {
                let what = "all packets would be held back: give less than 100 %";
                return Err(Fault::below("probability", what));
            }
            (None, Some(0 | 1)) => {
                let what = "all packets would be held back: give 2 or more";
                return Err(Fault::below("every", what));
            }
            (Some(probability), None) => HeldBack::Random(probability),
            (None, Some(n)) => HeldBack::Every(n),
        };
        let at_most = match (self.gap, self.extra) {
            (None, None) => {
                let what = "give `gap` (packets) or `extra` (time): how far packets are held back";
                return Err(Fault::here(what));
            }
            (Some(0), _) => {
                let what = "the gap is 0: give 1 or more";
                return Err(Fault::below("gap", what));
            }
            (_, Some(Span::ZERO)) => {
                let what = "`extra` is zero: give more";
                return Err(Fault::below("extra", what));
            }
            (_, extra) => extra.unwrap_or(LONGEST_WAIT),
        };
        let plan = ReorderingPlan { held_back, gap: self.gap, at_most };
        Ok(Some(plan).filter(|plan| plan.held_back != HeldBack::Random(Probability::NEVER)))
    }
}

impl ReorderingPlan {
    pub(crate) fn describe(&self) -> String {
        let which = match self.held_back {
            HeldBack::Random(probability) => {
                format!("Reordering: {probability} of the packets are held back")
            }
            HeldBack::Every(n) => format!("Reordering: the last of every {n} packets is held back"),
        };
        let at_most = self.at_most;
        match self.gap {
            None => format!("{which} for {at_most}."),
            Some(1) => format!("{which} until another has passed, at most {at_most}."),
            Some(gap) => format!("{which} until {gap} others have passed, at most {at_most}."),
        }
    }
}

/// The element at work.
#[derive(Debug)]
pub(crate) struct Reordering {
    plan: ReorderingPlan,
    rng: Rng,
    /// How many packets have come.
    come: u64,
    /// How many of them were not held back.
    passed: u64,
    /// In order of arrival, which is that of release, too: what makes one go, by number or by
    /// time, has come for all before it.
    held: VecDeque<Held>,
}

/// A packet held back.
#[derive(Debug)]
struct Held {
    packet: Transit,
    /// It goes behind the packet that makes `passed` so many, or
    behind: u64,
    /// at this instant, whichever comes first.
    at: Instant,
}

impl Reordering {
    pub(crate) fn new(plan: &ReorderingPlan, streams: Streams) -> Reordering {
        let (plan, rng) = (*plan, streams.own());
        Reordering { plan, rng, come: 0, passed: 0, held: VecDeque::new() }
    }

    fn holds_back_next(&mut self) -> bool {
        self.come += 1;
        match self.plan.held_back {
            HeldBack::Random(probability) => probability.happens(&mut self.rng),
            HeldBack::Every(n) => self.come.is_multiple_of(n),
        }
    }
}

impl Behaviour for Reordering {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        if self.holds_back_next() {
            let behind = self.plan.gap.map_or(u64::MAX, |gap| self.passed + u64::from(gap));
            self.held.push_back(Held { packet, behind, at: now + self.plan.at_most });
            return;
        }
        out.pass(packet);
        self.passed += 1;
        let passed = self.passed;
        let free = self.held.iter().take_while(|held| held.behind <= passed).count();
        for held in self.held.drain(..free) {
            out.pass(held.packet);
        }
    }
    fn poll_at(&self) -> Option<Instant> {
        self.held.front().map(|held| held.at)
    }
    fn advance(&mut self, _now: Instant, out: &mut Outbox) {
        if let Some(held) = self.held.pop_front() {
            out.pass(held.packet);
        }
    }
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.held.iter().map(|held| &held.packet))
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.held.drain(..).map(|held| held.packet));
    }
}
