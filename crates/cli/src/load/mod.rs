//! `tcplab load`.

mod servers;
mod told;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tcplab_load::{
    BulkConfig, BulkOutcome, Check, Config, Direction, Length, Outcome, Pace, Progress, Protocol,
    Reference, Renewal, Target,
};
use tcplab_quantities::{BULK_DOCUMENT, LOAD_DOCUMENT, SERVERS_LOAD_DOCUMENT};
use tcplab_units::{Bytes, Durations, Rate, rounded};

use crate::arguments::{BulkDirection, LiveMode, LoadArguments};
use crate::control::{self, Control};
use crate::exit::FAILED;
use crate::live::{self, LiveLoad, LoadPace, LoadRates, quantiles, waiting};
use crate::output::{
    LiveLine, answer, answer_or_json, check_outputs, counted, interrupted, listed, print_note,
};
use crate::progress::unless_stopped;
use crate::remedied::Remedied;
use servers::TestServer;
use told::Told;

/// The usual size of messages to an echo server, bytes.
const MESSAGE: u32 = 64;

pub(crate) fn load(arguments: &LoadArguments) -> Result<ExitCode> {
    check_outputs([&arguments.json.place], None)?;
    let stop = Arc::new(AtomicBool::new(false));
    let mode = match arguments.bulk {
        // It has no more to show than a line.
        Some(_) => arguments.live.live.map(|_| LiveMode::Plain),
        None => live::mode(arguments.live.live),
    };
    live::stop_on_signals(&stop, mode)?;
    let mut control = control::started(arguments.control, &stop)?;
    if let (Some(direction), Some(target)) = (arguments.bulk, &arguments.target) {
        let mut display = Display::new(arguments.quiet, mode);
        return bulk(arguments, target, direction, &stop, &mut display);
    }
    let test = LoadTest { arguments, stop: &stop, mode };
    let is_good = match &arguments.target {
        Some(target) => {
            let outcome = test.run(target, target, control.as_mut())?;
            test.show(target, &outcome, control.is_some())?;
            is_good(&outcome)
        }
        None => test.run_servers(control.as_mut())?,
    };
    if let Some(control) = &mut control {
        control.done();
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn is_good(outcome: &Outcome) -> bool {
    outcome.failed() == 0 && outcome.has_answers()
}

/// What a test server of this design answered.
#[derive(Serialize)]
struct OfDesign {
    design: &'static str,
    #[serde(flatten)]
    outcome: Outcome,
}

/// The same load for one or several servers.
struct LoadTest<'a> {
    arguments: &'a LoadArguments,
    stop: &'a AtomicBool,
    mode: Option<LiveMode>,
}

impl LoadTest<'_> {
    /// Starts a server of each design, one after the other; says whether all answered as they
    /// should.
    fn run_servers(&self, mut control: Option<&mut Control>) -> Result<bool> {
        let LoadTest { arguments, stop, .. } = self;
        let mut outcomes = Vec::new();
        for (index, design) in arguments.server.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            if let Some(control) = &mut control {
                control.part(index + 1, Some(arguments.server.len()), design.name());
            }
            let server = TestServer::start(*design, arguments.serve.as_deref())?;
            let outcome = self.run(&server.target, design.name(), control.as_deref_mut())?;
            drop(server);
            if control.is_none() && !arguments.json.is_printed() {
                let name = design.name();
                answer(&format!("{name}: {}\n", self.table(name, &outcome)))?;
            }
            for warning in &outcome.warnings {
                print_note(&format!("tcplab: warning: {}: {warning}", design.name()));
            }
            outcomes.push(OfDesign { design: design.name(), outcome });
        }
        let asked = arguments.server.len();
        // The page has been told what was measured.
        if outcomes.is_empty() || control.is_some() && outcomes.len() < asked {
            bail!("stopped on request");
        }
        // What was measured until a stop is told, too.
        if control.is_none() {
            let json = &arguments.json;
            let servers = listed("servers", &outcomes);
            answer_or_json(&SERVERS_LOAD_DOCUMENT, json, &servers, || compared(&outcomes))?;
        }
        if outcomes.len() < asked {
            print_note(&format!("interrupted: {} of {asked} designs tested", outcomes.len()));
        }
        Ok(outcomes.len() == asked && outcomes.iter().all(|it| is_good(&it.outcome)))
    }

    fn run(&self, target: &str, name: &str, control: Option<&mut Control>) -> Result<Outcome> {
        let LoadTest { arguments, stop, mode } = self;
        let config = config(arguments, target)?;
        let length = match config.length {
            Length::Time(time) => Some(time + config.warm_up),
            Length::Count(_) => None,
        };
        let timeout = config.timeout;
        let mut told = control.map(|control| Told::new(control, target, length, timeout));
        let mut display = Display::new(arguments.quiet, *mode);
        let screen = open_screen(target, *mode);
        let mut pace = LoadPace::default();
        let outcome = tcplab_load::run(&config, &mut |progress| {
            match (&mut told, &screen) {
                (Some(told), _) => told.progress(progress),
                (None, Some(screen)) => screen.show(progress),
                (None, None) => display.show(progress.elapsed, || {
                    let line = line(progress, pace.take(progress));
                    match mode {
                        Some(_) => format!("{line}  {}", quantiles(&progress.latencies)),
                        None => line,
                    }
                }),
            }
            unless_stopped(stop)
        });
        drop(screen);
        display.clear();
        let outcome = outcome?;
        if let Some(told) = told {
            told.loaded(name, &outcome);
        }
        Ok(outcome)
    }

    fn table(&self, target: &str, outcome: &Outcome) -> String {
        table(outcome, target, self.arguments.expect.is_some())
    }

    fn show(&self, target: &str, outcome: &Outcome, is_told: bool) -> Result<()> {
        if !is_told {
            answer_or_json(&LOAD_DOCUMENT, &self.arguments.json, outcome, || {
                self.table(target, outcome)
            })?;
        }
        for warning in &outcome.warnings {
            print_note(&format!("tcplab: warning: {warning}"));
        }
        if !outcome.has_answers() && !target.contains('/') {
            print_note(&format!(
                "  try: `tcplab load http://{target}/` if this is a web server; without `http://` \
                 it is tested as an echo server"
            ));
        }
        Ok(())
    }
}

/// The whole screen, if it is asked for and can be drawn on.
fn open_screen(target: &str, mode: Option<LiveMode>) -> Option<LiveLoad> {
    let open = || {
        LiveLoad::open(target).inspect_err(|error| {
            print_note(&format!("--live: a line a second, as the screen fails: {error}"));
        })
    };
    (mode == Some(LiveMode::Screen)).then(open)?.ok()
}

/// Flags that are for the other protocol are refused, not left unused.
fn check_protocol(arguments: &LoadArguments, protocol: &Protocol) -> Result<()> {
    match protocol {
        Protocol::Http { .. } if arguments.size.is_some() => Err(Remedied::error(
            "--size is the size of messages to an echo server, and this is a web server",
            "leave it out, or test an echo server: echo://HOST:PORT",
        )),
        Protocol::Echo { .. } if arguments.expect.is_some() => Err(Remedied::error(
            "--expect is for answers of a web server, and this is an echo server: its answer is \
             the message",
            "leave it out, or test a web server: http://HOST[:PORT]/PATH",
        )),
        _ => Ok(()),
    }
}

fn config(arguments: &LoadArguments, target: &str) -> Result<Config> {
    let target = Target::find(target, arguments.size.unwrap_or(MESSAGE) as usize)?;
    check_protocol(arguments, &target.protocol)?;
    let check = match &arguments.expect {
        _ if arguments.no_check => Check::Nothing,
        None => Check::First,
        Some(path) => {
            let reference = Reference::of_file(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Check::Expected(Arc::new(reference))
        }
    };
    let keep = if arguments.no_keep_alive { Renewal::EachRequest } else { Renewal::Keep };
    let time = arguments.duration.to_std();
    Ok(Config {
        pace: arguments.rate.map_or(Pace::Closed, |per_second| Pace::Open { per_second }),
        connections: arguments.connections.unwrap_or(10) as usize,
        renewal: keep,
        warm_up: arguments.warm_up.to_std(),
        length: arguments.requests.map_or(Length::Time(time), Length::Count),
        timeout: arguments.timeout.to_std(),
        threads: usize::from(arguments.threads),
        check,
        ..Config::new(target)
    })
}

fn bulk(
    arguments: &LoadArguments,
    target: &str,
    direction: BulkDirection,
    stop: &AtomicBool,
    display: &mut Display,
) -> Result<ExitCode> {
    let Target { address, protocol } = Target::find(target, 1)?;
    if matches!(protocol, Protocol::Http { .. }) {
        return Err(Remedied::error(
            "--bulk carries data without HTTP: to a discard server, or from a chargen server",
            "name it as HOST:PORT, or leave --bulk out to send requests",
        ));
    }
    let config = BulkConfig {
        address,
        direction: match direction {
            BulkDirection::Upload => Direction::Upload,
            BulkDirection::Download => Direction::Download,
        },
        connections: arguments.connections.unwrap_or(1) as usize,
        time: arguments.duration.to_std(),
        window: None,
        congestion: None,
        acknowledged: tcplab_testbed::acknowledged,
    };
    let mut last = (Duration::ZERO, 0);
    let outcome = tcplab_load::bulk(&config, &mut |elapsed, bytes| {
        display.show(elapsed, || {
            let (since, before) = std::mem::replace(&mut last, (elapsed, bytes));
            let rate = rate(bytes.saturating_sub(before), elapsed.saturating_sub(since));
            format!("{:.0} s  {rate}", elapsed.as_secs_f64())
        });
        unless_stopped(stop)
    });
    display.clear();
    let outcome = outcome?;
    let was_stopped = stop.load(Ordering::Relaxed);
    answer_or_json(&BULK_DOCUMENT, &arguments.json, &outcome, || {
        bulk_table(&outcome, was_stopped)
    })?;
    for early in &outcome.early {
        print_note(&format!("tcplab: warning: {early}"));
    }
    Ok(if outcome.early.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn rate(bytes: u64, time: Duration) -> String {
    let bits = bytes as f64 * 8.0 / time.as_secs_f64().max(1e-3);
    rounded::rate(Rate::from_bits_per_second(bits as u64))
}

/// A changing line on a terminal, elsewhere a line per second.
pub(crate) struct Display {
    is_quiet: bool,
    /// Whether each line stays, as in a log.
    is_log: bool,
    line: LiveLine,
    shown: u64,
}

impl Display {
    pub(crate) fn new(is_quiet: bool, mode: Option<LiveMode>) -> Display {
        let is_log = mode == Some(LiveMode::Plain);
        Display { is_quiet, is_log, line: LiveLine::new(), shown: 0 }
    }

    /// Shows the progress once per second.
    pub(crate) fn show(&mut self, elapsed: Duration, line: impl FnOnce() -> String) {
        if self.is_quiet || elapsed.as_secs() == self.shown {
            return;
        }
        self.shown = elapsed.as_secs();
        if self.is_log { print_note(&line()) } else { self.line.show(&line()) }
    }

    pub(crate) fn clear(&self) {
        if self.shown > 0 && !self.is_log {
            self.line.clear();
        }
    }
}

/// A line on a load, with what it moved since the last one.
fn line(progress: &Progress, rates: LoadRates) -> String {
    let Progress { elapsed, is_warming_up, requests, errors, connected, .. } = progress;
    let LoadRates { requests_per_second, bits_per_second } = rates;
    let mut line = format!(
        "{:.0} s  {connected} connected  {requests} answered ({requests_per_second:.0}/s, {:.2} \
         Mbit/s)",
        elapsed.as_secs_f64(),
        bits_per_second / 1e6,
    );
    if *errors > 0 {
        let _ = write!(line, "  {errors} errors");
    }
    if *is_warming_up {
        line += "  warming up";
    }
    line + &waiting(progress)
}

fn table(outcome: &Outcome, target: &str, is_expected: bool) -> String {
    let mut text = format!(
        "{} in {:.2} s{}: {:.1} requests/s, {:.3} Mbit/s\n",
        counted(outcome.requests, "request"),
        outcome.elapsed.as_secs_f64(),
        interrupted(outcome.was_stopped),
        outcome.requests_per_second,
        outcome.bits_per_second / 1e6,
    );
    if let Some(body) = &outcome.body {
        let what = if is_expected { "expected body" } else { "body" };
        let length = counted(body.length, "byte");
        let _ = writeln!(text, "{what}: {length}, BLAKE3 {}", &body.digest[..16]);
    }
    let _ = writeln!(
        text,
        "\n{:16} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "ms", "mean", "SD", "median", "p75", "p90", "p99", "p99.9", "max"
    );
    let rows = [
        ("connect time", &outcome.connect),
        ("latency", &outcome.latency),
        ("response time", &outcome.response),
        ("send delay", &outcome.late),
    ];
    for (name, times) in rows.into_iter().filter(|(_, times)| times.count > 0) {
        text += &row(name, times);
    }
    let _ = writeln!(text, "\n{} used", counted(outcome.connections, "connection"));
    for (kind, count) in &outcome.errors {
        let what =
            if kind.starts_with("status ") { format!(" for {target}") } else { String::new() };
        let _ = writeln!(text, "{}: {kind}{what}", counted(*count, "error"));
    }
    text
}

/// Several servers under the same load.
fn compared(outcomes: &[OfDesign]) -> String {
    let mut text = format!(
        "{:16} {:>11} {:>9} {:>9} {:>9} {:>7}\n",
        "latency, ms", "requests/s", "median", "p90", "p99", "errors"
    );
    for OfDesign { design, outcome } in outcomes {
        let Durations { p50, p90, p99, .. } = &outcome.latency;
        let [p50, p90, p99] = [p50, p90, p99].map(|nanos| *nanos as f64 / 1e6);
        let _ = writeln!(
            text,
            "{design:16} {:>11.1} {p50:>9.3} {p90:>9.3} {p99:>9.3} {:>7}",
            outcome.requests_per_second,
            outcome.failed()
        );
    }
    text
}

fn row(name: &str, times: &Durations) -> String {
    let shown = |nanos: f64| format!("{:>9.3}", nanos / 1e6);
    let Durations { mean, deviation, p50, p75, p90, p99, p999, max, .. } = times;
    let quantiles = [p50, p75, p90, p99, p999, max].map(|nanos| shown(*nanos as f64));
    format!("{name:16} {} {} {}\n", shown(*mean), shown(*deviation), quantiles.join(" "))
}

fn bulk_table(outcome: &BulkOutcome, was_stopped: bool) -> String {
    let mut text = format!(
        "{} in {:.2} s{}: {}; processor time of the client {:.2} s\n",
        rounded::bytes(Bytes::new(outcome.bytes)),
        outcome.elapsed.as_secs_f64(),
        interrupted(was_stopped),
        rate(outcome.bytes, outcome.elapsed),
        outcome.processor.as_secs_f64(),
    );
    if outcome.each.len() > 1 {
        for (number, bytes) in outcome.each.iter().enumerate() {
            let rate = rate(*bytes, outcome.elapsed);
            let _ = writeln!(text, "  connection {}: {rate}", number + 1);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_is_in_milliseconds() {
        let times = Durations {
            count: 3,
            min: 1,
            mean: 1_500_000.0,
            deviation: 250_000.0,
            p50: 1_000_000,
            p75: 2_000_000,
            p90: 3_000_000,
            p99: 4_000_000,
            p999: 5_000_000,
            max: 6_000_000,
        };
        let words: Vec<String> =
            row("latency", &times).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), "latency 1.500 0.250 1.000 2.000 3.000 4.000 5.000 6.000");
    }

    #[test]
    fn bulk_is_told_in_units_that_fit() {
        let outcome = |bytes, each| BulkOutcome {
            direction: Direction::Upload,
            elapsed: Duration::from_secs(3),
            bytes,
            bits_per_second: bytes as f64 * 8.0 / 3.0,
            each,
            processor: Duration::from_millis(20),
            early: Vec::new(),
        };
        for (bytes, each, text) in [
            (
                375_000,
                vec![375_000],
                "375 kB in 3.00 s: 1.00 Mbit/s; processor time of the client 0.02 s\n",
            ),
            (
                7_500_000_000,
                vec![7_499_625_000, 375_000],
                "7.50 GB in 3.00 s: 20.0 Gbit/s; processor time of the client 0.02 s\n  \
                 connection 1: 20.0 Gbit/s\n  connection 2: 1.00 Mbit/s\n",
            ),
        ] {
            assert_eq!(bulk_table(&outcome(bytes, each), false), text);
        }
    }

    #[test]
    fn progress_line_counts_errors() {
        let progress = Progress {
            elapsed: Duration::from_secs(2),
            sending: Duration::from_secs(2),
            is_warming_up: true,
            requests: 100,
            errors: 3,
            bytes: 1_000_000,
            connected: 10,
            ..Progress::default()
        };
        assert_eq!(
            line(&progress, LoadPace::default().take(&progress)),
            "2 s  10 connected  100 answered (50/s, 4.00 Mbit/s)  3 errors  warming up"
        );
    }

    /// A server that answers for two seconds, and then hangs.
    #[test]
    fn progress_line_has_the_rates_since_the_line_before() {
        let mut pace = LoadPace::default();
        let mut rates = |millis, requests, bytes| {
            let elapsed = Duration::from_millis(millis);
            let sending = elapsed;
            let progress = Progress { elapsed, sending, requests, bytes, ..Progress::default() };
            line(&progress, pace.take(&progress))
        };
        for (progress, shown) in [
            ((1_000, 100, 125_000), "1 s  0 connected  100 answered (100/s, 1.00 Mbit/s)"),
            ((2_500, 400, 875_000), "2 s  0 connected  400 answered (200/s, 4.00 Mbit/s)"),
            ((3_000, 400, 875_000), "3 s  0 connected  400 answered (0/s, 0.00 Mbit/s)"),
        ] {
            let (millis, requests, bytes) = progress;
            assert_eq!(rates(millis, requests, bytes), shown);
        }
    }

    #[test]
    fn progress_line_says_what_is_waited_for_after_the_end() {
        let seconds = Duration::from_secs;
        let said = |sending, waiting| {
            let progress =
                Progress { elapsed: seconds(8), sending, waiting, ..Progress::default() };
            line(&progress, LoadRates::default())
        };
        assert!(said(seconds(3), 49).ends_with("  sending has ended, 49 requests waiting"));
        assert!(said(seconds(3), 0).ends_with("Mbit/s)") && said(seconds(8), 49).ends_with("s)"));
    }
}
