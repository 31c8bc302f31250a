//! `--control`: what happens as lines of JSON, for programs that run tcplab; standard input takes
//! changes of the path, and its end stops the command.

use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Value, json};
use tcplab_lab::{Event, Remaining, RunDirectory, RunEstimate, RunOutcome};
use tcplab_quantities::Document;
use tcplab_results::ClaimCounts;
use tcplab_testbed::Steering;

use crate::output::answer;

/// The longest line of standard input, bytes.
const LONGEST_INPUT: u64 = 10_000;

/// Tells another program what happens.
#[derive(Default)]
pub(crate) struct Control {
    run: Option<(Instant, Remaining)>,
    /// Whether nobody reads any more.
    is_unheard: bool,
}

impl Control {
    /// Which part is the next, of how many, if that is known.
    pub(crate) fn part(&mut self, index: usize, total: Option<usize>, name: &str) {
        self.tell(&json!({ "event": "part", "index": index, "total": total, "name": name }));
    }

    /// What there is to do in a run.
    pub(crate) fn begun(&mut self, run: &RunDirectory, estimate: &RunEstimate) {
        self.run = Some((Instant::now(), Remaining::new(run, estimate)));
        self.tell(&json!({
            "event": "begun",
            "directory": run.path().display().to_string(),
            "world": run.plan().world,
            "trials": estimate.missing,
            "seconds_at_most": estimate.seconds.1,
            "bytes_at_most": estimate.bytes,
            "warnings": estimate.warnings,
        }));
    }

    pub(crate) fn event(&mut self, event: Event<'_>) {
        let left = self.run.as_mut().map(|(began, remaining)| {
            let passed = began.elapsed();
            remaining.handle(passed, &event);
            remaining.left(passed).as_secs_f64()
        });
        let mut line = of_event(event);
        // Of what is still to do in this run, about.
        line["left_seconds"] = json!((left.unwrap_or_default() * 10.0).round() / 10.0);
        self.tell(&line);
    }

    /// What a run came to, which is all or one of several parts.
    pub(crate) fn finished(&mut self, outcome: &RunOutcome<PathBuf>, is_part: bool) {
        let ClaimCounts { passed, failed, not_judged } = ClaimCounts::of(&outcome.run.claims);
        let report = outcome.report.display().to_string();
        let claims = json!({ "passed": passed, "failed": failed, "not_judged": not_judged });
        let event = if is_part { "part-finished" } else { "finished" };
        self.tell(&json!({ "event": event, "report": report, "claims": claims }));
    }

    /// That all is done.
    pub(crate) fn done(&mut self) {
        self.tell(&json!({ "event": "finished" }));
    }

    /// That all is done, and what it came to: what `--json` prints.
    pub(crate) fn result(&mut self, document: &Document, result: &impl Serialize) {
        self.tell(&json!({ "event": "finished", "result": document.of(result) }));
    }

    pub(crate) fn tell(&mut self, line: &Value) {
        // Who stopped reading ends standard input, too.
        self.is_unheard |= !self.is_unheard && answer(&format!("{line}\n")).is_err();
    }
}

fn of_event(event: Event<'_>) -> Value {
    match event {
        Event::Calibrating { step, total } => {
            json!({ "event": "calibrating", "step": step, "total": total })
        }
        Event::WarmingUp { index, total } => {
            json!({ "event": "warming-up", "index": index, "total": total })
        }
        Event::Started { index, total, case, number } => json!({
            "event": "started", "index": index, "total": total, "case": case, "trial": number,
        }),
        Event::Progress(progress) => json!({
            "event": "progress",
            "at_ns": progress.at.as_nanos(),
            "received_bytes": progress.received.as_u64(),
        }),
        Event::Failed { reason, again } => {
            json!({ "event": "failed", "reason": reason, "again": again })
        }
        Event::Flawed { flaws, again } => {
            json!({ "event": "flawed", "flaws": flaws, "again": again })
        }
        Event::Stored { took, .. } => json!({ "event": "stored", "seconds": took.as_secs_f64() }),
        Event::Skipped => json!({ "event": "skipped" }),
        Event::Analysing { done, total } => {
            json!({ "event": "analysing", "done": done, "total": total })
        }
        Event::Reporting => json!({ "event": "reporting" }),
    }
}

/// Calls `end` when standard input ends; what it says is ignored.
pub(crate) fn at_end_of_input(end: impl FnOnce() + Send + 'static) -> Result<()> {
    let listen = move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        end();
    };
    thread::Builder::new().spawn(listen).context("cannot watch standard input")?;
    Ok(())
}

/// A control where there is to be one, with `stop` set when standard input ends.
pub(crate) fn started(asked: bool, stop: &Arc<AtomicBool>) -> Result<Option<Control>> {
    if !asked {
        return Ok(None);
    }
    let stop = Arc::clone(stop);
    at_end_of_input(move || stop.store(true, Ordering::Relaxed))?;
    Ok(Some(Control::default()))
}

/// Takes changes of the path from standard input, a line of JSON each; sets `stop` when it ends.
pub(crate) fn listen(stop: &Arc<AtomicBool>) -> Result<Steering> {
    let steering = Steering::default();
    let (stop, sent) = (Arc::clone(stop), steering.clone());
    let listen = move || {
        let mut lines = BufReader::new(io::stdin()).take(LONGEST_INPUT);
        let mut line = String::new();
        while let Ok(1..) = lines.read_line(&mut line) {
            let became = change(&sent, &line);
            let _ = answer(&format!("{became}\n"));
            line.clear();
            lines.set_limit(LONGEST_INPUT);
        }
        stop.store(true, Ordering::Relaxed);
    };
    thread::Builder::new().spawn(listen).context("cannot watch standard input")?;
    Ok(steering)
}

/// What became of a change.
fn change(steering: &Steering, line: &str) -> Value {
    let made = serde_json::from_slice(line.as_bytes()).map_err(|error| error.to_string());
    match made.and_then(|change| steering.change(change)) {
        Ok(events) => json!({ "event": "path-changed", "events": events }),
        Err(what) => json!({ "event": "path-refused", "what": what }),
    }
}
