//! Cross traffic: packets of others that share the bottleneck.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate, Span};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// Traffic of others: one flow of it, or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CrossSpec(pub Vec<CrossFlow>);

/// One flow of others' packets. They wait and are sent at the bottleneck as all others, and leave
/// the path behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossFlow {
    /// How much of it comes on average while it is on, in bits of IP packets.
    pub rate: Rate,
    /// The size of its packets. Default: 1500 B.
    #[serde(default = "full_size")]
    pub size: Bytes,
    /// How its packets are spaced. Default: `poisson`.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// How long it is on, on average; the times are exponentially distributed. Default: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Span>,
    /// How long it is off between, on average; likewise. Needs `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<Span>,
    /// When it begins. Default: at once.
    #[serde(default, skip_serializing_if = "crate::schedule::is_no_time")]
    pub from: Span,
    /// When it ends. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
}

/// How packets are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At random, each at a moment that knows nothing of the others.
    #[default]
    Poisson,
    /// Evenly.
    Even,
}

fn full_size() -> Bytes {
    Bytes::new(1500)
}

text_or_table!(
    CrossSpec, "CrossTraffic", "Traffic of others that shares the bottleneck.",
    "a table such as { rate = \"2 Mbit/s\" }, or a list of them",
    text(Rate): |text: &str| text.parse().map(|rate| CrossSpec(vec![CrossFlow {
        rate, size: full_size(), arrivals: Arrivals::default(), on: None, off: None,
        from: Span::ZERO, until: None,
    }])),
    table: CrossFlow, list: list
);

impl From<CrossFlow> for CrossSpec {
    fn from(flow: CrossFlow) -> CrossSpec {
        CrossSpec(vec![flow])
    }
}
impl From<Vec<CrossFlow>> for CrossSpec {
    fn from(flows: Vec<CrossFlow>) -> CrossSpec {
        CrossSpec(flows)
    }
}

impl CrossSpec {
    /// Each flow, checked.
    pub(crate) fn plan(&self, has_rate: bool) -> Result<Vec<CrossFlow>, Fault> {
        if !has_rate {
            return Err(Fault::here(
                "cross traffic needs a rate: without one it gets in nobody's way",
            ));
        }
        Ok(self.0.clone())
    }
}

impl CrossFlow {
    pub(crate) fn describe(&self) -> String {
        String::new()
    }
}

/// At work.
#[derive(Debug)]
pub(crate) struct CrossTraffic {}

impl CrossTraffic {
    pub(crate) fn new(_plan: &CrossFlow, _streams: Streams) -> CrossTraffic {
        CrossTraffic {}
    }
}

impl Behaviour for CrossTraffic {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        out.pass(packet);
    }
}
