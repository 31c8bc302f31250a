//! `tcplab server`.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use tcplab_servers::{Config, Limits, Server, Stop, Subject, Tally, Transport};
use tcplab_units::ServerDesign;

use crate::arguments::{ServerArguments, Service};
use crate::output::{answer, print_note};
use crate::remedied::Remedied;
use crate::signals::remember;

pub(crate) fn server(arguments: &ServerArguments) -> Result<ExitCode> {
    let config = config(arguments);
    if arguments.workers.is_some() && !Config::has_workers(config.design) {
        return Err(Remedied::error(
            format!("--workers: the design `{}` has no fixed number of them", config.design.name()),
            "leave it out, or choose `--design` prefork, thread-pool, epoll or io-uring",
        ));
    }
    let stop = Stop::new().context("cannot install signal handlers")?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let asker = stop.asker().context("cannot install signal handlers")?;
        signal_hook::low_level::pipe::register(signal, asker)
            .context("cannot install signal handlers")?;
    }
    // SIGTERM is how service managers end a service that works.
    remember(SIGINT)?;
    let is_asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGUSR1, Arc::clone(&is_asked))
        .context("cannot install signal handlers")?;
    let server = Server::open(&config)?;
    let address = server.address();
    let mut last = (Instant::now(), Tally::default());
    let mut said = None;
    let mut lost = 0;
    let tally = server.serve(&stop, &mut |tally| {
        // The first report is when it can serve.
        if said.is_none() {
            let answered = answer(&listening(arguments, &config, address));
            if answered.is_err() {
                stop.ask();
            }
            said = Some(answered);
        }
        if arguments.control && tcplab_servers::has_input_ended() {
            stop.ask();
        }
        if tally.lost_workers > std::mem::replace(&mut lost, tally.lost_workers) {
            print_note("tcplab: a worker of the server has died");
        }
        let (since, before) = last;
        let is_due = arguments.live && since.elapsed() >= Duration::from_secs(1);
        if is_asked.swap(false, Ordering::Relaxed) || is_due {
            print_note(&line(tally, &before, since.elapsed()));
            last = (Instant::now(), *tally);
        }
    })?;
    said.transpose()?;
    if is_json(arguments) {
        answer(&(serde_json::to_string(&tally)? + "\n"))?;
    } else {
        answer(&table(&tally))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_json(arguments: &ServerArguments) -> bool {
    arguments.json || arguments.control
}

fn config(arguments: &ServerArguments) -> Config {
    let subject = match (&arguments.file, arguments.service) {
        (Some(path), _) => Subject::Http(path.clone()),
        (None, Service::Echo) => Subject::Echo,
        (None, Service::Daytime) => Subject::Daytime,
        (None, Service::Discard) => Subject::Discard,
        (None, Service::Chargen) => Subject::Chargen,
        (None, Service::Time) => Subject::Time,
        (None, Service::Latency) => Subject::Latency,
        (None, Service::Users) => Subject::Users,
    };
    let config = Config::new(ServerDesign::Epoll, subject);
    let transport = if arguments.udp { Transport::Udp } else { config.transport };
    // Datagrams have no event loop.
    let usual = match transport {
        Transport::Udp => ServerDesign::Iterative,
        Transport::Tcp => ServerDesign::Epoll,
    };
    let design = arguments.design.unwrap_or(usual);
    Config {
        design,
        transport,
        workers: arguments.workers.map_or(Config::default_workers(design), usize::from),
        address: SocketAddr::new(arguments.address, arguments.port),
        backlog: arguments.backlog,
        limits: Limits {
            connections: arguments.connections as usize,
            idle: arguments.idle_timeout.to_std(),
            request: arguments.request_timeout.to_std(),
            drain: arguments.drain_timeout.to_std(),
        },
        ..config
    }
}

fn subject(config: &Config) -> String {
    match &config.subject {
        Subject::Echo => "echo".into(),
        Subject::Daytime => "daytime".into(),
        Subject::Discard => "discard".into(),
        Subject::Chargen => "chargen".into(),
        Subject::Http(path) => format!("{} over HTTP", path.display()),
        Subject::Time => "time".into(),
        Subject::Latency => "latency".into(),
        Subject::Users => "users".into(),
    }
}

/// Printed when the server listens.
fn listening(arguments: &ServerArguments, config: &Config, address: SocketAddr) -> String {
    let transport = if config.transport == Transport::Tcp { "tcp" } else { "udp" };
    if is_json(arguments) {
        let value = json!({
            "listening": address,
            "transport": transport,
            "service": subject(config),
            "design": config.design.name(),
            "workers": config.workers,
        });
        return format!("{value}\n");
    }
    let workers = if Config::default_workers(config.design) == 1 && config.workers == 1 {
        String::new()
    } else {
        format!(", workers {}", config.workers)
    };
    let subject = subject(config);
    format!("listening on {address} ({transport}, {subject}, {}{workers})\n", config.design.name())
}

/// Open connections, and rates since the last line.
fn line(tally: &Tally, before: &Tally, since: Duration) -> String {
    let per_second =
        |now: u64, before: u64| now.saturating_sub(before) as f64 / since.as_secs_f64().max(0.001);
    format!(
        "tcplab: {} open, {} accepted, {:.0} requests/s, {:.2} Mbit/s out, {:.2} Mbit/s in",
        tally.open,
        tally.accepted,
        per_second(tally.requests, before.requests),
        per_second(tally.sent, before.sent) * 8.0 / 1e6,
        per_second(tally.received, before.received) * 8.0 / 1e6,
    )
}

fn table(tally: &Tally) -> String {
    let rows = [
        ("connections accepted", tally.accepted),
        ("  ended in order", tally.orderly),
        ("  reset by the client", tally.reset),
        ("  took too long", tally.timed_out),
        ("  broke", tally.broken),
        ("  cut off at the end", tally.cut),
        ("requests", tally.requests),
        ("refused", tally.refused),
        ("bytes received", tally.received),
        ("bytes sent", tally.sent),
        ("pauses, out of resources", tally.exhausted),
        ("dead worker processes", tally.lost_workers),
    ];
    // Leaves out zero counters, except the main ones.
    let shown = rows.iter().filter(|(name, count)| {
        *count > 0 || matches!(*name, "connections accepted" | "requests" | "bytes sent")
    });
    shown.fold(String::new(), |text, (name, count)| text + &format!("{name:34} {count:>14}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_counters_are_left_out() {
        let tally = Tally { accepted: 3, orderly: 2, reset: 1, requests: 9, ..Tally::default() };
        let names: Vec<String> = table(&tally)
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            names,
            [
                "connections accepted 3",
                "ended in order 2",
                "reset by the client 1",
                "requests 9",
                "bytes sent 0",
            ]
        );
    }

    #[test]
    fn rates_count_from_last_line() {
        let before = Tally { requests: 100, sent: 1_000_000, ..Tally::default() };
        let now = Tally { requests: 300, sent: 3_000_000, open: 2, accepted: 7, ..before };
        assert_eq!(
            line(&now, &before, Duration::from_secs(2)),
            "tcplab: 2 open, 7 accepted, 100 requests/s, 8.00 Mbit/s out, 0.00 Mbit/s in"
        );
    }
}
