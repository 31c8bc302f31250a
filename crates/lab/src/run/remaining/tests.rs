use std::time::Duration;

use super::*;

/// What was recorded of a run.
struct Recorded {
    /// Case, world, estimate and number of trials.
    cases: &'static [(&'static str, World, f64, u32)],
    calibration: f64,
    report: f64,
    /// Seconds since its beginning, and what happened then.
    events: Vec<(f64, Happened)>,
    end: f64,
}

enum Happened {
    Calibrating(usize, usize),
    Begins(&'static str),
    /// After so many seconds of its own.
    Stored(&'static str, f64),
    Failed,
    Reporting,
}

use Happened::{Begins, Calibrating, Failed, Reporting, Stored};
use World::{Kernel, Simulated};

impl Recorded {
    /// What is said to be left after each event, beside what was left.
    fn replay(&self) -> Vec<(f64, f64, f64)> {
        let cases = self.cases.iter().map(|(name, world, estimate, missing)| {
            ((*name).to_owned(), CaseTime::new(*world, *estimate, *missing))
        });
        let mut remaining = Remaining {
            cases: cases.collect(),
            jobs: 2,
            calibration: self.calibration,
            warm_up: 0.0,
            report: self.report,
            part: Part::Start,
            since: 0.0,
            current: None,
        };
        let mut said = Vec::new();
        let mut has_trial = false;
        for (at, happened) in &self.events {
            let now = Duration::from_secs_f64(*at);
            let begins = |case| Event::Started { index: 1, total: 1, case, number: 1 };
            match happened {
                Calibrating(step, total) => {
                    remaining.handle(now, &Event::Calibrating { step: *step, total: *total });
                }
                Begins(case) => remaining.handle(now, &begins(case)),
                Stored(case, took) => {
                    if remaining.current.is_none() {
                        remaining.handle(now, &begins(case));
                    }
                    has_trial = true;
                    let took = Duration::from_secs_f64(*took);
                    remaining.handle(now, &Event::Stored { took, complaints: &[] });
                }
                Failed => remaining.handle(now, &Event::Failed { reason: "", again: false }),
                Reporting => remaining.handle(now, &Event::Reporting),
            }
            if has_trial {
                said.push((*at, remaining.left(now).as_secs_f64(), self.end - at));
            }
        }
        said
    }

    /// Within a factor of 1.5 from the first trial on, or half a second at the end.
    fn is_right(&self, what: &str) {
        let said = self.replay();
        assert!(said.len() > 3);
        for (at, said, true_one) in said {
            let is_close = (said - true_one).abs() < 0.5;
            let is_within = said <= 1.5 * true_one && true_one <= 1.5 * said;
            assert!(is_close || is_within, "{what}: at {at:.1} s {said:.1}, true {true_one:.1}");
        }
    }
}

/// `tcplab run interruption --quick` of an unoptimised build, on two busy processors: the trials
/// that take less than a second come first, and say nothing of those that take 17 s.
fn quick() -> Recorded {
    Recorded {
        cases: &[
            ("reno", Kernel, 16.987, 1),
            ("cubic", Kernel, 19.525, 1),
            ("model-reno", Simulated, 0.099, 1),
            ("model-cubic", Simulated, 0.077, 1),
            ("model-westwood", Simulated, 0.092, 1),
            ("windows-7", Simulated, 0.135, 1),
            ("osx-10.7", Simulated, 0.119, 1),
        ],
        calibration: 3.5,
        report: 0.237,
        events: vec![
            (0.70, Stored("model-cubic", 0.696)),
            (0.74, Stored("osx-10.7", 0.740)),
            (1.54, Stored("windows-7", 0.837)),
            (1.54, Stored("model-westwood", 0.798)),
            (2.02, Stored("model-reno", 0.478)),
            (2.02, Calibrating(1, 2)),
            (3.44, Calibrating(2, 2)),
            (4.74, Begins("reno")),
            (21.75, Stored("reno", 17.012)),
            (21.75, Begins("cubic")),
            (38.69, Stored("cubic", 16.938)),
            (38.70, Reporting),
        ],
        end: 40.18,
    }
}

#[test]
fn estimate_is_right_while_fast_trials_come_first() {
    quick().is_right("both worlds");
    // The share of trials that are done would say 0.7 s × 6, or 4.2 s.
    let (at, said, _) = quick().replay()[0];
    assert!(said > 30.0, "at {at} s: {said}");
}

/// The same in virtual time.
#[test]
fn estimate_is_right_where_trials_take_ten_times_as_long_as_estimated() {
    let recorded = Recorded {
        cases: &[
            ("reno", Simulated, 0.066, 1),
            ("cubic", Simulated, 0.067, 1),
            ("model-reno", Simulated, 0.100, 1),
            ("model-cubic", Simulated, 0.068, 1),
            ("model-westwood", Simulated, 0.170, 1),
            ("windows-7", Simulated, 0.106, 1),
            ("osx-10.7", Simulated, 0.115, 1),
        ],
        calibration: 0.0,
        report: 0.139,
        events: vec![
            (0.72, Stored("osx-10.7", 0.717)),
            (0.81, Stored("model-cubic", 0.804)),
            (1.64, Stored("windows-7", 0.919)),
            (1.67, Stored("model-westwood", 0.859)),
            (2.48, Stored("reno", 0.829)),
            (2.58, Stored("cubic", 0.903)),
            (3.00, Stored("model-reno", 0.521)),
            (3.01, Reporting),
        ],
        end: 3.95,
    };
    recorded.is_right("virtual time");
}

#[test]
fn estimate_follows_kernel_trials_that_take_longer_and_one_that_fails() {
    let mut at = 4.0;
    let mut events = vec![(0.0, Calibrating(1, 2)), (2.0, Calibrating(2, 2))];
    for number in 0..10 {
        events.push((at, Begins("load")));
        at += 9.0;
        let fails = number == 4;
        events.push((at, if fails { Failed } else { Stored("load", 9.0) }));
    }
    events.push((at, Reporting));
    let cases = &[("load", Kernel, 3.0, 10)];
    let recorded = Recorded { cases, calibration: 3.5, report: 0.3, events, end: at + 0.4 };
    recorded.is_right("three times the estimate");
}
