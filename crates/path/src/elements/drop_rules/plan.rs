//! Rules, checked, and what packets they are about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Probability;
use tcplab_wire::{TcpFlags, TcpPacket};

use super::flows::Carried;

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
    /// Which of those are dropped: numbers from 1 on, first and last, in order and
    /// apart. Empty: all.
    pub nth: Vec<(u64, u64)>,
    /// With which probability.
    pub probability: Probability,
}

impl DropPlan {
    /// Whether a rule drops only some of the packets that it names.
    pub(crate) fn leaves_to_chance(&self) -> bool {
        self.rules.iter().any(|rule| rule.probability != Probability::ALWAYS)
    }
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

    pub(super) fn names(&self, number: u64) -> bool {
        self.nth.is_empty() || self.nth.iter().any(|(from, to)| (*from..=*to).contains(&number))
    }
}

/// What a packet is. One that is not TCP is none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketKind {
    /// A SYN without an ACK.
    Syn,
    /// A SYN with an ACK.
    SynAck,
    /// A segment with a FIN.
    Fin,
    /// A segment with a RST.
    Rst,
    /// An acknowledgement without data, SYN, FIN and RST.
    PureAck,
    /// A segment with data.
    Data,
    /// A segment with data, all of it from before the furthest byte of its stream that has come
    /// here: a keep-alive probe with a byte is one, too; a segment with some old and some new data
    /// is none, nor is a SYN or a FIN alone. After a tail of a stream was lost before it came here,
    /// that tail is new.
    Retransmission,
}

impl RulePlan {
    pub(super) fn is_met(&self, tcp: Option<&TcpPacket<'_>>, carried: &Carried) -> bool {
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
                // A SYN, FIN or data adds to the sequence length; a RST does not.
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
