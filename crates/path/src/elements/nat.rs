//! A NAT or a firewall that forgets connections which are idle.

use std::collections::BTreeMap;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};
use tcplab_wire::{FrameView, TcpFlags, TcpPacket, TcpRepr};

use super::answerer::answerer;
use crate::Cause;
use crate::behaviour::{Behaviour, Outbox, Transit};
use crate::fault::Fault;
use crate::text_or_table::text_or_table;

text_or_table! {
    NatSpec, "NatIdle", "How long a NAT remembers an idle connection.",
    "a time such as \"5 min\", or a table",
    /// So long; later packets are dropped without an answer.
    Idle(Span),
    /// In full.
    Table(NatPlan),
}

/// A NAT or a stateful firewall: it knows the TCP connections whose SYN passed, forgets one that is
/// idle, and drops packets of those that it does not know. Each direction counts its own packets;
/// data and ACKs make both the same within a round trip. Addresses and ports stay as they are, and
/// what is not TCP passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Nat")]
pub struct NatPlan {
    /// A connection without a packet for longer than this is forgotten; above 0. RFC 5382 asks for
    /// 2 h 4 min or more (REQ-5); many NATs of homes and mobile networks wait some minutes.
    pub idle: Span,
    /// Whether a RST answers a packet of a connection that it does not know. Default: false.
    #[serde(default)]
    pub answer: bool,
}

impl NatSpec {
    pub(crate) fn plan(&self) -> Result<NatPlan, Fault> {
        let (plan, below) = match *self {
            NatSpec::Idle(idle) => (NatPlan { idle, answer: false }, ""),
            NatSpec::Table(plan) => (plan, "idle"),
        };
        if plan.idle == Span::ZERO {
            let what = "a NAT that forgets at once lets nothing pass: give a time above 0";
            return Err(Fault::below(below, what));
        }
        Ok(plan)
    }
}

impl NatPlan {
    pub(crate) fn describe(&self) -> String {
        let how = if self.answer { "answered by a RST" } else { "dropped silently" };
        let idle = self.idle;
        format!("A NAT forgets TCP connections idle for more than {idle}; their packets are {how}.")
    }
}

/// The connections that are known at once; a SYN beyond is dropped. Less than a hundred bytes each.
const MOST_CONNECTIONS: usize = 65_536;

/// Remembers when each connection had a packet last.
#[derive(Debug)]
pub(crate) struct Nat {
    plan: NatPlan,
    last: BTreeMap<Ends, Instant>,
    /// Before this none can be forgotten to make room.
    next_expiry: Instant,
}

type Ends = (IpAddr, u16, IpAddr, u16);

impl Nat {
    pub(crate) fn new(plan: NatPlan) -> Nat {
        Nat { plan, last: BTreeMap::new(), next_expiry: Instant::ZERO }
    }

    /// Whether a segment passes that comes now.
    fn knows(&mut self, now: Instant, tcp: &TcpPacket<'_>) -> bool {
        let ends = (tcp.src(), tcp.src_port(), tcp.dst(), tcp.dst_port());
        let opens = tcp.flags().contains(TcpFlags::SYN);
        let known = self.last.get(&ends).map(|last| *last + self.plan.idle >= now);
        let passes = match known {
            Some(is_fresh) => opens || is_fresh,
            None => opens && self.has_room(now),
        };
        if passes {
            self.last.insert(ends, now);
        } else {
            self.last.remove(&ends);
        }
        passes
    }

    fn has_room(&mut self, now: Instant) -> bool {
        if self.last.len() >= MOST_CONNECTIONS && now >= self.next_expiry {
            let idle = self.plan.idle;
            self.last.retain(|_, last| *last + idle >= now);
            let oldest = self.last.values().min().copied();
            self.next_expiry = oldest.unwrap_or(now) + idle;
        }
        self.last.len() < MOST_CONNECTIONS
    }
}

impl Behaviour for Nat {
    fn accept(&mut self, now: Instant, transit: Transit, out: &mut Outbox) {
        let Some(tcp) = FrameView::of_packet(&transit.packet.bytes).tcp() else {
            return out.pass(transit);
        };
        if self.knows(now, &tcp) {
            return out.pass(transit);
        }
        if self.plan.answer
            && let Some(reset) = reset_for(&tcp)
        {
            out.answer(now, transit.packet.id, reset);
        }
        out.drop(now, transit, Cause::Forgotten);
    }
}

/// A RST in the name of the receiver.
fn reset_for(tcp: &TcpPacket<'_>) -> Option<Vec<u8>> {
    let reset = TcpRepr::reset_for(tcp.seq(), tcp.ack(), tcp.flags(), tcp.sequence_len())?;
    let reset = TcpRepr { src_port: tcp.dst_port(), dst_port: tcp.src_port(), ..reset };
    Some(reset.to_packet(&answerer(&tcp.ip()), &[]))
}

#[cfg(test)]
mod tests;
