//! How long a run still takes: as estimated, corrected by what its trials took so far.

use std::collections::BTreeMap;
use std::time::Duration;

use tcplab_results::World;

use super::estimate::RunEstimate;
use super::event::Event;
use crate::store::RunDirectory;

/// How long a run still takes. It reads no clock: events come with their time since the run began.
///
/// A run has four parts, one after the other: trials in virtual time, several at once; calibration
/// and warm-up; trials on the kernel; analysis and report. A trial takes what those of its case
/// took, or else its estimate, corrected by what others of its world took over theirs.
#[derive(Debug, Clone)]
pub struct Remaining {
    cases: BTreeMap<String, CaseTime>,
    jobs: usize,
    calibration: f64,
    warm_up: f64,
    report: f64,
    part: Part,
    /// When `part` began.
    since: f64,
    /// The case of the trial that runs on the kernel, and when it began.
    current: Option<(String, f64)>,
}

/// What is known of a case's trials, wall-clock seconds each.
#[derive(Debug, Clone, Copy)]
struct CaseTime {
    world: World,
    estimate: f64,
    missing: u32,
    /// Of how many trials it is known what they took, and how much.
    known: u32,
    took: f64,
}

/// What the run is at.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Start,
    Virtual,
    Calibration { step: usize, total: usize },
    WarmUp { index: usize, total: usize },
    Kernel,
    Report,
}

impl Remaining {
    /// Of a run that begins or continues now.
    pub fn new(run: &RunDirectory, estimate: &RunEstimate) -> Remaining {
        let numbers = estimate.first..estimate.first + estimate.blocks;
        let cases = estimate.cases.iter().map(|case| {
            let missing = numbers.clone().filter(|number| !run.has_trial(&case.name, *number));
            (case.name.clone(), CaseTime::new(case.world, case.seconds, missing.count() as u32))
        });
        Remaining {
            cases: cases.collect(),
            jobs: estimate.jobs,
            calibration: estimate.calibration_seconds,
            warm_up: estimate.warm_up_seconds,
            report: estimate.report_seconds,
            part: Part::Start,
            since: 0.0,
            current: None,
        }
    }

    /// Something happened.
    pub fn handle(&mut self, at: Duration, event: &Event<'_>) {
        let at = at.as_secs_f64();
        match *event {
            Event::Calibrating { step, total } => self.enter(at, Part::Calibration { step, total }),
            Event::WarmingUp { index, total } => self.enter(at, Part::WarmUp { index, total }),
            Event::Started { case, .. } => {
                let world = self.cases.get(case).map_or(World::Kernel, |case| case.world);
                let part = if world == World::Kernel { Part::Kernel } else { Part::Virtual };
                // What runs at once began with the first.
                self.enter(if part == Part::Virtual { self.since } else { at }, part);
                self.current = Some((case.to_owned(), at));
            }
            Event::Stored { took, .. } => {
                if let Some(case) = self.finished() {
                    case.known += 1;
                    case.took += took.as_secs_f64();
                }
            }
            Event::Failed { again: false, .. } => {
                self.finished();
            }
            Event::Skipped => self.current = None,
            Event::Analysing { .. } | Event::Reporting => self.enter(at, Part::Report),
            Event::Progress(_) | Event::Failed { .. } | Event::Flawed { .. } => {}
        }
    }

    /// Steps of one part do not begin it again, but its steps count from its first.
    fn enter(&mut self, at: f64, part: Part) {
        if std::mem::discriminant(&self.part) != std::mem::discriminant(&part) {
            self.since = at;
            self.current = None;
        }
        self.part = part;
    }

    /// The current trial is over.
    fn finished(&mut self) -> Option<&mut CaseTime> {
        let (case, _) = self.current.take()?;
        let case = self.cases.get_mut(&case)?;
        case.missing = case.missing.saturating_sub(1);
        Some(case)
    }

    /// How long it takes from now on, about.
    pub fn left(&self, at: Duration) -> Duration {
        let at = at.as_secs_f64();
        let report = self.report * self.ratio(World::Simulated);
        let seconds = match self.part {
            Part::Report => report - (at - self.since),
            _ => self.virtual_left(at) + self.before_left(at) + self.kernel_left(at) + report,
        };
        Duration::from_secs_f64(seconds.max(0.0))
    }

    /// What the trials of a world took over their estimates; 1 as long as none did.
    fn ratio(&self, world: World) -> f64 {
        let known = || self.cases.values().filter(|case| case.world == world);
        let estimated: f64 = known().map(|case| case.estimate * f64::from(case.known)).sum();
        let took: f64 = known().map(|case| case.took).sum();
        if estimated > 0.0 { took / estimated } else { 1.0 }
    }

    /// What all missing trials of a world take one after the other, and how many those are.
    fn missing(&self, world: World) -> (f64, f64) {
        let ratio = self.ratio(world);
        let of = |case: &CaseTime| match case.known {
            0 => case.estimate * ratio,
            known => case.took / f64::from(known),
        };
        let all = self.cases.values().filter(|case| case.world == world);
        all.fold((0.0, 0.0), |(seconds, count), case| {
            let missing = f64::from(case.missing);
            (seconds + of(case) * missing, count + missing)
        })
    }

    fn virtual_left(&self, at: f64) -> f64 {
        let (seconds, count) = self.missing(World::Simulated);
        if count == 0.0 {
            return 0.0;
        }
        let lanes = (self.jobs as f64).min(count);
        if self.part != Part::Virtual {
            return seconds / lanes;
        }
        let simulated = self.cases.values().filter(|case| case.world == World::Simulated);
        let took: f64 = simulated.map(|case| case.took).sum();
        // What the trials under way have behind them: all time of all lanes that no trial took yet.
        let under_way = ((at - self.since) * self.jobs as f64 - took).max(0.0);
        let most = seconds * lanes / count;
        (seconds - under_way.min(most)) / lanes
    }

    fn before_left(&self, at: f64) -> f64 {
        match self.part {
            Part::Start | Part::Virtual => self.calibration + self.warm_up,
            Part::Calibration { step, total } => {
                let (done, to_do) = ((step - 1) as f64, (total + 1 - step) as f64);
                let each = if step > 1 {
                    (at - self.since) / done
                } else {
                    self.calibration / total as f64
                };
                each * to_do + self.warm_up
            }
            Part::WarmUp { index, total } => {
                self.warm_up * (total + 1 - index) as f64 / total as f64
            }
            Part::Kernel | Part::Report => 0.0,
        }
    }

    fn kernel_left(&self, at: f64) -> f64 {
        let (seconds, count) = self.missing(World::Kernel);
        let Some((_, begun)) = self.current.as_ref().filter(|_| self.part == Part::Kernel) else {
            return seconds;
        };
        // A trial that takes longer than others ends at any moment.
        seconds - (at - begun).min(seconds / count.max(1.0))
    }
}

impl CaseTime {
    fn new(world: World, estimate: f64, missing: u32) -> CaseTime {
        CaseTime { world, estimate, missing, known: 0, took: 0.0 }
    }
}

#[cfg(test)]
mod tests;
