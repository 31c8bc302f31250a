//! Shows the progress of a run: a bar with the remaining time on a terminal, lines elsewhere.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tcplab_lab::{Event, RunDirectory};
use tcplab_units::Bytes;

use crate::output::{Bar, has_seen_notes, print_note};

/// A trial's share of the bar.
const STEPS: u64 = 1000;
/// Without a terminal, runs up to this many trials print a line for each.
const EACH: u64 = 200;

pub(crate) struct Display {
    bar: Bar,
    plain: bool,
    amount: Bytes,
    index: u64,
    total: u64,
    trial: String,
    /// When the first new trial started, and the number of existing ones.
    since: Instant,
    skipped: u64,
}

impl Display {
    /// A display for trials that each move `amount` of data.
    pub(crate) fn new(amount: Bytes) -> Display {
        let bar = Bar::new(
            None,
            "{spinner} {wide_bar} {percent:>3} %  {elapsed_precise} elapsed, about {eta} left\n  {msg}",
        );
        let plain = !has_seen_notes();
        let (trial, since) = (String::new(), Instant::now());
        Display { bar, plain, amount, index: 0, total: 0, trial, since, skipped: 0 }
    }

    /// A display for the trials of a run.
    pub(crate) fn of(run: &RunDirectory) -> Display {
        let amount = run.scenario().cases.first().map(|case| case.workload.amount());
        Display::new(amount.unwrap_or_default())
    }

    /// Shows an event of the run.
    pub(crate) fn show(&mut self, event: Event<'_>) {
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
                self.bar.set_length(self.total * STEPS);
                self.bar.set_position((self.index - 1) * STEPS);
                self.trial = format!("trial {index} of {total}: {case}, number {number}");
                self.bar.set_message(&self.trial);
                self.begun();
            }
            Event::Progress(progress) => {
                let amount = self.amount.as_u64();
                let share = (progress.received.as_u64() * STEPS).checked_div(amount);
                let share = share.unwrap_or(STEPS / 2).min(STEPS - 1);
                self.bar.set_position((self.index - 1) * STEPS + share);
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
                self.bar.set_position(self.index * STEPS);
            }
            Event::Flawed { flaws, again } => {
                let then = if again { "retrying" } else { "keeping it with a flag" };
                self.line(&format!("  flawed ({}); {then}", flaws.join("; ")));
            }
            Event::Analysing { done, total } => self.analysing(done, total),
            Event::Stored => self.bar.set_position(self.index * STEPS),
            Event::Skipped => {
                if self.total <= EACH {
                    self.line("  exists");
                }
                self.bar.set_position(self.index * STEPS);
                // Existing trials took no time: estimate from new ones.
                self.bar.reset_eta();
                (self.since, self.skipped) = (Instant::now(), self.index);
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
            let run = (self.index - self.skipped).max(1) as f64;
            let left = self.since.elapsed().as_secs_f64() / run * (self.total - self.index) as f64;
            let left = match left {
                s if s < 90.0 => format!("{s:.0} s"),
                s => format!("{:.0} min", s / 60.0),
            };
            self.line(&format!("{now} %, trial {} of {}, {left} left", self.index, self.total));
        }
    }

    /// The trials are done; shows the progress of the analysis.
    pub(crate) fn analysing(&self, done: usize, total: usize) {
        if done == 1 {
            self.line("analysing the trials");
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
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
