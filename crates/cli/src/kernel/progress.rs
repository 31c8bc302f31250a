//! Shows how far a build is: a bar with the remaining time on a terminal, lines elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tcplab_kernels::Event;
use tcplab_lab::in_words;
use tcplab_units::{Bytes, rounded, visible_line};

use crate::output::{Bar, has_seen_notes, print_note};

/// The length of the bar, which shows time.
const STEPS: u64 = 1000;
const TEMPLATE: &str =
    "{spinner} {wide_bar} {percent:>3} %  {elapsed_precise} elapsed, about {left} left\n  {msg}";

/// Usual times until this machine's are known, seconds: on two processors of 2024.
const DOWNLOAD: f64 = 20.0;
const UNPACK: f64 = 30.0;
const CONFIGURE: f64 = 10.0;
const COMPILE_BY_ONE: f64 = 440.0;
const STORE: f64 = 2.0;
/// So many files say how fast this machine compiles.
const ENOUGH: u64 = 20;

pub(super) struct Display {
    bar: Bar,
    quiet: bool,
    plain: bool,
    began: Instant,
    /// When the present step began.
    step: Instant,
    /// The step, as lines and the bar name it.
    message: String,
    /// Seconds that compiling takes by experience.
    compile: f64,
    /// When the build will be over, seconds after it began.
    end: Arc<AtomicU64>,
    /// Tenths of the compilation that were printed.
    tenths: u64,
}

impl Display {
    /// Of a build by so many processors.
    pub(super) fn new(processors: usize, quiet: bool) -> Display {
        let (began, compile) = (Instant::now(), COMPILE_BY_ONE / processors as f64);
        let all = DOWNLOAD + UNPACK + CONFIGURE + compile + STORE;
        let end = Arc::new(AtomicU64::new(all as u64));
        let until = Arc::clone(&end);
        let left = move || {
            let left = until.load(Ordering::Relaxed).saturating_sub(began.elapsed().as_secs());
            in_words(left as f64)
        };
        let bar = if quiet { Bar::hidden() } else { Bar::with_time_left(STEPS, TEMPLATE, left) };
        let plain = !quiet && !has_seen_notes();
        let (step, message) = (began, String::new());
        Display { bar, quiet, plain, began, step, message, compile, end, tenths: 0 }
    }

    /// How long it has taken.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn show(&mut self, event: Event) {
        let later = |steps: &[f64]| steps.iter().sum::<f64>();
        match event {
            Event::Replaces { source } => {
                let text = format!("! replaces the image of {}", visible_line(&source));
                if !self.quiet {
                    self.bar.print_above(&text);
                }
            }
            Event::Looking { suite } => {
                self.step(&format!("looking for the source in {suite}"));
                self.left(later(&[DOWNLOAD, UNPACK, CONFIGURE, self.compile, STORE]));
            }
            Event::Downloading { package, done, total } => {
                let size = rounded::bytes(Bytes::new(total));
                self.step(&format!("downloading {package} ({size})"));
                let share = done as f64 / total.max(1) as f64;
                let own = self.remaining(share, done > 1_000_000, DOWNLOAD);
                self.left(own + later(&[UNPACK, CONFIGURE, self.compile, STORE]));
            }
            Event::Unpacking => {
                self.step("unpacking the source");
                self.left(later(&[UNPACK, CONFIGURE, self.compile, STORE]));
            }
            Event::Updating { files } => self.line(&format!("updating {files} files")),
            Event::Patched { names } => {
                let names = if names.is_empty() { "none".into() } else { names.join(", ") };
                self.line(&format!("patches: {names}"));
            }
            Event::Configuring => {
                self.step("configuring");
                self.left(later(&[CONFIGURE, self.compile, STORE]));
            }
            Event::Compiling { done, before, expected } => {
                self.step("compiling");
                let text = format!("compiling: {done} of about {} files", expected.max(done));
                self.bar.set_message(&text);
                let (new, all) = (done - before, expected.saturating_sub(before).max(1));
                let share = (new as f64 / all as f64).min(0.99);
                self.left(self.remaining(share, new >= ENOUGH, self.compile) + STORE);
                if new >= ENOUGH {
                    self.tenth(&text, 10 * done / expected.max(1));
                }
            }
            Event::Storing => {
                self.step("storing the image");
                self.left(STORE);
            }
        }
    }

    /// Seconds that the present step still takes: by its pace, once that `is_known`.
    fn remaining(&self, share: f64, is_known: bool, usual: f64) -> f64 {
        let passed = self.step.elapsed().as_secs_f64();
        if is_known { passed * (1.0 - share) / share.max(1e-3) } else { usual * (1.0 - share) }
    }

    fn step(&mut self, message: &str) {
        if self.message != message {
            message.clone_into(&mut self.message);
            self.step = Instant::now();
            self.bar.set_message(message);
            self.line(message);
        }
    }

    fn left(&self, seconds: f64) {
        let passed = self.began.elapsed().as_secs_f64();
        self.end.store((passed + seconds) as u64, Ordering::Relaxed);
        let share = passed / (passed + seconds).max(1e-3);
        // It does not go back when there turns out to be more to do.
        let position = (share * STEPS as f64) as u64;
        self.bar.set_position(position.min(STEPS).max(self.bar.position()));
    }

    fn tenth(&mut self, text: &str, tenths: u64) {
        if tenths > self.tenths && tenths < 10 {
            self.tenths = tenths;
            let left =
                self.end.load(Ordering::Relaxed).saturating_sub(self.began.elapsed().as_secs());
            self.line(&format!("{text}, about {} left", in_words(left as f64)));
        }
    }

    /// Progress without a terminal.
    fn line(&self, text: &str) {
        if self.plain {
            print_note(text);
        }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.bar.clear();
    }
}
