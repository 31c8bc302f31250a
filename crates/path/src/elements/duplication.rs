//! Random duplicates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability, Rng};

use crate::behaviour::{Behaviour, Outbox, Streams, Transit};
use crate::fault::Fault;
use crate::text_or_table::text_or_table;

text_or_table! {
    DuplicateSpec, "Duplicate", "Random duplicates.", "a probability such as \"1 %\", or a table",
    /// One copy of each packet with that probability.
    Once(Probability),
    /// In full.
    Table(DuplicationPlan),
}

/// Random duplicates: each copy follows its packet at once. Later elements treat both
/// independently: each may be lost or delayed. A packet and its copy are reordered only where
/// packets may be reordered at all.
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

impl DuplicateSpec {
    /// None when it never happens.
    pub(crate) fn plan(&self) -> Result<Option<DuplicationPlan>, Fault> {
        let plan = match self {
            DuplicateSpec::Once(probability) => {
                DuplicationPlan { probability: *probability, copies: one() }
            }
            DuplicateSpec::Table(plan) => *plan,
        };
        if !(1..=MOST_COPIES).contains(&plan.copies) {
            let what = format!("{} copies: give 1 to {MOST_COPIES}", plan.copies);
            return Err(Fault::below("copies", what));
        }
        Ok(Some(plan).filter(|plan| plan.probability != Probability::NEVER))
    }
}

/// More copies of a packet would be a flood, not a fault of a network.
pub(crate) const MOST_COPIES: u8 = 100;

impl DuplicationPlan {
    pub(crate) fn describe(&self) -> String {
        let DuplicationPlan { probability, copies } = self;
        let what = match copies {
            1 => "duplicated".into(),
            copies => format!("followed by {copies} copies of it"),
        };
        format!("Each packet is {what} with a probability of {probability}.")
    }
}

/// Decides for each packet that comes.
#[derive(Debug)]
pub(crate) struct Duplication {
    plan: DuplicationPlan,
    rng: Rng,
}

impl Duplication {
    pub(crate) fn new(plan: &DuplicationPlan, streams: Streams) -> Duplication {
        Duplication { plan: *plan, rng: streams.own() }
    }
}

impl Behaviour for Duplication {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        let copies =
            if self.plan.probability.happens(&mut self.rng) { self.plan.copies } else { 0 };
        let original = out.passed.len();
        out.pass(packet);
        for _ in 0..copies {
            let id = out.next_id();
            let copy = out.passed[original].copy(id);
            out.pass(copy);
        }
    }
}
