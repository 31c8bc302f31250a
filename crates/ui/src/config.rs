//! How the server runs.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::Value;
use tcplab_path::{PathChange, PathEvent, PathSpec};

/// Where the page is, if that port is free: the number of TCP's RFC.
pub const PORT: u16 = 9293;
/// Where the page of a shell or a bridge is, if that port is free.
pub(crate) const TRAFFIC_PORT: u16 = PORT + 1;

/// How the server runs.
#[derive(Debug)]
pub struct Config {
    /// Where it listens; none: [`PORT`] of this machine, or any other port if that is taken.
    pub listen: Option<SocketAddr>,
    /// Names that it has beside its address.
    pub names: Vec<String>,
    /// Whether others on the network may see it as it is.
    pub without_encryption: bool,
    /// Where runs are.
    pub runs: PathBuf,
    /// The `tcplab` program, which does what takes time.
    pub program: PathBuf,
    /// Where the user's token is kept; none: it is a new one each time.
    pub token_file: Option<PathBuf>,
}

/// Makes a change of a path at once: the events that it became, or why not.
pub type ChangePath = dyn Fn(PathChange) -> Result<Vec<PathEvent>, String> + Send + Sync;

/// The sockets at both ends of a path, as JSON; none where they are not known.
pub type AskSockets = dyn Fn() -> Option<[Vec<Value>; 2]> + Send + Sync;

/// What the page of a shell or a bridge shows.
pub struct TrafficConfig {
    /// The arguments of the program, without its name.
    pub command: Vec<String>,
    /// What the path is called.
    pub name: String,
    /// The path.
    pub path: PathSpec,
    /// What its ends are called.
    pub ends: [String; 2],
    /// Where it is recorded.
    pub recording: PathBuf,
    /// Whether the recording stays.
    pub is_kept: bool,
    /// Bytes that its captures keep of a packet; none: all.
    pub snaplen: Option<u32>,
    /// Changes the path.
    pub change: Box<ChangePath>,
    /// Looks at the sockets of both ends: objects with `local` and `remote`, and with `cwnd_bytes`,
    /// `ssthresh_bytes` and `srtt_ns` where these are known.
    pub sockets: Box<AskSockets>,
}

impl fmt::Debug for TrafficConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrafficConfig").field("command", &self.command).finish_non_exhaustive()
    }
}
