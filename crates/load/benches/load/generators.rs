//! The generators: `tcplab load`, wrk and ab, each with one thread, in a closed loop.

use std::fs;
use std::io;
use std::net::SocketAddr;

use serde_json::Value;

use crate::process::{self, Side};
use crate::servers::Site;
use crate::{Arguments, Run, say};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generator {
    Tcplab,
    Wrk,
    Ab,
}

impl Generator {
    pub(crate) const ALL: [Generator; 3] = [Generator::Tcplab, Generator::Wrk, Generator::Ab];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Generator::Tcplab => "tcplab load",
            Generator::Wrk => "wrk",
            Generator::Ab => "ab",
        }
    }

    /// Whether it can be started; prints why not.
    pub(crate) fn is_there(self) -> bool {
        let is_there = match self {
            Generator::Tcplab => true,
            Generator::Wrk => process::is_installed("wrk"),
            Generator::Ab => process::is_installed("ab"),
        };
        if !is_there {
            say(&format!("SKIPPED: {} is not installed", self.name()));
        }
        is_there
    }

    pub(crate) fn run(
        self,
        address: SocketAddr,
        arguments: &Arguments,
        site: &Site,
    ) -> io::Result<Run> {
        let url = format!("http://{address}/index.html");
        match self {
            Generator::Tcplab => tcplab(&url, arguments),
            Generator::Wrk => wrk(&url, arguments),
            Generator::Ab => ab(&url, arguments, site),
        }
    }
}

/// Beside what the others do, it compares every body.
fn tcplab(url: &str, arguments: &Arguments) -> io::Result<Run> {
    let mut command = process::command(&process::tcplab()?, Side::Generator);
    command.args(["load", url, "--json", "-q"]);
    command.args(["-c", &arguments.connections.to_string()]);
    command.args(["--duration", &format!("{}s", arguments.seconds)]);
    let (output, generator) = process::finish(&mut command)?;
    run_of(&serde_json::from_str(&output)?, generator)
}

/// The output of `tcplab load --json`.
pub(crate) fn run_of(outcome: &Value, generator: f64) -> io::Result<Run> {
    let number = |value: &Value| value.as_f64().ok_or_else(|| io::Error::other("no number"));
    let time = |name: &str| number(&outcome["response"][name]).map(|nanos| nanos / 1e6);
    let errors = outcome["errors"].as_object().map_or(0.0, |errors| {
        errors.values().filter_map(Value::as_f64).fold(0.0, |sum, count| sum + count)
    });
    Ok(Run {
        per_second: number(&outcome["requests_per_second"])?,
        p50: time("p50_ns")?,
        p90: time("p90_ns")?,
        p99: time("p99_ns")?,
        generator,
        server: 0.0,
        requests: number(&outcome["requests"])?,
        errors,
    })
}

fn wrk(url: &str, arguments: &Arguments) -> io::Result<Run> {
    let program = process::found("wrk").ok_or(io::ErrorKind::NotFound)?;
    let mut command = process::command(&program, Side::Generator);
    command.args(["-t", "1", "-c", &arguments.connections.to_string(), "--latency"]);
    command.args(["-d", &format!("{}s", arguments.seconds.ceil()), url]);
    let (output, generator) = process::finish(&mut command)?;
    let line = |start: &str| {
        let mut lines = output.lines().map(str::trim);
        lines.find_map(|line| line.strip_prefix(start)).map(str::trim)
    };
    let time = |quantile: &str| line(quantile).and_then(milliseconds).unwrap_or(f64::NAN);
    let requests = output.lines().find_map(|line| line.split_once(" requests in "));
    let requests = requests.and_then(|(count, _)| count.trim().parse().ok());
    let per_second = line("Requests/sec:").and_then(|text| text.parse().ok());
    let (Some(requests), Some(per_second)) = (requests, per_second) else {
        return Err(io::Error::other(format!("unexpected output of wrk: {output}")));
    };
    let others = line("Non-2xx or 3xx responses:").and_then(|text| text.parse().ok());
    Ok(Run {
        per_second,
        p50: time("50%"),
        p90: time("90%"),
        p99: time("99%"),
        generator,
        server: 0.0,
        requests,
        errors: others.unwrap_or(0.0) + if output.contains("Socket errors") { 1.0 } else { 0.0 },
    })
}

/// wrk writes `531.00us`, `1.23ms`, `2.00s`.
fn milliseconds(text: &str) -> Option<f64> {
    let unit = text.find(|it: char| it.is_ascii_alphabetic())?;
    let number: f64 = text[..unit].parse().ok()?;
    match &text[unit..] {
        "us" => Some(number / 1e3),
        "ms" => Some(number),
        "s" => Some(number * 1e3),
        _ => None,
    }
}

fn ab(url: &str, arguments: &Arguments, site: &Site) -> io::Result<Run> {
    let program = process::found("ab").ok_or(io::ErrorKind::NotFound)?;
    let table = site.path().join("ab.csv");
    let mut command = process::command(&program, Side::Generator);
    command.args(["-k", "-q", "-n", "100000000", "-c", &arguments.connections.to_string()]);
    command.args(["-t", &arguments.seconds.ceil().to_string(), "-e"]).arg(&table).arg(url);
    let (output, generator) = process::finish(&mut command)?;
    let number = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let (Some(requests), Some(per_second)) =
        (number("Complete requests:"), number("Requests per second:"))
    else {
        return Err(io::Error::other(format!("unexpected output of ab: {output}")));
    };
    let quantiles = fs::read_to_string(&table)?;
    let time = |percent: &str| {
        let line = quantiles.lines().find_map(|line| line.strip_prefix(percent));
        line.and_then(|rest| rest.strip_prefix(',')?.parse().ok()).unwrap_or(f64::NAN)
    };
    let errors = number("Failed requests:").unwrap_or(0.0);
    Ok(Run {
        per_second,
        p50: time("50"),
        p90: time("90"),
        p99: time("99"),
        generator,
        server: 0.0,
        requests,
        errors,
    })
}
