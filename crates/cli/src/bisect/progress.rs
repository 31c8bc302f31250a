//! Shows how far a bisection is: a line when a step begins, ends or compiles; a bar on a terminal.

use std::time::{Duration, Instant};

use tcplab_kernels::Event as BuildEvent;
use tcplab_lab::bisect::{BisectStep, BisectTask, Bisection, StepVerdict};
use tcplab_lab::{Event, in_words};
use tcplab_results::Claim;
use tcplab_units::visible_line;

use crate::output::{Bar, counted, has_seen_notes};

const TEMPLATE: &str = "{spinner} {elapsed_precise}  {msg}";
/// How often the bar's message changes at most.
const OFTEN: Duration = Duration::from_millis(100);

pub(super) struct Display {
    bar: Bar,
    quiet: bool,
    /// Whether there is no terminal: then each phase of a step is a line.
    plain: bool,
    phase: &'static str,
    /// The step, as the bar names it.
    step: String,
    changed: Instant,
}

impl Display {
    pub(super) fn new(quiet: bool) -> Display {
        let bar = if quiet { Bar::hidden() } else { Bar::new(None, TEMPLATE) };
        let (plain, step) = (!has_seen_notes(), String::new());
        Display { bar, quiet, plain, phase: "", step, changed: Instant::now() }
    }

    /// A step begins.
    pub(super) fn begins(&mut self, bisection: &Bisection, task: BisectTask) {
        let BisectTask { step, commits, left } = task;
        self.step = match step {
            0 => "good".into(),
            1 => "bad".into(),
            step => format!("step {}", step - 1),
        };
        let left = match (step, left) {
            (0 | 1, left) => format!("about {} to come", counted(left.into(), "step")),
            (_, 0) => "the last one".into(),
            (_, left) => format!("about {left} more"),
        };
        let commits = counted(commits as u64, "commit");
        let commit = bisection.steps[step].commit.in_words();
        self.phase = "";
        self.line(&format!("{}: {commit}, {commits}, {left}", self.step));
    }

    /// What a build does.
    pub(super) fn build(&mut self, event: &BuildEvent) {
        let (phase, detail) = match event {
            BuildEvent::Unpacking => ("unpacking the source", String::new()),
            BuildEvent::Updating { files } => {
                ("updating the source", counted(*files, "changed file"))
            }
            BuildEvent::Configuring => ("configuring", String::new()),
            BuildEvent::Compiling { done, before: 0, expected } => {
                ("compiling", format!("{done} of about {} files", expected.max(done)))
            }
            BuildEvent::Compiling { done, before, .. } => {
                ("compiling", counted(done - before, "file"))
            }
            BuildEvent::Storing => ("storing the image", String::new()),
            BuildEvent::Replaces { .. }
            | BuildEvent::Looking { .. }
            | BuildEvent::Downloading { .. }
            | BuildEvent::Patched { .. } => return,
        };
        self.phase(phase, &detail);
    }

    /// What a run does.
    pub(super) fn trials(&mut self, event: Event<'_>) {
        match event {
            Event::Started { index, total, case, .. } => {
                self.phase("running the trials", &format!("{index} of {total}, {case}"));
            }
            Event::Failed { reason, again } => {
                let then = if again { "retrying" } else { "missing" };
                self.line(&format!("  a trial failed: {reason}; {then}"));
            }
            Event::Reporting => self.phase("writing the report", ""),
            _ => {}
        }
    }

    /// A step has its verdict.
    pub(super) fn ended(&mut self, step: &BisectStep) {
        self.line(&format!("  {}", built(step)));
        let time = in_words(step.trials_s);
        match step.verdict {
            Some(StepVerdict::Good) => self.line(&format!("  good, trials in {time}")),
            Some(StepVerdict::Bad) => self.line(&format!("  bad, trials in {time}")),
            Some(StepVerdict::Skipped) => {
                let reason = step.reason.as_deref().unwrap_or_default();
                self.line(&format!("  skipped: {reason}"));
            }
            None => {}
        }
        for claim in &step.claims {
            self.line(&format!("    {}", figures(claim)));
        }
    }

    /// A line where a phase begins and there is no terminal; the bar shows the details.
    fn phase(&mut self, phase: &'static str, detail: &str) {
        let is_new = self.phase != phase;
        if is_new && self.plain {
            self.line(&format!("  {phase}"));
        }
        if is_new || self.changed.elapsed() > OFTEN {
            (self.phase, self.changed) = (phase, Instant::now());
            let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
            self.bar.set_message(&format!("{}: {phase}{detail}", self.step));
        }
    }

    fn line(&self, text: &str) {
        if !self.quiet {
            self.bar.print_above(text);
        }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.bar.clear();
    }
}

fn built(step: &BisectStep) -> String {
    let time = in_words(step.build_s);
    match (step.is_built, step.verdict) {
        (false, Some(StepVerdict::Skipped)) if step.run.is_none() => {
            format!("not built, after {time}")
        }
        (false, _) => "built before".into(),
        (true, _) => format!("built in {time}, {} compiled", counted(step.compiled_files, "file")),
    }
}

/// A claim, how it went, and what was found.
pub(super) fn figures(claim: &Claim) -> String {
    let Claim { claim: text, check, found, .. } = claim;
    let said = format!("{} {text} ({check}): {found}", claim.outcome().sign());
    visible_line(&said).into_owned()
}
