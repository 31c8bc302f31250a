//! Servers that are not there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a server is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Absent {
    /// Nobody listens on the port: its host answers with a RST.
    Closed,
    /// Nobody answers at all: packets vanish in a black hole.
    Silent,
}
