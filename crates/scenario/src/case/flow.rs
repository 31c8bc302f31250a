//! One of several flows of a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Span;
use tcplab_workload::{SocketOptions, Traffic, WorkloadSpec};

use super::endpoint::EndpointSpec;

/// A flow by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The part after `flow.`
    pub name: String,
    /// Its settings.
    pub spec: FlowSpec,
}

/// One of several flows that share the path, each with its own connection. A scenario with flows
/// has no other connection: `[workload]`, `[client]` and `[server]` are the defaults of its flows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// When it starts, after the start of the trial. Default: 0 s.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub start: Span,
    /// By how much further apart its ends are: its packets wait so long before they enter the path,
    /// in each direction. Its round trip is that of the path and twice this. Default: 0 s.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub delay: Span,
    /// How many equal flows start together: 1 to 100, or 0 for none (useful as a level of the
    /// matrix). Default: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(max = 100))]
    pub count: u64,
    /// Whether it is background traffic: the trial does not wait for its end, its calls may fail,
    /// and `fairness` and `convergence` exclude it. Default: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// What it does. Default: `[workload]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadSpec>,
    /// Traffic by a rule, instead of a workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// For `traffic`: how long after its start it starts transfers; for `bulk`, how long it sends.
    /// Default: until the trial ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting: Option<Span>,
    /// Its own options at the client.
    #[serde(default, skip_serializing_if = "FlowEnd::is_empty")]
    pub client: FlowEnd,
    /// Its own options at the server.
    #[serde(default, skip_serializing_if = "FlowEnd::is_empty")]
    pub server: FlowEnd,
}

impl Default for FlowSpec {
    fn default() -> FlowSpec {
        FlowSpec {
            start: Span::ZERO,
            delay: Span::ZERO,
            count: one(),
            background: false,
            workload: None,
            traffic: None,
            lasting: None,
            client: FlowEnd::default(),
            server: FlowEnd::default(),
        }
    }
}

/// Options of one end of a flow that differ from its host's. Stack and sysctls belong to the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowEnd {
    /// Options of its socket (on the server, of the listening socket); they override the host's.
    #[serde(default, skip_serializing_if = "SocketOptions::is_empty")]
    pub socket: SocketOptions,
    /// Options of the sockets that the server accepts.
    #[serde(default, skip_serializing_if = "SocketOptions::is_empty")]
    pub accepted: SocketOptions,
}

impl FlowEnd {
    fn is_empty(&self) -> bool {
        self.socket.is_empty() && self.accepted.is_empty()
    }

    pub(super) fn on(&self, host: &EndpointSpec) -> EndpointSpec {
        EndpointSpec {
            socket: self.socket.or(&host.socket),
            accepted: self.accepted.or(&host.accepted),
            ..host.clone()
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_nothing(span: &Span) -> bool {
    span.is_zero()
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(count: &u64) -> bool {
    *count == 1
}
