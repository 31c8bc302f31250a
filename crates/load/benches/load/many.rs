//! Ten thousand connections at once, and fifty thousand.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::generators::run_of;
use crate::process::{self, Side};
use crate::servers::{Served, Site};
use crate::{Arguments, say};

const CONNECTIONS: [usize; 2] = [10_000, 50_000];
/// Beside those of the connections.
const DESCRIPTORS: u64 = 100;

pub(crate) fn measure(arguments: &Arguments) -> io::Result<Value> {
    say(&format!(
        "\nConnections that stay\n{:<16} {:>11} {:>10} {:>8} {:>8} {:>8} {:>7} {:>10}",
        "server", "connections", "requests/s", "50 % ms", "99 % ms", "errors", "made", "server MB"
    ));
    let mut rows = Vec::new();
    for connections in CONNECTIONS {
        let needed = connections as u64 + DESCRIPTORS;
        if allow(needed) {
            rows.extend(measure_so_many(connections, arguments)?);
        } else {
            say(&format!("SKIPPED: {connections} connections need `ulimit -n {needed}`"));
        }
    }
    Ok(Value::from(rows))
}

/// Whether a process may have so many descriptors: this one's limit is raised, where it may be.
fn allow(descriptors: u64) -> bool {
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|current| current >= descriptors) {
        return true;
    }
    let maximum = now.maximum.map(|maximum| maximum.max(descriptors));
    setrlimit(Resource::Nofile, Rlimit { current: Some(descriptors), maximum }).is_ok()
}

fn measure_so_many(connections: usize, arguments: &Arguments) -> io::Result<Vec<Value>> {
    let site = Site::new(1000)?;
    let mut rows = Vec::new();
    for served in [Served::Epoll, Served::IoUring] {
        let Ok(server) = served.start(&site) else { continue };
        let mut command = process::command(&process::tcplab()?, Side::Generator);
        command.args(["load", &format!("http://{}/", server.address()), "--json", "-q"]);
        command.args(["-c", &connections.to_string(), "--timeout", "30 s"]);
        command.args(["--duration", &format!("{}s", arguments.seconds.max(3.0))]);
        let (output, generator) = process::finish(&mut command)?;
        let outcome: Value = serde_json::from_str(&output)?;
        let run = run_of(&outcome, generator)?;
        let (made, memory) = (outcome["connections"].as_u64(), server.memory());
        say(&format!(
            "{:<16} {connections:>11} {:>10.0} {:>8.1} {:>8.1} {:>8.0} {:>7} {memory:>10.1}",
            served.name(),
            run.per_second,
            run.p50,
            run.p99,
            run.errors,
            made.unwrap_or(0),
        ));
        rows.push(json!({
            "server": served.name(), "requests_per_second": run.per_second, "p50_ms": run.p50,
            "p99_ms": run.p99, "errors": run.errors, "wanted": connections, "connections": made, "server_mb": memory,
        }));
    }
    Ok(rows)
}
