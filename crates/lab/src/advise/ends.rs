//! The settings of both ends, as a run has them.

use serde::Serialize;
use serde_json::{Value, json};
use tcplab_scenario::EndpointSpec;
use tcplab_units::Endpoint;

use super::advice::Change;

/// The settings of both ends, as a run has them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ends {
    /// Those of the client.
    pub client: EndpointSpec,
    /// Those of the server.
    pub server: EndpointSpec,
}

impl Ends {
    /// Those of one end.
    pub fn of(&self, end: Endpoint) -> &EndpointSpec {
        match end {
            Endpoint::Client => &self.client,
            Endpoint::Server => &self.server,
        }
    }

    /// The setting of an end with this key, such as `socket.rcvbuf`; none where it is not set.
    pub(super) fn set(&self, end: Endpoint, key: &str) -> Option<Change> {
        let key = format!("{}.{key}", end.name());
        let value = json!(self).pointer(&pointer(&key)).cloned()?;
        Some(Change::new(&key, value))
    }

    /// As sections of a scenario, without the settings that are replaced.
    pub(super) fn without(&self, replaced: &[&Change]) -> Value {
        let mut ends = json!(self);
        for change in replaced {
            let Some((table, key)) = change.key.rsplit_once('.') else { continue };
            if let Some(Value::Object(table)) = ends.pointer_mut(&pointer(table)) {
                table.remove(key);
            }
        }
        ends
    }
}

/// The JSON pointer of a dotted key.
fn pointer(key: &str) -> String {
    format!("/{}", key.replace('.', "/"))
}
