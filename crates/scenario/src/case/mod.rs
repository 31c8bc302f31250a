//! One cell of the matrix: all settings of its trials.

use serde::{Deserialize, Serialize};
use tcplab_path::{Direction, LinkPlan, PathError, PathSpec};
use tcplab_units::{Endpoint, Span};
use tcplab_workload::{Medium, PayloadMismatch, WorkloadSpec};

mod connections;
mod endpoint;
mod flow;
mod limits;
mod route;
mod stack;

pub use connections::PlannedConnection;
pub use endpoint::EndpointSpec;
pub use flow::{Flow, FlowEnd, FlowSpec};
pub use limits::{LimitsSpec, SamplingSpec};
pub use route::{RouteSpec, RouteValue};
pub use stack::{KERNEL_MODEL, Stack};

/// One cell of the matrix, checked and complete. A trial's process reads it as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its joined levels, such as `reno`: usable as a file name, unique in its scenario.
    pub name: String,
    /// Factors and levels in the order of the matrix: (`client.socket.congestion`, `reno`).
    pub levels: Vec<(String, String)>,
    /// The endpoint that opens the connection.
    pub client: EndpointSpec,
    /// The endpoint that accepts it.
    pub server: EndpointSpec,
    /// The path between them.
    pub path: PathSpec,
    /// A second path, for Multipath TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_path: Option<PathSpec>,
    /// What the applications do; of several flows, those without a workload of their own.
    pub workload: WorkloadSpec,
    /// The flows in the order of the file, where there are several; else there is one connection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// What is sampled while it runs.
    pub sampling: SamplingSpec,
    /// Time limits.
    pub limits: LimitsSpec,
    /// BLAKE3 of all settings, hexadecimal: equal hashes mean equal experiments. Name and levels do
    /// not count.
    pub hash: String,
}

impl Case {
    /// The forward and the reverse link of the path.
    ///
    /// # Errors
    /// None for a case of a parsed scenario.
    pub fn links(&self) -> Result<[LinkPlan; 2], PathError> {
        Ok([self.path.link(Direction::Forward)?, self.path.link(Direction::Reverse)?])
    }

    /// Those of the second path, if there is one.
    ///
    /// # Errors
    /// None for a case of a parsed scenario.
    pub fn second_links(&self) -> Result<Option<[LinkPlan; 2]>, PathError> {
        let Some(path) = &self.second_path else { return Ok(None) };
        Ok(Some([path.link(Direction::Forward)?, path.link(Direction::Reverse)?]))
    }

    /// Whether a path damages packets.
    pub fn damages_packets(&self) -> bool {
        self.path.damages_packets()
            || self.second_path.as_ref().is_some_and(PathSpec::damages_packets)
    }

    /// Where a path damages packets, other data than were sent are a result (`payload_intact`):
    /// some pass the checksums all the same.
    ///
    /// # Errors
    /// Elsewhere, as `verified`.
    pub fn accept(&self, verified: Result<(), PayloadMismatch>) -> Result<(), PayloadMismatch> {
        if self.damages_packets() { Ok(()) } else { verified }
    }

    /// How long both directions delay a packet together; on the slower of two paths, and between
    /// the ports that are furthest apart.
    pub fn round_trip(&self) -> Span {
        let of = |links: [LinkPlan; 2]| links[0].delay() + links[1].delay();
        let first = self.links().map_or(Span::ZERO, of);
        let second = self.second_links().ok().flatten().map_or(Span::ZERO, of);
        let further = [true, false].map(|is_client| {
            let delays = self.path.port_delay.iter().flatten();
            let of_end =
                delays.filter(|it| PlannedConnection::is_client_port(it.port) == is_client);
            of_end.map(|it| it.delay).max().unwrap_or_default()
        });
        first.max(second) + (further[0] + further[1]) * 2
    }

    /// Whether a connection is one of Multipath TCP.
    pub fn is_multipath(&self) -> bool {
        let of_flows = self.flows.iter().filter_map(|flow| flow.spec.workload.as_ref());
        of_flows.chain([&self.workload]).any(|it| it.through == Medium::Mptcp)
    }

    /// Whether the stack of an endpoint exists in virtual time alone, so that the case runs there.
    pub fn is_virtual(&self) -> bool {
        [&self.client, &self.server].iter().any(|end| end.stack != Stack::Linux)
    }

    /// One of its endpoints.
    pub fn end(&self, end: Endpoint) -> &EndpointSpec {
        match end {
            Endpoint::Client => &self.client,
            Endpoint::Server => &self.server,
        }
    }

    /// Computes `hash`.
    pub(crate) fn compute_hash(&self) -> String {
        let mut case = serde_json::to_value(self).expect("a case is plain data");
        let fields = case.as_object_mut().expect("a case is a struct");
        for word in ["name", "levels", "hash"] {
            fields.remove(word);
        }
        // Canonical text: no spaces, sorted keys.
        case.sort_all_objects();
        blake3::hash(case.to_string().as_bytes()).to_hex().to_string()
    }
}
