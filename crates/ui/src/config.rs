//! How the server runs.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Where the page is, if that port is free: the number of TCP's RFC.
pub const PORT: u16 = 9293;

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
