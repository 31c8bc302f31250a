//! A limit to the size of packets, as of a link with a smaller MTU than the endpoints'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// The largest packet that passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MtuSpec {
    /// That size; larger ones are answered.
    Size(Bytes),
    /// In full.
    Table(MtuTable),
}

/// The largest packet that passes, and what is said of a larger one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MtuLimit")]
pub struct MtuTable {
    /// The largest packet that passes, in bytes of IP; at least 68 B (RFC 791).
    pub size: Bytes,
    /// Whether the sender of a larger one is told so by ICMP (RFC 792, RFC 1191, RFC 4443). Without
    /// it, the path is a black hole for large packets. Default: true.
    #[serde(default = "yes")]
    pub answer: bool,
}

fn yes() -> bool {
    true
}

text_or_table!(
    MtuSpec, "Mtu", "The largest packet that passes.",
    "a size such as \"1400 B\", or a table",
    text(Bytes): |text: &str| text.parse().map(MtuSpec::Size), table: MtuTable
);

impl From<MtuTable> for MtuSpec {
    fn from(table: MtuTable) -> MtuSpec {
        MtuSpec::Table(table)
    }
}

/// The largest packet that passes, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuPlan {
    /// In bytes of IP.
    pub size: Bytes,
    /// Whether the sender of a larger one is told.
    pub answer: bool,
}

impl MtuSpec {
    pub(crate) fn plan(&self) -> Result<MtuPlan, Fault> {
        let (size, answer) = match self {
            MtuSpec::Size(size) => (*size, true),
            MtuSpec::Table(table) => (table.size, table.answer),
        };
        Ok(MtuPlan { size, answer })
    }
}

impl MtuPlan {
    pub(crate) fn describe(&self) -> String {
        String::new()
    }
}

/// At work.
#[derive(Debug)]
pub(crate) struct MtuLimit {}

impl MtuLimit {
    pub(crate) fn new(_plan: &MtuPlan, _streams: Streams) -> MtuLimit {
        MtuLimit {}
    }
}

impl Behaviour for MtuLimit {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        out.pass(packet);
    }
}
