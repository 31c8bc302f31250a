//! How far work is that may take long: a bar on a terminal, elsewhere a line now and then.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::json;
use tcplab_capture::Source;
use tcplab_lab::compare::Progress;
use tcplab_units::{Bytes, rounded};

use crate::output::{Bar, answer, has_seen_notes, print_note};

/// No bar before this time.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);
/// No line before this time, and how often there is one.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far work is, until dropped.
pub(crate) struct Work {
    state: Arc<State>,
    watcher: Option<JoinHandle<()>>,
}

/// What the work and its watcher share.
#[derive(Debug)]
struct State {
    measure: Measure,
    /// Steps that are done.
    done: AtomicU64,
    /// What is done at the time, where the work has parts.
    part: Mutex<Part>,
    is_over: AtomicBool,
}

/// A part of work.
#[derive(Debug, Default)]
struct Part {
    name: &'static str,
    /// How far it is, and the name of its steps, where it has some.
    steps: Option<(Progress, &'static str)>,
}

/// How far work is.
#[derive(Debug)]
enum Measure {
    /// What was read of files, and their size, if it is known. It is polled: readers need not
    /// report.
    Bytes(Vec<Arc<AtomicU64>>, Option<u64>),
    /// Steps, as many as there are, if that is known, by their name.
    Steps(Option<u64>, &'static str),
    /// Which part it is at.
    Parts,
}

impl Work {
    /// Reading these; on a terminal alone.
    pub(crate) fn of_reading_quietly<'a>(sources: impl Iterator<Item = &'a Source>) -> Work {
        Work::start(bytes_of(sources), false)
    }

    /// Reading these.
    pub(crate) fn of_reading<'a>(sources: impl Iterator<Item = &'a Source>) -> Work {
        Work::start(bytes_of(sources), true)
    }

    /// So many steps, if that is known, of this name.
    pub(crate) fn of_steps(total: Option<u64>, name: &'static str) -> Work {
        Work::start(Measure::Steps(total, name), true)
    }

    /// Several parts, of which this is the first.
    pub(crate) fn of_parts(first: &'static str) -> Work {
        let work = Work::start(Measure::Parts, true);
        work.goes_on(first);
        work
    }

    /// The same, told as lines of JSON on standard output to a program that runs this one.
    pub(crate) fn of_told_parts(first: &'static str) -> Work {
        let work = Work::watched(Measure::Parts, Some(State::tell));
        work.goes_on(first);
        work
    }

    /// A step is done.
    pub(crate) fn step(&self) {
        self.state.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The next part begins.
    pub(crate) fn goes_on(&self, part: &'static str) {
        *self.state.part() = Part { name: part, steps: None };
    }

    /// The next part begins, of steps with this name.
    pub(crate) fn goes_on_by(&self, part: &'static str, progress: &Progress, steps: &'static str) {
        *self.state.part() = Part { name: part, steps: Some((progress.clone(), steps)) };
    }

    fn start(measure: Measure, has_lines: bool) -> Work {
        let show: Option<fn(&State)> = match (has_seen_notes(), has_lines) {
            (true, _) => Some(State::draw),
            (false, true) => Some(State::print),
            (false, false) => None,
        };
        Work::watched(measure, show)
    }

    fn watched(measure: Measure, show: Option<fn(&State)>) -> Work {
        let (done, part, is_over) = (AtomicU64::new(0), Mutex::default(), AtomicBool::new(false));
        let state = Arc::new(State { measure, done, part, is_over });
        let watched = Arc::clone(&state);
        // Where there can be no thread, nothing is shown.
        let watch = |show: fn(&State)| thread::Builder::new().spawn(move || show(&watched)).ok();
        let watcher = show.and_then(watch);
        Work { state, watcher }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            watcher.thread().unpark();
            // It ends by itself; should it have panicked, the bar is all that is lost.
            let _ = watcher.join();
        }
    }
}

fn bytes_of<'a>(sources: impl Iterator<Item = &'a Source>) -> Measure {
    let (mut taken, mut size) = (Vec::new(), Some(0));
    for source in sources {
        taken.push(source.taken());
        size = size.zip(source.size()).map(|(all, one)| all + one);
    }
    Measure::Bytes(taken, size)
}

impl State {
    /// Waits; whether the work is over.
    fn is_over_after(&self, span: Duration) -> bool {
        let until = Instant::now() + span;
        while !self.is_over.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            thread::park_timeout(left);
        }
        true
    }

    fn draw(&self) {
        if self.is_over_after(PATIENCE) {
            return;
        }
        let (size, template) = match &self.measure {
            Measure::Bytes(_, Some(size)) => {
                (Some(*size), "{spinner} {wide_bar} {bytes} of {total_bytes}, about {eta} left")
            }
            Measure::Bytes(_, None) => (None, "{spinner} {bytes} read, {elapsed_precise}"),
            Measure::Steps(Some(total), _) => {
                (Some(*total), "{spinner} {wide_bar} {msg}, about {eta} left")
            }
            Measure::Steps(None, _) | Measure::Parts => {
                (None, "{spinner} {msg}, {elapsed_precise}")
            }
        };
        let bar = Bar::new(size, template);
        loop {
            bar.set_message(&self.text());
            bar.set_position(self.done());
            if self.is_over_after(TICK) {
                break;
            }
        }
        bar.clear();
    }

    fn print(&self) {
        while !self.is_over_after(LINE_EVERY) {
            print_note(&self.text());
        }
    }

    /// A line of JSON whenever it is further.
    fn tell(&self) {
        let mut last = None;
        while !self.is_over_after(TICK) {
            let (part, steps) = {
                let part = self.part();
                (part.name, part.steps.as_ref().map(|(progress, _)| progress.steps()))
            };
            let (done, total) = steps.unwrap_or_default();
            if last.replace((part, done, total)) == Some((part, done, total)) {
                continue;
            }
            let line = json!({ "event": "part", "name": part, "done": done, "total": total });
            if answer(&format!("{line}\n")).is_err() {
                return;
            }
        }
    }

    fn part(&self) -> MutexGuard<'_, Part> {
        self.part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn done(&self) -> u64 {
        match &self.measure {
            Measure::Bytes(taken, _) => taken.iter().map(|it| it.load(Ordering::Relaxed)).sum(),
            Measure::Steps(..) | Measure::Parts => self.done.load(Ordering::Relaxed),
        }
    }

    fn text(&self) -> String {
        let part = self.part().name;
        let amount = self.amount();
        if part.is_empty() || amount.is_empty() {
            return format!("{part}{amount}");
        }
        format!("{part}: {amount}")
    }

    fn amount(&self) -> String {
        let done = self.done();
        let amount = |bytes| rounded::bytes(Bytes::new(bytes));
        match self.measure {
            Measure::Bytes(_, Some(size)) => format!("{} of {} read", amount(done), amount(size)),
            Measure::Bytes(_, None) => format!("{} read", amount(done)),
            Measure::Steps(Some(total), name) => format!("{done} of {total} {name}"),
            Measure::Steps(None, name) => format!("{done} {name}"),
            Measure::Parts => self.steps_of_part().unwrap_or_default(),
        }
    }

    /// None where the part has no steps, or it is not known how many.
    fn steps_of_part(&self) -> Option<String> {
        let part = self.part();
        let (progress, name) = part.steps.as_ref()?;
        let (done, total) = progress.steps();
        let percent = (done * 100).checked_div(total)?;
        Some(format!("{done} of {total} {name} ({percent} %)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_says_how_far_it_is() {
        let scripts = Work::of_steps(Some(40), "scripts");
        (0..3).for_each(|_| scripts.step());
        assert_eq!(scripts.state.text(), "3 of 40 scripts");
        let rows = Work::of_steps(None, "rows");
        rows.step();
        assert_eq!(rows.state.text(), "1 rows");
        let parts = Work::of_parts("reading the runs");
        parts.goes_on("comparing");
        assert_eq!(parts.state.text(), "comparing");
        let progress = Progress::default();
        parts.goes_on_by("comparing", &progress, "steps");
        assert_eq!(parts.state.text(), "comparing", "it is not known how many");
        progress.begin(80);
        progress.advance(13);
        assert_eq!(parts.state.text(), "comparing: 13 of 80 steps (16 %)");
        let taken = Arc::new(AtomicU64::new(2_000_000));
        let reading = Work::start(Measure::Bytes(vec![taken], Some(8_000_000)), false);
        assert_eq!(reading.state.text(), "2.00 MB of 8.00 MB read");
        reading.goes_on("packets of A");
        assert_eq!(reading.state.text(), "packets of A: 2.00 MB of 8.00 MB read");
    }
}
