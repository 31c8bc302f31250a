//! Servers that are not there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a server is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Absent {
    /// No listener on the port: the host answers with a RST.
    Closed,
    /// No answer at all: a black hole.
    Silent,
}
