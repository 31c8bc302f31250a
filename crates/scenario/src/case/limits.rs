//! What is sampled during a trial, and how long it may take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Span;

/// What is sampled while a trial runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplingSpec {
    /// Interval between samples of `TCP_INFO` of both sockets, at least 1 ms. Linux gives none
    /// while a system call works on the socket: where that is nearly always so, at full speed on
    /// one host, some are missed; the trial says how many. Default: 10 ms.
    #[serde(default = "default_tcp_info")]
    pub tcp_info: Span,
    /// Whether to sample whenever an acknowledgement has changed the sender's state instead. Costs
    /// no virtual time; not on this machine's own kernel, which it would slow down. Default: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each_ack: bool,
}

impl SamplingSpec {
    /// The shortest interval: more frequent samples would slow down the sockets.
    pub(crate) const SHORTEST: Span = Span::from_millis(1);

    /// Time between samples; none where each acknowledgement has its own.
    pub fn interval(&self) -> Option<Span> {
        (!self.each_ack).then_some(self.tcp_info)
    }
}

impl Default for SamplingSpec {
    fn default() -> SamplingSpec {
        SamplingSpec { tcp_info: default_tcp_info(), each_ack: false }
    }
}

fn default_tcp_info() -> Span {
    Span::from_millis(10)
}

/// Time limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsSpec {
    /// Longest duration of a trial. A longer one is stopped and counts as failed. Default: 120 s.
    #[serde(default = "default_trial")]
    pub trial: Span,
}

impl Default for LimitsSpec {
    fn default() -> LimitsSpec {
        LimitsSpec { trial: default_trial() }
    }
}

fn default_trial() -> Span {
    Span::from_secs(120)
}
