//! `tcplab run --control`: the events of a run as lines of JSON; changes of the path from standard
//! input, and the end of the run with it.

use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tcplab_lab::{Event, Remaining, RunDirectory, RunEstimate, RunOutcome};
use tcplab_results::ClaimCounts;
use tcplab_testbed::Steering;

use crate::output::answer;

/// The longest line of standard input, bytes.
const LONGEST_INPUT: u64 = 10_000;

/// Tells another program what happens in a run.
pub(crate) struct Control {
    began: Instant,
    remaining: Remaining,
    /// Whether nobody reads any more.
    is_unheard: bool,
}

impl Control {
    /// Begins with what there is to do.
    pub(crate) fn of(run: &RunDirectory, estimate: &RunEstimate) -> Control {
        let remaining = Remaining::new(run, estimate);
        let mut control = Control { began: Instant::now(), remaining, is_unheard: false };
        control.tell(&json!({
            "event": "begun",
            "directory": run.path().display().to_string(),
            "world": run.plan().world,
            "trials": estimate.missing,
            "seconds_at_most": estimate.seconds.1,
            "bytes_at_most": estimate.bytes,
            "warnings": estimate.warnings,
        }));
        control
    }

    pub(crate) fn event(&mut self, event: Event<'_>) {
        let passed = self.began.elapsed();
        self.remaining.handle(passed, &event);
        let left = self.remaining.left(passed).as_secs_f64();
        let mut line = of_event(event);
        // Of what is still to do, about.
        line["left_seconds"] = json!((left * 10.0).round() / 10.0);
        self.tell(&line);
    }

    pub(crate) fn finished(&mut self, outcome: &RunOutcome<PathBuf>) {
        let ClaimCounts { passed, failed, not_judged } = ClaimCounts::of(&outcome.run.claims);
        let report = outcome.report.display().to_string();
        let claims = json!({ "passed": passed, "failed": failed, "not_judged": not_judged });
        self.tell(&json!({ "event": "finished", "report": report, "claims": claims }));
    }

    fn tell(&mut self, line: &Value) {
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
        Event::Stored { took } => json!({ "event": "stored", "seconds": took.as_secs_f64() }),
        Event::Skipped => json!({ "event": "skipped" }),
        Event::Analysing { done, total } => {
            json!({ "event": "analysing", "done": done, "total": total })
        }
        Event::Reporting => json!({ "event": "reporting" }),
    }
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
    let made = serde_json::from_str(line).map_err(|error| error.to_string());
    match made.and_then(|change| steering.change(change)) {
        Ok(events) => json!({ "event": "path-changed", "events": events }),
        Err(what) => json!({ "event": "path-refused", "what": what }),
    }
}
