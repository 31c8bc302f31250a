//! A policer: what comes faster than agreed is dropped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;

/// A token bucket without a queue: a packet for which there are no tokens is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Policer")]
pub struct PolicerSpec {
    /// How fast tokens come, in bits of IP packets.
    pub rate: Rate,
    /// How many tokens there can be: what may come at once after a pause; at least 1514 B.
    pub burst: Bytes,
}

impl PolicerSpec {
    pub(crate) fn plan(&self) -> Result<PolicerSpec, Fault> {
        Ok(*self)
    }
}

impl PolicerSpec {
    pub(crate) fn describe(&self) -> String {
        String::new()
    }
}

/// At work.
#[derive(Debug)]
pub(crate) struct Policer {}

impl Policer {
    pub(crate) fn new(_plan: &PolicerSpec, _streams: Streams) -> Policer {
        Policer {}
    }
}

impl Behaviour for Policer {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        out.pass(packet);
    }
}
