//! One of several flows of a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Span;
use tcplab_workload::{SocketOptions, Traffic, WorkloadSpec};

use super::endpoint::EndpointSpec;

/// A flow by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The part behind `flow.`
    pub name: String,
    /// What it is.
    pub spec: FlowSpec,
}

/// One of several flows that share the path, each with a connection of its own. Where there are
/// flows, they are all there is: `[workload]` says what those do that do not say it themselves, and
/// `[client]` and `[server]` have the options that they do not set themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// When it begins, after the beginning of the trial. Default: 0 s.
    #[serde(default, skip_serializing_if = "is_at_once")]
    pub start: Span,
    /// So many flows, all alike, begin together: 1 to 100, or 0 for none, where that is a level of
    /// what is varied. Default: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(max = 100))]
    pub count: u64,
    /// Whether it is only there for the others to meet: the trial does not wait for its end, its
    /// calls may fail, and it is no part of `fairness` and `convergence`. Default: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// What it does. Default: as `[workload]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadSpec>,
    /// What it does by a rule, in place of a workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// Of traffic: for how long, from its start; nothing is begun after that. Default: until the
    /// trial ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting: Option<Span>,
    /// What is otherwise at its client.
    #[serde(default, skip_serializing_if = "FlowEnd::is_empty")]
    pub client: FlowEnd,
    /// What is otherwise at its server.
    #[serde(default, skip_serializing_if = "FlowEnd::is_empty")]
    pub server: FlowEnd,
}

impl Default for FlowSpec {
    fn default() -> FlowSpec {
        FlowSpec {
            start: Span::ZERO,
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

/// What one end of a flow has otherwise than the host that it is on. The stack and the settings
/// of the network namespace are of the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowEnd {
    /// Options of its socket, the server's of the one it listens on; they go before those of the
    /// host.
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
fn is_at_once(start: &Span) -> bool {
    start.is_zero()
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(count: &u64) -> bool {
    *count == 1
}
