//! Packets to drop, named one by one or by what they are.

mod flows;
mod spec;

use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability, Rng};
use tcplab_wire::{FrameView, TcpFlags, TcpPacket};

pub use spec::{DropRule, DropSpec, Nth, PacketKind};

use crate::Cause;
use crate::element::{Behaviour, Outbox, Streams, Transit};
use flows::{Carried, Flows};

/// Rules, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropPlan {
    /// In the order in which they are asked.
    pub rules: Vec<RulePlan>,
}

/// A rule, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulePlan {
    /// What packets meet it; all when none is given.
    pub kind: Option<PacketKind>,
    /// The offsets of the stream, first and one beyond the last, of which they carry one.
    pub bytes: Option<(u64, u64)>,
    /// Which of those are dropped: numbers from 1 on, first and last. Empty: all.
    pub nth: Vec<(u64, u64)>,
    /// With which probability.
    pub probability: Probability,
}

impl DropPlan {
    pub(crate) fn describe(&self) -> String {
        let rules: Vec<_> = self.rules.iter().map(RulePlan::describe).collect();
        format!("Dropped by rule: {}.", rules.join("; "))
    }
}

impl RulePlan {
    /// Such as `retransmission 1, 5 to 8`.
    fn describe(&self) -> String {
        let RulePlan { kind, bytes, nth, probability } = self;
        let what = kind.map_or("packet", PacketKind::in_words);
        let numbers = |(from, to): &(u64, u64)| {
            if from == to { from.to_string() } else { format!("{from} to {to}") }
        };
        let mut text = match nth.as_slice() {
            [] => format!("each {what}"),
            nth => format!("{what} {}", nth.iter().map(numbers).collect::<Vec<_>>().join(", ")),
        };
        if let Some((start, end)) = bytes {
            text += &format!(" with any of the bytes {start} to {} of its stream", end - 1);
        }
        if *probability != Probability::ALWAYS {
            text += &format!(", with a probability of {probability}");
        }
        text
    }

    fn names(&self, number: u64) -> bool {
        self.nth.is_empty() || self.nth.iter().any(|(from, to)| (*from..=*to).contains(&number))
    }
}

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

impl RulePlan {
    fn is_met(&self, tcp: Option<&TcpPacket<'_>>, carried: &Carried) -> bool {
        let is_kind = self.kind.is_none_or(|kind| tcp.is_some_and(|tcp| kind.is(tcp, carried)));
        let has_byte = self.bytes.is_none_or(|(start, end)| {
            carried.offsets.as_ref().is_some_and(|offsets| {
                // Offsets before the first byte are those of nothing that a rule can name.
                let offsets = offsets.start.max(0) as u64..offsets.end.max(0) as u64;
                offsets.start < end && start < offsets.end
            })
        });
        is_kind && has_byte
    }
}

impl PacketKind {
    fn is(self, tcp: &TcpPacket<'_>, carried: &Carried) -> bool {
        let has = |flags| tcp.flags().contains(flags);
        match self {
            PacketKind::Syn => has(TcpFlags::SYN) && !has(TcpFlags::ACK),
            PacketKind::SynAck => has(TcpFlags::SYN | TcpFlags::ACK),
            PacketKind::Fin => has(TcpFlags::FIN),
            PacketKind::Rst => has(TcpFlags::RST),
            PacketKind::PureAck => {
                // What else moves the sequence is told by its length; a RST does not.
                has(TcpFlags::ACK) && !has(TcpFlags::RST) && tcp.sequence_len() == 0
            }
            PacketKind::Data => tcp.payload_len() > 0,
            PacketKind::Retransmission => carried.is_old,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            PacketKind::Syn => "SYN",
            PacketKind::SynAck => "SYN-ACK",
            PacketKind::Fin => "FIN",
            PacketKind::Rst => "RST",
            PacketKind::PureAck => "pure ACK",
            PacketKind::Data => "data segment",
            PacketKind::Retransmission => "retransmission",
        }
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
