//! The two ends of a path.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the two ends of the path.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Endpoint {
    /// Opens the connection.
    Client,
    /// Accepts it.
    Server,
}

impl Endpoint {
    /// Both, the client first.
    pub const BOTH: [Endpoint; 2] = [Endpoint::Client, Endpoint::Server];

    /// `client` or `server`.
    pub const fn name(self) -> &'static str {
        match self {
            Endpoint::Client => "client",
            Endpoint::Server => "server",
        }
    }

    /// The other end.
    #[must_use]
    pub const fn other(self) -> Endpoint {
        match self {
            Endpoint::Client => Endpoint::Server,
            Endpoint::Server => Endpoint::Client,
        }
    }

    /// The index in [`Endpoint::BOTH`]: 0 for the client, 1 for the server.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
