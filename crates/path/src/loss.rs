//! Random loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability, Rng};

use crate::Cause;
use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// Random loss as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LossSpec {
    /// Each packet, independently of the others.
    Independent(Probability),
    /// Another law.
    Table(LossTable),
}

/// Another law of loss: exactly one of its keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LossModel")]
pub struct LossTable {
    /// A link with a good and a bad state (Gilbert 1960, Elliott 1963).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gilbert_elliott: Option<GilbertElliott>,
    /// Every n-th packet, counted from the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// Bursts: several packets in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<LossBurst>,
}

/// The four parameters of the Gilbert-Elliott channel. Before each packet the state may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// The probability to go from the good state to the bad one (p).
    pub p: Probability,
    /// The probability to go from the bad state to the good one (r).
    pub r: Probability,
    /// The probability that a packet is lost in the good state (1 − k). Default: 0 %.
    #[serde(default)]
    pub good: Probability,
    /// The probability that a packet is lost in the bad state (1 − h). Default: 100 %.
    #[serde(default = "always")]
    pub bad: Probability,
}

fn always() -> Probability {
    Probability::ALWAYS
}

/// Losses of several packets in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossBurst {
    /// The probability that a burst begins with a packet.
    pub probability: Probability,
    /// How many packets in a row are lost.
    pub length: u32,
}

text_or_table!(
    LossSpec, "Loss", "Random loss.", "a probability such as \"0.3 %\", or a table",
    text(Probability): |text: &str| text.parse().map(LossSpec::Independent), table: LossTable
);

impl From<LossTable> for LossSpec {
    fn from(table: LossTable) -> LossSpec {
        LossSpec::Table(table)
    }
}

/// A law of loss, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossPlan {
    /// Each packet, independently of the others.
    Independent(Probability),
    /// A link with a good and a bad state.
    GilbertElliott(GilbertElliott),
    /// Every n-th packet.
    Every(u64),
    /// Several packets in a row.
    Burst(LossBurst),
}

impl LossSpec {
    /// None when nothing is ever lost.
    pub(crate) fn plan(&self) -> Result<Option<LossPlan>, Fault> {
        match self {
            LossSpec::Independent(probability) => {
                Ok((*probability != Probability::NEVER)
                    .then_some(LossPlan::Independent(*probability)))
            }
            LossSpec::Table(_) => Err(Fault::here("not yet")),
        }
    }
}

impl LossPlan {
    pub(crate) fn describe(&self) -> String {
        match self {
            LossPlan::Independent(probability) => {
                format!("Each packet is lost with a probability of {probability}.")
            }
            _ => String::new(),
        }
    }
}

/// Decides for each packet that comes.
#[derive(Debug)]
pub(crate) struct Loss {
    plan: LossPlan,
    rng: Rng,
}

impl Loss {
    pub(crate) fn new(plan: &LossPlan, streams: Streams) -> Loss {
        Loss { plan: *plan, rng: streams.own() }
    }
}

impl Behaviour for Loss {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        let LossPlan::Independent(probability) = self.plan else { return };
        if probability.happens(&mut self.rng) {
            out.drop(now, packet, Cause::Loss);
        } else {
            out.pass(packet);
        }
    }
}
