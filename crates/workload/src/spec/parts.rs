//! The tables of a `[workload]` section.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Span};

/// When a slow receiver does not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// After how much that it has read, each time.
    pub every: Bytes,
    /// For how long.
    pub lasting: Span,
}

/// How the sender of a bulk of data closes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CloseMode {
    /// It closes its half, waits until the other end has read everything and closed, and closes.
    #[default]
    Orderly,
    /// It closes as soon as its socket has taken the last byte, however much of it was sent.
    AtOnce,
}

impl CloseMode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn is_orderly(&self) -> bool {
        *self == CloseMode::Orderly
    }
}

/// Requests and responses, one after the other or several at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// How many: at least 1.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// The size of a request, at most 16 MiB.
    pub request: Bytes,
    /// The size of a response, at most 16 MiB.
    pub response: Bytes,
    /// In how many writes a request is written. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub writes: u64,
    /// How many requests are under way at once: from 1 to `count`. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub pipelined: u64,
    /// How long the client thinks between a response and its next request. Default: not at all.
    #[serde(default)]
    pub think: Span,
}

fn one() -> u64 {
    1
}

/// Interactive typing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keystrokes {
    /// How many: at least 1.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// The time from one echo to the next keystroke.
    pub every: Span,
    /// Size of a keystroke. Default: 1 B.
    #[serde(default = "one_byte")]
    pub size: Bytes,
}

/// Silence between two exchanges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// How long.
    pub lasting: Span,
    /// Size of the exchange before and after. Default: 1 B.
    #[serde(default = "one_byte")]
    pub talk: Bytes,
}

fn one_byte() -> Bytes {
    Bytes::new(1)
}

/// How many connections there are. Metrics of the trial are of all of them: counts are sums, rates
/// those of all bytes over all the time, `max_in_flight` and `max_window` the most of one
/// connection, `rtt.median` and `rtt.p95` medians of the connections'. The tables of episodes,
/// interruptions, findings and ends, samples (`mean_rtt`) and figures are of the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// How many in all: from 1 to 10000.
    #[schemars(range(min = 1, max = 10000))]
    pub total: u64,
    /// How many at the same time: from 1 to `total`, at most 100. Default: 1. In virtual time a
    /// connection counts until it is closed on both sides, in the kernel until `close` returns.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100))]
    pub at_once: u64,
}

impl Connections {
    pub(super) const TOTAL_MAX: u64 = 10_000;
    pub(super) const AT_ONCE_MAX: u64 = 100;
}
