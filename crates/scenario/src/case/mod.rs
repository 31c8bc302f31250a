//! One cell of the matrix: everything that decides what its trials do.

use serde::{Deserialize, Serialize};
use tcplab_path::{Direction, LinkPlan, PathError, PathSpec};
use tcplab_workload::WorkloadSpec;

mod connections;
mod endpoint;
mod flow;
mod limits;
mod stack;

pub use connections::PlannedConnection;
pub use endpoint::EndpointSpec;
pub use flow::{Flow, FlowEnd, FlowSpec};
pub use limits::{LimitsSpec, SamplingSpec};
pub use stack::{STANDS_FOR_THE_KERNEL, Stack};

/// One cell of the matrix, checked and complete. As JSON it is what a trial's process is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its levels joined, such as `reno`; fit for a file name, unique in its scenario.
    pub name: String,
    /// The factors and their levels in the order of the matrix: (`client.socket.congestion`,
    /// `reno`).
    pub levels: Vec<(String, String)>,
    /// The end that opens the connection.
    pub client: EndpointSpec,
    /// The end that accepts it.
    pub server: EndpointSpec,
    /// What lies between them.
    pub path: PathSpec,
    /// What the applications do; of several flows, those that do not say it themselves.
    pub workload: WorkloadSpec,
    /// The flows in the order of the file, where there are several; else there is one connection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// What is looked at while it runs.
    pub sampling: SamplingSpec,
    /// When to give up.
    pub limits: LimitsSpec,
    /// BLAKE3 of all that decides what its trials do, hexadecimal: the same hash, the same
    /// experiment. Name and levels are only words for it and do not count.
    pub hash: String,
}

impl Case {
    /// What the path does to packets, forward and then reverse.
    ///
    /// # Errors
    /// None for a case of a parsed scenario.
    pub fn links(&self) -> Result<[LinkPlan; 2], PathError> {
        Ok([self.path.link(Direction::Forward)?, self.path.link(Direction::Reverse)?])
    }

    /// Whether a model speaks TCP at one of its ends, so that it runs in virtual time.
    pub fn is_modelled(&self) -> bool {
        [&self.client, &self.server].iter().any(|end| matches!(end.stack, Stack::Model(_)))
    }

    /// The hash that belongs into `hash`.
    pub(crate) fn reckon_hash(&self) -> String {
        let mut case = serde_json::to_value(self).expect("a case is plain data");
        let fields = case.as_object_mut().expect("a case is a struct");
        for word in ["name", "levels", "hash"] {
            fields.remove(word);
        }
        // One text for one value: without spaces, keys in order.
        case.sort_all_objects();
        blake3::hash(case.to_string().as_bytes()).to_hex().to_string()
    }
}
