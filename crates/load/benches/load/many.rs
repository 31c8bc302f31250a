//! Ten thousand connections at once, and fifty thousand.

use std::{io, thread};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::generators::run_of;
use crate::process::{self, Side};
use crate::servers::{Served, Server, Site};
use crate::{Arguments, Run, say};

const CONNECTIONS: [usize; 2] = [10_000, 50_000];
/// Beside those of the connections.
const DESCRIPTORS: u64 = 100;

pub(crate) fn measure(arguments: &Arguments) -> io::Result<Value> {
    say(&format!(
        "\nConnections that stay\n{:<16} {:>11} {:>10} {:>8} {:>8} {:>8} {:>7} {:>10} {:>6}",
        "server",
        "connections",
        "requests/s",
        "50 % ms",
        "99 % ms",
        "errors",
        "made",
        "server MB",
        "pairs"
    ));
    let mut rows = Vec::new();
    for connections in CONNECTIONS {
        let most = allow(connections as u64 + DESCRIPTORS).saturating_sub(DESCRIPTORS).max(1);
        rows.extend(measure_so_many(connections, most as usize, arguments)?);
    }
    Ok(Value::from(rows))
}

/// The descriptors that a process may have: at least so many, where this one's limit can be raised.
fn allow(descriptors: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    let as_many = now.maximum.map(|maximum| maximum.max(descriptors));
    for maximum in [as_many, now.maximum] {
        if setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok() {
            break;
        }
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// With as many servers, and a generator for each, as it takes if a process has `most`.
fn measure_so_many(
    connections: usize,
    most: usize,
    arguments: &Arguments,
) -> io::Result<Vec<Value>> {
    let pairs = connections.div_ceil(most);
    let site = Site::new(1000)?;
    let mut rows = Vec::new();
    for served in [Served::Epoll, Served::IoUring] {
        let servers = (0..pairs).map(|_| served.start(&site)).collect::<Result<Vec<_>, _>>();
        let Ok(servers) = servers else { continue };
        let runs: Vec<io::Result<(Run, u64)>> = thread::scope(|scope| {
            let started: Vec<_> = servers
                .iter()
                .map(|server| scope.spawn(|| load(server, connections / pairs, arguments)))
                .collect();
            let ended = started.into_iter().map(|run| run.join().expect("no panic"));
            ended.collect()
        });
        let runs = runs.into_iter().collect::<io::Result<Vec<_>>>()?;
        let sum = |of: fn(&Run) -> f64| runs.iter().map(|(run, _)| of(run)).sum::<f64>();
        let slowest = |of: fn(&Run) -> f64| runs.iter().map(|(run, _)| of(run)).fold(0.0, f64::max);
        let (per_second, errors) = (sum(|run| run.per_second), sum(|run| run.errors));
        let (p50, p99) = (slowest(|run| run.p50), slowest(|run| run.p99));
        let made: u64 = runs.iter().map(|(_, made)| made).sum();
        let memory: f64 = servers.iter().map(Server::memory).sum();
        say(&format!(
            "{:<16} {connections:>11} {per_second:>10.0} {p50:>8.1} {p99:>8.1} {errors:>8.0} \
             {made:>7} {memory:>10.1} {pairs:>6}",
            served.name(),
        ));
        rows.push(json!({
            "server": served.name(), "requests_per_second": per_second, "p50_ms": p50,
            "p99_ms": p99, "errors": errors, "wanted": connections, "connections": made,
            "server_mb": memory, "servers": pairs,
        }));
    }
    Ok(rows)
}

/// What came of so many connections to a server, and how many were made.
fn load(server: &Server, connections: usize, arguments: &Arguments) -> io::Result<(Run, u64)> {
    let mut command = process::command(&process::tcplab()?, Side::Generator);
    command.args(["load", &format!("http://{}/", server.address()), "--json", "-q"]);
    command.args(["-c", &connections.to_string(), "--timeout", "30 s"]);
    command.args(["--duration", &format!("{}s", arguments.seconds.max(3.0))]);
    let (output, generator) = process::finish(&mut command)?;
    let outcome: Value = serde_json::from_str(&output)?;
    Ok((run_of(&outcome, generator)?, outcome["connections"].as_u64().unwrap_or(0)))
}
