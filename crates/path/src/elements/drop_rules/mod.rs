//! Packets to drop, named one by one or by what they are.

mod flows;
mod plan;
mod spec;

use tcplab_units::{Instant, Rng};
use tcplab_wire::FrameView;

pub use plan::{DropPlan, PacketKind, RulePlan};
pub use spec::{DropRule, DropSpec, Nth};

use crate::Cause;
use crate::behaviour::{Behaviour, Outbox, Streams, Transit};
use flows::{Carried, Flows};

/// Asks each packet that comes.
#[derive(Debug)]
pub(crate) struct DropRules {
    rules: Vec<Rule>,
    /// The streams, if a rule asks for them.
    flows: Option<Flows>,
    /// Whether a rule asks what packets are.
    looks_inside: bool,
}

/// A rule at work.
#[derive(Debug)]
struct Rule {
    plan: RulePlan,
    /// How many packets have met it.
    met: u64,
    rng: Rng,
}

impl DropRules {
    pub(crate) fn new(plan: &DropPlan, streams: Streams) -> DropRules {
        let rules = plan.rules.iter().zip(1..).map(|(plan, number)| Rule {
            plan: plan.clone(),
            met: 0,
            rng: streams.named(&(number).to_string()),
        });
        let follows_streams =
            |rule: &RulePlan| rule.bytes.is_some() || rule.kind == Some(PacketKind::Retransmission);
        DropRules {
            rules: rules.collect(),
            flows: plan.rules.iter().any(follows_streams).then(Flows::default),
            looks_inside: plan.rules.iter().any(|it| it.kind.is_some() || it.bytes.is_some()),
        }
    }

    /// The first rule that drops this packet: its number, and which packet to meet it this is.
    fn ask(&mut self, packet: &[u8]) -> Option<(u32, u64)> {
        let tcp = if self.looks_inside { FrameView::of_packet(packet).tcp() } else { None };
        let carried = match (&mut self.flows, &tcp) {
            (Some(flows), Some(tcp)) => flows.see(tcp),
            _ => Carried::default(),
        };
        let mut dropped = None;
        for (rule, number) in self.rules.iter_mut().zip(1..) {
            if !rule.plan.is_met(tcp.as_ref(), &carried) {
                continue;
            }
            rule.met += 1;
            // A draw for each packet that meets the conditions, so that the third retransmission
            // has the same luck whatever else comes between, and whichever numbers are named.
            let is_hit = rule.plan.probability.happens(&mut rule.rng);
            if dropped.is_none() && is_hit && rule.plan.names(rule.met) {
                dropped = Some((number, rule.met));
            }
        }
        dropped
    }
}

impl Behaviour for DropRules {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match self.ask(&packet.packet.bytes) {
            Some((number, nth)) => out.drop(now, packet, Cause::Rule { number, nth }),
            None => out.pass(packet),
        }
    }
}

#[cfg(test)]
mod tests;
