//! What the bytes of a workload go through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the bytes go through: TCP, Multipath TCP, or, to compare it with, something else that an
/// operating system has for two programs on one host.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    /// A TCP connection.
    #[default]
    Tcp,
    /// A Multipath TCP connection (RFC 8684), where both ends are kernels.
    Mptcp,
    /// A pair of connected UNIX stream sockets (socketpair(2)).
    Unix,
    /// A pipe for each direction (pipe(2)).
    Pipe,
    /// Nothing: one thread copies the bytes from one place in memory to another, `write_size` at a
    /// time, each with a call of `memcpy`. There are no system calls and no waits.
    Memory,
}

impl Medium {
    /// With its article: `a pipe`.
    pub fn name(self) -> &'static str {
        match self {
            Medium::Tcp => "TCP",
            Medium::Mptcp => "Multipath TCP",
            Medium::Unix => "a UNIX socket",
            Medium::Pipe => "a pipe",
            Medium::Memory => "memory",
        }
    }

    /// Whether it is plain TCP.
    pub fn is_tcp(&self) -> bool {
        *self == Medium::Tcp
    }

    /// Whether there are packets to be seen.
    pub fn has_packets(self) -> bool {
        matches!(self, Medium::Tcp | Medium::Mptcp)
    }
}
