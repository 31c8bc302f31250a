//! What a trial leaves behind, whichever world it ran in: the same files, written and read here.

mod sample;

pub use sample::{Column, Sample};

/// One of the two ends of the path.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
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
    pub fn name(self) -> &'static str {
        match self {
            Endpoint::Client => "client",
            Endpoint::Server => "server",
        }
    }
}
