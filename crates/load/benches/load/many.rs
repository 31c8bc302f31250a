//! Ten thousand connections at once.

use std::io;

use serde_json::{Value, json};

use crate::generators::run_of;
use crate::process::{self, Side};
use crate::servers::{Served, Site};
use crate::{Arguments, say};

const CONNECTIONS: usize = 10_000;
const DESCRIPTORS: u64 = 12_000;

pub(crate) fn measure(arguments: &Arguments) -> io::Result<Value> {
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    if allowed.is_some_and(|allowed| allowed < DESCRIPTORS) {
        say(&format!("\nSKIPPED: 10,000 connections need `ulimit -n {DESCRIPTORS}`"));
        return Ok(Value::Null);
    }
    say(&format!(
        "\n{CONNECTIONS} connections that stay\n{:<16} {:>10} {:>8} {:>8} {:>8} {:>7} {:>10}",
        "server", "requests/s", "50 % ms", "99 % ms", "errors", "made", "server MB"
    ));
    let site = Site::new(1000)?;
    let mut rows = Vec::new();
    for served in [Served::Epoll, Served::IoUring] {
        let Ok(server) = served.start(&site) else { continue };
        let mut command = process::command(&process::tcplab()?, Side::Generator);
        command.args(["load", &format!("http://{}/", server.address()), "--json", "-q"]);
        command.args(["-c", &CONNECTIONS.to_string(), "--timeout", "30 s"]);
        command.args(["--duration", &format!("{}s", arguments.seconds.max(3.0))]);
        let (output, generator) = process::finish(&mut command)?;
        let outcome: Value = serde_json::from_str(&output)?;
        let run = run_of(&outcome, generator)?;
        let (made, memory) = (outcome["connections"].as_u64(), server.memory());
        say(&format!(
            "{:<16} {:>10.0} {:>8.1} {:>8.1} {:>8.0} {:>7} {memory:>10.1}",
            served.name(),
            run.per_second,
            run.p50,
            run.p99,
            run.errors,
            made.unwrap_or(0),
        ));
        rows.push(json!({
            "server": served.name(), "requests_per_second": run.per_second, "p50_ms": run.p50,
            "p99_ms": run.p99, "errors": run.errors, "connections": made, "server_mb": memory,
        }));
    }
    Ok(Value::from(rows))
}
