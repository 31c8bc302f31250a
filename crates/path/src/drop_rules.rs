//! Packets to drop, named one by one or by what they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// Rules, in order; a packet that meets several counts for all of them and is dropped by the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct DropSpec(pub Vec<DropRule>);

/// Which packets to drop: those that meet every condition given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropRule {
    /// What they are. Default: any packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PacketKind>,
    /// The bytes of the stream that they carry one of, counted from 0 for the first byte after the
    /// SYN: `"10000..11448"`, the end not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Which of those that meet the conditions above, counted from 1 as they come: `[1, 3]` or
    /// ranges as text, `["5..8"]` with both ends. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<Vec<Nth>>,
    /// With which probability each of those is dropped. Default: 100 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
}

/// A number, or a range of numbers such as `5..8`, both ends included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Nth {
    /// That one.
    One(u64),
    /// From one to another.
    Range(String),
}

/// What a packet is.
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
    /// A segment without data, SYN, FIN and RST.
    PureAck,
    /// A segment with data.
    Data,
    /// A segment all of whose bytes have passed here before.
    Retransmission,
}

text_or_table!(
    DropSpec, "Drop", "Packets to drop.",
    "a table such as { kind = \"syn\", nth = [1] }, or a list of them",
    text(String): |text: &str| Err::<DropSpec, String>(format!(
        "`{text}` does not tell which: write a table such as {{ kind = \"syn\", nth = [1] }}"
    )),
    table: DropRule, list: list
);

impl From<DropRule> for DropSpec {
    fn from(rule: DropRule) -> DropSpec {
        DropSpec(vec![rule])
    }
}
impl From<Vec<DropRule>> for DropSpec {
    fn from(rules: Vec<DropRule>) -> DropSpec {
        DropSpec(rules)
    }
}

/// Rules, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropPlan {
    /// In the order in which they are asked.
    pub rules: Vec<DropRule>,
}

impl DropSpec {
    pub(crate) fn plan(&self) -> Result<DropPlan, Fault> {
        Ok(DropPlan { rules: self.0.clone() })
    }
}

impl DropPlan {
    pub(crate) fn describe(&self) -> String {
        String::new()
    }
}

/// At work.
#[derive(Debug)]
pub(crate) struct DropRules {}

impl DropRules {
    pub(crate) fn new(_plan: &DropPlan, _streams: Streams) -> DropRules {
        DropRules {}
    }
}

impl Behaviour for DropRules {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        out.pass(packet);
    }
}
