//! Random bit errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// Random bit errors as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CorruptSpec {
    /// One bit anywhere, of each packet with that probability.
    Anywhere(Probability),
    /// In full.
    Table(CorruptionPlan),
}

/// Random bit errors. Checksums are left as they were, so that the receiver finds out, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Corruption")]
pub struct CorruptionPlan {
    /// For each packet.
    pub probability: Probability,
    /// Where the bits are. Default: `anywhere`.
    #[serde(default)]
    pub part: PacketPart,
    /// How many different bits change: 1 to 64. Default: 1.
    #[serde(default = "one")]
    pub bits: u8,
}

fn one() -> u8 {
    1
}

/// A part of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketPart {
    /// All of it.
    #[default]
    Anywhere,
    /// What IP and the transport carry: packets without any are spared.
    Payload,
    /// The headers of IP and of the transport.
    Headers,
}

text_or_table!(
    CorruptSpec, "Corrupt", "Random bit errors.", "a probability such as \"1 %\", or a table",
    text(Probability): |text: &str| text.parse().map(CorruptSpec::Anywhere), table: CorruptionPlan
);

impl From<CorruptionPlan> for CorruptSpec {
    fn from(table: CorruptionPlan) -> CorruptSpec {
        CorruptSpec::Table(table)
    }
}

impl CorruptSpec {
    /// None when it never happens.
    pub(crate) fn plan(&self) -> Result<Option<CorruptionPlan>, Fault> {
        Err(Fault::here("not yet"))
    }
}

impl CorruptionPlan {
    pub(crate) fn describe(&self) -> String {
        String::new()
    }
}

/// At work.
#[derive(Debug)]
pub(crate) struct Corruption {}

impl Corruption {
    pub(crate) fn new(_plan: &CorruptionPlan, _streams: Streams) -> Corruption {
        Corruption {}
    }
}

impl Behaviour for Corruption {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        out.pass(packet);
    }
}
