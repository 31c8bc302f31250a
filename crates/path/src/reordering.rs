//! Packets that others overtake.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability, Span};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;

/// Packets that others overtake: which (`probability` or `every`), and by how much (`gap` packets
/// or `extra` time).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Reorder")]
pub struct ReorderSpec {
    /// The probability that a packet is held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
    /// Every n-th packet is held back, instead of `probability`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// It is held back until so many later packets have passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<u32>,
    /// It is held back for so long; with `gap`, for so long at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Span>,
}

/// Packets that others overtake, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReorderingPlan {
    /// As written.
    pub spec: ReorderSpec,
}

impl ReorderSpec {
    /// None when it never happens.
    pub(crate) fn plan(&self) -> Result<Option<ReorderingPlan>, Fault> {
        Err(Fault::here("not yet"))
    }
}

impl ReorderingPlan {
    pub(crate) fn describe(&self) -> String {
        String::new()
    }
}

/// At work.
#[derive(Debug)]
pub(crate) struct Reordering {}

impl Reordering {
    pub(crate) fn new(_plan: &ReorderingPlan, _streams: Streams) -> Reordering {
        Reordering {}
    }
}

impl Behaviour for Reordering {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        out.pass(packet);
    }
}
