//! Random duplicates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// Random duplicates as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DuplicateSpec {
    /// One copy of each packet with that probability.
    Once(Probability),
    /// In full.
    Table(DuplicationPlan),
}

/// Random duplicates: copies that follow their packet at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Duplication")]
pub struct DuplicationPlan {
    /// For each packet.
    pub probability: Probability,
    /// How many copies: 1 to 100. Default: 1.
    #[serde(default = "one")]
    pub copies: u8,
}

fn one() -> u8 {
    1
}

text_or_table!(
    DuplicateSpec, "Duplicate", "Random duplicates.", "a probability such as \"1 %\", or a table",
    text(Probability): |text: &str| text.parse().map(DuplicateSpec::Once), table: DuplicationPlan
);

impl From<DuplicationPlan> for DuplicateSpec {
    fn from(table: DuplicationPlan) -> DuplicateSpec {
        DuplicateSpec::Table(table)
    }
}

impl DuplicateSpec {
    /// None when it never happens.
    pub(crate) fn plan(&self) -> Result<Option<DuplicationPlan>, Fault> {
        Err(Fault::here("not yet"))
    }
}

impl DuplicationPlan {
    pub(crate) fn describe(&self) -> String {
        String::new()
    }
}

/// At work.
#[derive(Debug)]
pub(crate) struct Duplication {}

impl Duplication {
    pub(crate) fn new(_plan: &DuplicationPlan, _streams: Streams) -> Duplication {
        Duplication {}
    }
}

impl Behaviour for Duplication {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        out.pass(packet);
    }
}
