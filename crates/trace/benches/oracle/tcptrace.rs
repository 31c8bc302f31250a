//! tcptrace's sums.

use std::path::Path;
use std::process::{Command, Stdio};

/// Sums over all connections of a capture.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) connections: u64,
    pub(crate) bytes: u64,
    pub(crate) retransmissions: u64,
}

/// What it finds; none if it is not installed or cannot read the file.
pub(crate) fn find(path: &Path) -> Option<Sums> {
    let mut command = Command::new("tcptrace");
    let output = command.args(["-n", "-l"]).arg(path).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !text.contains("packets seen") {
        return None;
    }
    // Each line has both directions.
    let sum = |name: &str| -> u64 {
        let values = text.split(name).skip(1).filter_map(|rest| rest.split_whitespace().next());
        values.filter_map(|value| value.parse::<u64>().ok()).sum()
    };
    Some(Sums {
        connections: text.matches("\n\thost a:").count() as u64,
        bytes: sum("actual data bytes:"),
        retransmissions: sum("rexmt data pkts:"),
    })
}
