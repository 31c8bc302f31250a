//! Shows the progress of a run: a bar with the remaining time on a terminal, lines elsewhere.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tcplab_lab::{Event, Remaining, RunDirectory, RunEstimate, in_words};
use tcplab_units::Bytes;

use crate::output::{Bar, has_seen_notes, print_note};

/// The length of a bar that shows the time.
const STEPS: u64 = 1000;
/// The bar on a terminal; LEFT is replaced by how long it still takes.
const TEMPLATE: &str =
    "{spinner} {wide_bar} {percent:>3} %  {elapsed_precise} elapsed, about LEFT left\n  {msg}";
/// Without a terminal, runs up to this many trials print a line for each.
const EACH: u64 = 200;

pub(crate) struct Display {
    bar: Bar,
    plain: bool,
    amount: Bytes,
    index: u64,
    total: u64,
    trial: String,
    /// What the bar shows, where the time that is left is known.
    time: Option<Time>,
}

/// How long a run has taken, and still takes.
struct Time {
    began: Instant,
    remaining: Remaining,
    /// When it will be over, seconds after it began.
    end: Arc<AtomicU64>,
}

impl Time {
    fn left(&self) -> Duration {
        self.remaining.left(self.began.elapsed())
    }
}

impl Display {
    /// A display of an analysis.
    pub(crate) fn new() -> Display {
        let bar = Bar::new(None, &TEMPLATE.replace("LEFT", "{eta}"));
        let (amount, trial) = (Bytes::ZERO, String::new());
        Display { bar, plain: !has_seen_notes(), amount, index: 0, total: 0, trial, time: None }
    }

    /// A display for the trials of a run; one that is `quiet` shows failures only.
    pub(crate) fn of(run: &RunDirectory, estimate: &RunEstimate, quiet: bool) -> Display {
        let (began, end) = (Instant::now(), Arc::new(AtomicU64::new(estimate.seconds.1 as u64)));
        let until = Arc::clone(&end);
        let left = move || {
            let left = until.load(Ordering::Relaxed).saturating_sub(began.elapsed().as_secs());
            in_words(left as f64)
        };
        let amount = run.scenario().cases.first().map(|case| case.workload.amount());
        let display = Display::new();
        Display {
            bar: if quiet {
                Bar::hidden()
            } else {
                Bar::with_time_left(STEPS, &TEMPLATE.replace("LEFT", "{left}"), left)
            },
            plain: display.plain && !quiet,
            amount: amount.unwrap_or_default(),
            time: Some(Time { began, remaining: Remaining::new(run, estimate), end }),
            ..display
        }
    }

    /// Shows an event of the run.
    pub(crate) fn show(&mut self, event: Event<'_>) {
        if let Some(time) = &mut self.time {
            let passed = time.began.elapsed();
            time.remaining.handle(passed, &event);
            let left = time.remaining.left(passed);
            time.end.store((passed + left).as_secs(), Ordering::Relaxed);
            let share = passed.as_secs_f64() / (passed + left).as_secs_f64().max(1e-3);
            // It does not go back when there turns out to be more to do.
            let position = (share * STEPS as f64) as u64;
            self.bar.set_position(position.min(STEPS).max(self.bar.position()));
        }
        match event {
            Event::Calibrating { step, total } => {
                let text = format!("calibrating the path: step {step} of {total}");
                self.bar.set_message(&text);
                self.line(&text);
            }
            Event::WarmingUp { index, total } => {
                let text = format!("warm-up trial {index} of {total} (not counted)");
                self.bar.set_message(&text);
                self.line(&text);
            }
            Event::Started { index, total, case, number } => {
                (self.index, self.total) = (index as u64, total as u64);
                self.trial = format!("trial {index} of {total}: {case}, number {number}");
                self.bar.set_message(&self.trial);
                self.begun();
            }
            Event::Progress(progress) => {
                let received = progress.received.as_u64() as f64 / 1e6;
                // A load with a duration has no fixed amount.
                let of = match self.amount {
                    Bytes::ZERO => String::new(),
                    amount => format!(" of {:.1}", amount.as_u64() as f64 / 1e6),
                };
                self.bar.set_message(&format!(
                    "{}, {received:.1}{of} MB after {:.1} s",
                    self.trial,
                    progress.at.as_secs_f64()
                ));
            }
            Event::Failed { reason, again } => {
                let then = if again { "retrying" } else { "missing in the tables" };
                let text = format!("  {} failed: {reason}; {then}", self.trial);
                self.bar.print_above(&text);
            }
            Event::Flawed { flaws, again } => {
                let then = if again { "retrying" } else { "keeping it with a flag" };
                self.line(&format!("  flawed ({}); {then}", flaws.join("; ")));
            }
            Event::Analysing { done, total } => self.analysing(done, total),
            Event::Reporting => {
                self.bar.set_message("writing the report");
                self.line("writing the report");
            }
            Event::Stored { complaints, .. } => {
                for complaint in complaints {
                    self.bar.print_above(&format!("  ! {}: {complaint}", self.trial));
                }
            }
            Event::Skipped => {
                if self.total <= EACH {
                    self.line("  exists");
                }
            }
        }
    }

    /// Prints the current trial without a terminal; of many trials only each per cent, with the
    /// remaining time.
    fn begun(&self) {
        if self.total <= EACH {
            self.line(&self.trial);
            return;
        }
        let (before, now) = ((self.index - 1) * 100 / self.total, self.index * 100 / self.total);
        if before < now && now < 100 {
            let left = self.time.as_ref().map_or(Duration::ZERO, Time::left);
            let left = in_words(left.as_secs_f64());
            self.line(&format!("{now} %, trial {} of {}, {left} left", self.index, self.total));
        }
    }

    /// The trials are done; shows the progress of the analysis.
    pub(crate) fn analysing(&self, done: usize, total: usize) {
        if done == 1 {
            self.line("analysing the trials");
        }
        if self.time.is_none() {
            self.bar.set_length(total as u64);
            self.bar.set_position(done as u64);
        }
        self.bar.set_message("analysing the trials");
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.bar.clear();
    }

    /// Progress without a terminal.
    fn line(&self, text: &str) {
        if self.plain {
            print_note(text);
        }
    }
}

/// Whether to continue.
pub(crate) fn unless_stopped(stop: &AtomicBool) -> ControlFlow<()> {
    if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
