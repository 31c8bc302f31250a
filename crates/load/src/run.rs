//! A load from beginning to end.

use std::net::{SocketAddr, TcpStream};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};
use tcplab_units::{Span, rounded};

use crate::config::{Check, Config, Length, Pace, Renewal};
use crate::connection::Question;
use crate::error::{Fault, LoadError, system};
use crate::outcome::{BodySeen, Outcome, Progress};
use crate::reference::{Reference, Standard};
use crate::reply::Kind;
use crate::target::Protocol;
use crate::worker::{Counted, Gauges, Load, Worker};

/// How often the observer is called.
const TICK: Duration = Duration::from_millis(100);
/// Descriptors that are needed beside those of connections.
const SPARE: u64 = 32;
/// How long a connection may take before the load begins.
pub(crate) const LONGEST_CONNECT: Duration = Duration::from_secs(5);

/// Puts the load on its target. `observe` receives several times a second how far it is, and can
/// break it off, which is no error: what was counted until then is the outcome.
///
/// # Errors
/// If the server accepts no connection, or the configuration is contradictory or not allowed.
/// Errors of single requests are part of the outcome.
pub fn run(
    config: &Config,
    observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Outcome, LoadError> {
    check(config)?;
    reach(config.target.address, config.timeout.min(LONGEST_CONNECT))?;
    let question = question(config);
    let begin = Instant::now();
    let counted_from = begin + config.warm_up;
    let (end, tickets) = match config.length {
        Length::Time(time) => (Some(counted_from + time), 0),
        Length::Count(count) => (None, count),
    };
    let load = Load {
        config,
        question: &question,
        begin,
        counted_from,
        end,
        tickets: AtomicU64::new(tickets),
        stop: AtomicBool::new(false),
        gauges: Gauges::default(),
    };
    let threads = config.threads.clamp(1, config.connections);
    let workers = (0..threads)
        .map(|thread| {
            let first = |thread: usize| config.connections * thread / threads;
            Worker::new(&load, first(thread)..first(thread + 1), thread, threads)
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(system("watch sockets"))?;
    let counted = std::thread::scope(|scope| {
        let mut running = Vec::new();
        let mut refusal = None;
        for worker in workers {
            match Builder::new().spawn_scoped(scope, move || worker.work()) {
                Ok(thread) => running.push(thread),
                Err(source) => {
                    refusal = Some(LoadError::Process { source });
                    load.stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
        }
        while !running.iter().all(ScopedJoinHandle::is_finished) {
            if observe(&progress(&load)).is_break() {
                load.stop.store(true, Ordering::Relaxed);
            }
            let left = end.map_or(TICK, |end| end.saturating_duration_since(Instant::now()));
            std::thread::sleep(left.clamp(Duration::from_millis(5), TICK));
        }
        let mut counted = Counted::default();
        for thread in running {
            counted.add(&thread.join().expect("a worker does not die"));
        }
        refusal.map_or(Ok(counted), Err)
    })?;
    Ok(outcome(&load, &counted, threads))
}

fn check(config: &Config) -> Result<(), LoadError> {
    let invalid = |why: &str| Err(LoadError::Invalid(why.into()));
    if config.connections == 0 {
        return invalid("the number of connections must be at least 1");
    }
    if let Pace::Open { per_second } = config.pace
        && !(per_second.is_finite() && per_second > 0.0 && per_second <= 1e7)
    {
        return invalid("the rate must be above 0 and at most 10,000,000 requests per second");
    }
    if config.timeout.is_zero() {
        return invalid("the timeout must be above 0");
    }
    // Fail early where possible.
    check_descriptors(config.connections, config.threads.min(config.connections))
}

/// Whether as many connections may be open, and as many descriptors beside them.
pub(crate) fn check_descriptors(connections: usize, others: usize) -> Result<(), LoadError> {
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let needed = (connections as u64).saturating_add(others as u64).saturating_add(SPARE);
    if needed > allowed {
        return Err(LoadError::Descriptors { connections, needed, allowed });
    }
    Ok(())
}

/// Whether the server accepts connections.
pub(crate) fn reach(address: SocketAddr, longest: Duration) -> Result<(), LoadError> {
    match TcpStream::connect_timeout(&address, longest) {
        Ok(_) => Ok(()),
        Err(source) => Err(LoadError::Unreachable { address, source }),
    }
}

fn question(config: &Config) -> Question {
    let standard = |check: &Check| match check {
        Check::First => Standard::First(OnceLock::new()),
        Check::Expected(reference) => Standard::Fixed(reference.clone()),
        Check::Nothing => Standard::None,
    };
    let (address, timeout) = (config.target.address, config.timeout);
    match &config.target.protocol {
        Protocol::Http { host, path } => {
            let close = match config.renewal {
                Renewal::Keep => "",
                Renewal::EachRequest => "Connection: close\r\n",
            };
            let head = format!(
                "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: tcplab\r\nAccept: */*\r\n\
                 {close}\r\n"
            );
            let standard = standard(&config.check);
            let (bytes, kind) = (head.into_bytes(), Kind::Http);
            Question { address, bytes, kind, standard, timeout }
        }
        Protocol::Echo { size } => {
            // No two places near one another look the same, so what is displaced is noticed.
            let bytes: Vec<u8> = (0..*size).map(|at| (at % 251) as u8 ^ (at >> 8) as u8).collect();
            let standard = Standard::Fixed(Reference::of(&bytes).into());
            let kind = Kind::Exactly(*size as u64);
            Question { address, bytes, kind, standard, timeout }
        }
    }
}

fn progress(load: &Load<'_>) -> Progress {
    let now = Instant::now();
    let read = |gauge: &AtomicU64| gauge.load(Ordering::Relaxed);
    Progress {
        elapsed: now.duration_since(load.begin),
        sending: load.end.map_or(now, |end| end.min(now)).duration_since(load.begin),
        waiting: read(&load.gauges.waiting),
        is_warming_up: now < load.counted_from,
        requests: read(&load.gauges.requests),
        errors: read(&load.gauges.errors),
        bytes: read(&load.gauges.bytes),
        connected: read(&load.gauges.connected),
        latencies: load.gauges.latency.read(),
    }
}

fn outcome(load: &Load<'_>, counted: &Counted, threads: usize) -> Outcome {
    let was_stopped = load.stop.load(Ordering::Relaxed);
    let now = Instant::now();
    // A time counts from its beginning to its end; a number of requests until the last is over.
    let end = load.end.map_or(counted.last.unwrap_or(now), |end| end.min(now));
    let elapsed = end.saturating_duration_since(load.counted_from);
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let errors = counted.errors.iter().map(|(fault, count)| (fault.to_string(), *count)).collect();
    let body = load.question.standard.reference();
    let mut outcome = Outcome {
        elapsed,
        requests: counted.requests,
        requests_per_second: counted.requests as f64 / seconds,
        bytes: counted.bytes,
        bits_per_second: counted.bytes as f64 * 8.0 / seconds,
        connections: counted.connections,
        connect: counted.connect.summary(),
        latency: counted.latency.summary(),
        response: counted.response.summary(),
        late: counted.late.summary(),
        unsent: counted.unsent,
        unfinished: counted.unfinished,
        errors,
        body: body.map(|it| BodySeen { length: it.length(), digest: it.digest() }),
        processor: counted.processor,
        threads,
        was_stopped,
        warnings: Vec::new(),
    };
    outcome.warnings = warnings(load.config, &outcome, now.duration_since(load.begin));
    outcome
}

/// What makes the figures doubtful.
fn warnings(config: &Config, outcome: &Outcome, real: Duration) -> Vec<String> {
    let mut warnings = Vec::new();
    let share =
        outcome.processor.as_secs_f64() / (real.as_secs_f64() * outcome.threads as f64).max(1e-9);
    if share > 0.95 {
        warnings.push(format!(
            "the generator was busy {:.0} % of the time: what is shown may be its own limit; \
             give it more --threads",
            share * 100.0
        ));
    }
    if matches!(config.pace, Pace::Open { .. }) {
        let late = &outcome.late;
        if late.p99 > 1_000_000 || late.p99 * 10 > outcome.latency.p50.max(1) && late.p99 > 200_000
        {
            warnings.push(format!(
                "the generator itself was late: 1 % of requests left more than {:.2} ms after \
                 they could have, which their latency contains",
                late.p99 as f64 / 1e6
            ));
        }
        if outcome.unsent > 0 {
            warnings.push(format!(
                "{} requests were due and never sent, as all {} connections were busy: the server \
                 does not keep up, and the times of these would be the longest",
                outcome.unsent, config.connections
            ));
        }
    }
    warnings.extend(timeouts(config, outcome));
    if outcome.unfinished > 0 {
        warnings.push(format!(
            "{} answers were still arriving 1 s after the end, and are neither counted nor errors: \
             a longer test would show them",
            outcome.unfinished
        ));
    }
    if !outcome.has_answers() && outcome.unfinished == 0 {
        warnings.push("no request was answered as it should be".into());
    }
    warnings
}

/// Requests that timed out have no times: says of which quantiles of all requests these would be.
fn timeouts(config: &Config, outcome: &Outcome) -> Option<String> {
    let count = outcome.errors.get(&Fault::Timeout.to_string()).copied().filter(|it| *it > 0)?;
    let answered = Some(outcome.response.count).filter(|it| *it > 0)?;
    let all = answered + count;
    let longer = |share: f64| (share * all as f64).ceil() as u64 > answered;
    let named: Vec<&str> = [("median", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99)]
        .into_iter()
        .chain([("p99.9", 0.999), ("max", 1.0)])
        .filter_map(|(name, share)| longer(share).then_some(name))
        .collect();
    let timeout = rounded::span(Span::from_nanos(config.timeout.as_nanos() as u64));
    Some(format!(
        "{} of {} requests timed out and are in none of the times: with them, the response time's \
         {} would be {timeout} or more",
        rounded::grouped(count),
        rounded::grouped(all),
        named.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use crate::target::Target;

    use super::*;

    #[test]
    fn quantiles_that_timeouts_would_change_are_named() {
        let address = ([127, 0, 0, 1], 9).into();
        let target = Target { address, protocol: Protocol::Echo { size: 1 } };
        let config = Config { timeout: Duration::from_secs(1), ..Config::new(target) };
        let load = Load {
            config: &config,
            question: &question(&config),
            begin: Instant::now(),
            counted_from: Instant::now(),
            end: None,
            tickets: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            gauges: Gauges::default(),
        };
        let said = |answered: u64, timeouts: u64| {
            let mut counted = Counted::default();
            for _ in 0..answered {
                counted.response.record(Duration::from_millis(400));
            }
            counted.requests = answered;
            if timeouts > 0 {
                counted.errors.insert(Fault::Timeout, timeouts);
            }
            outcome(&load, &counted, 1).warnings.into_iter().find(|it| it.contains("timed out"))
        };
        assert_eq!((said(100, 0), said(0, 100)), (None, None), "there are no times");
        // Of 1,200 sorted by time, 422 have one; the 600th is none of these.
        assert_eq!(
            said(422, 778).unwrap(),
            "778 of 1,200 requests timed out and are in none of the times: with them, the response \
             time's median, p75, p90, p99, p99.9, max would be 1 s or more"
        );
        // The 500th, 750th and 900th are among 985, the 990th is not.
        assert!(said(985, 15).unwrap().contains("time's p99, p99.9, max would"));
        assert!(said(990, 10).unwrap().contains("time's p99.9, max would"));
        assert!(said(9_999, 1).unwrap().contains("time's max would"));
    }
}
