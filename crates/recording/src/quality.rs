//! When a trial is flawed because of the machine it ran on: all bounds and sentences.
//!
//! A flawed trial is flagged everywhere, and run again if that is allowed. A path that is used
//! without a trial warns in the same words.

use tcplab_path::{Direction, LinkPlan, PathSpec};
use tcplab_units::Span;

use crate::WorldRecord;

/// Packets that come later than this are late on any path: a quarter of a tick of a kernel with
/// HZ=250, in which TCP's timers count, and what a machine that is not overloaded keeps with ease.
pub const LEAST_TOLERANCE: Span = Span::from_millis(1);
/// At most this share of the round trip, in percent: the variance that a round-trip
/// estimator sees from it is then below what it forgets between two samples (RFC 6298: an eighth).
const ROUND_TRIP_SHARE: u64 = 5;
/// And at most this: a fiftieth of the shortest retransmission timeout, 200 ms.
const MOST_TOLERANCE: Span = Span::from_millis(4);
/// The share of the time for which the thread that moves frames may wait for a processor, in per
/// mille: beyond it, it is the machine's other work that paces the packets.
const STARVED_PER_MILLE: u64 = 10;
/// More missed samples of `TCP_INFO` than this are flagged; fewer leave no visible gap in a graph.
const MISSED_PER_CENT: u64 = 2;
/// Above this share of a second at work, the thread that moves frames sets the pace.
const BUSY: f64 = 0.95;

/// What the behaviour of a world is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// The delay of both directions.
    pub round_trip: Span,
    /// Whether the path holds packets at all: one that does not has no time to keep.
    pub is_timed: bool,
    /// How long it was used.
    pub duration: Span,
    /// How many samples of `TCP_INFO` were taken.
    pub samples: u64,
    /// Whether the machine may set the pace. So it is in a trial: what the machine can do was
    /// measured before, or is what the trial measures.
    pub may_be_busy: bool,
}

impl Measure {
    /// That of a path used for so long by itself: no socket is sampled.
    pub fn of(path: &PathSpec, duration: Span) -> Measure {
        let links = Direction::BOTH.map(|direction| path.link(direction).unwrap_or_default());
        Measure {
            round_trip: path.round_trip(),
            is_timed: !links.iter().all(LinkPlan::is_instant),
            duration,
            samples: 0,
            may_be_busy: false,
        }
    }
}

/// How late one packet in a hundred may be on a path with that round trip.
pub fn tolerance(round_trip: Span) -> Span {
    let share = Span::from_nanos(round_trip.as_nanos() / 100 * ROUND_TRIP_SHARE);
    share.clamp(LEAST_TOLERANCE, MOST_TOLERANCE)
}

/// What makes measurements through the path doubtful, a sentence each; empty if nothing does.
pub fn flaws(world: &WorldRecord, measure: &Measure) -> Vec<String> {
    let mut flaws = Vec::new();
    let bound = tolerance(measure.round_trip);
    if measure.is_timed && world.lateness.p99 > bound {
        flaws.push(format!(
            "packets were handed over late: 1 % by more than {} (bound {bound}), at most {}",
            millis(world.lateness.p99),
            millis(world.lateness.max)
        ));
    }
    if measure.is_timed && world.ring_wait.p99 > bound {
        flaws.push(format!(
            "packets may have waited where the path did not see them: 1 % for more than {} (bound \
             {bound}), at most {}",
            millis(world.ring_wait.p99),
            millis(world.ring_wait.max)
        ));
    }
    flaws.extend(lost(world));
    let (starved, busy) = (world.mover.starved, world.mover.busiest);
    if !measure.may_be_busy && busy > BUSY {
        flaws.push(format!(
            "moving packets took {:.0} % of a processor in the busiest second: this machine, not the \
             path, set the pace",
            busy * 100.0
        ));
    }
    if starved * 1000 > measure.duration * STARVED_PER_MILLE {
        flaws.push(format!(
            "the thread that moves packets waited {} for a processor, {:.1} % of the time",
            millis(starved),
            starved.as_secs_f64() / measure.duration.as_secs_f64().max(f64::MIN_POSITIVE) * 100.0
        ));
    }
    match world.mover.clock_steps {
        0 => {}
        1 => flaws.push("the wall clock was set once".into()),
        times => flaws.push(format!("the wall clock was set {times} times")),
    }
    let (missed, due) = (world.samples_missed, measure.samples + world.samples_missed);
    if missed * 100 > due * MISSED_PER_CENT {
        flaws.push(format!("{missed} of {due} samples of TCP_INFO were missed"));
    }
    flaws
}

/// What got lost outside the path: there is no number of these that does no harm.
fn lost(world: &WorldRecord) -> Vec<String> {
    [
        (world.device_drops, "frames were lost outside the path, by the devices at its ends"),
        (world.capture_drops, "frames are missing in the captures"),
        (world.verdict_drops, "verdicts are missing in the ground truth (path.jsonl)"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect()
}

fn millis(span: Span) -> String {
    format!("{:.1} ms", span.as_millis_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lateness, MoverRecord, RingWait};

    const MEASURE: Measure = Measure {
        round_trip: Span::from_millis(40),
        is_timed: true,
        duration: Span::from_secs(10),
        samples: 98,
        may_be_busy: true,
    };

    #[test]
    fn lateness_is_measured_by_the_round_trip() {
        for (round_trip, bound) in [(0, 1_000), (20, 1_000), (40, 2_000), (600, 4_000)] {
            assert_eq!(tolerance(Span::from_millis(round_trip)), Span::from_micros(bound));
        }
    }

    #[test]
    fn each_bound_is_where_it_is_said_to_be() {
        let late = |p99| Lateness { p99: Span::from_micros(p99), ..Lateness::default() };
        let waited = |p99| RingWait { p99: Span::from_micros(p99), max: Span::ZERO };
        let starved = |ms| MoverRecord { starved: Span::from_millis(ms), ..MoverRecord::default() };
        let world = WorldRecord::default;
        for (good, flawed, named) in [
            (
                WorldRecord { lateness: late(2_000), ..world() },
                WorldRecord { lateness: late(2_001), ..world() },
                "handed over late",
            ),
            (
                WorldRecord { ring_wait: waited(2_000), ..world() },
                WorldRecord { ring_wait: waited(2_001), ..world() },
                "did not see them",
            ),
            (world(), WorldRecord { device_drops: 1, ..world() }, "1 frames were lost outside"),
            (world(), WorldRecord { capture_drops: 2, ..world() }, "missing in the captures"),
            (world(), WorldRecord { verdict_drops: 3, ..world() }, "ground truth"),
            (
                WorldRecord { mover: starved(100), ..world() },
                WorldRecord { mover: starved(101), ..world() },
                "for a processor",
            ),
            (
                world(),
                WorldRecord {
                    mover: MoverRecord { clock_steps: 1, ..MoverRecord::default() },
                    ..world()
                },
                "set once",
            ),
            (
                WorldRecord { samples_missed: 2, ..world() },
                WorldRecord { samples_missed: 3, ..world() },
                "3 of 101 samples",
            ),
        ] {
            let found = |world| flaws(&world, &MEASURE);
            assert_eq!(found(good), Vec::<String>::new(), "{named}");
            let flaws = found(flawed);
            assert!(flaws.len() == 1 && flaws[0].contains(named), "{named}: {flaws:?}");
        }
    }

    #[test]
    fn path_without_delay_has_no_timing_bound() {
        let world = WorldRecord {
            ring_wait: RingWait { p99: Span::from_millis(50), max: Span::from_millis(60) },
            ..WorldRecord::default()
        };
        assert_eq!(flaws(&world, &Measure { is_timed: false, ..MEASURE }), Vec::<String>::new());
        assert_eq!(flaws(&world, &MEASURE).len(), 1);
    }

    #[test]
    fn path_without_trial_has_same_bounds() {
        let path: PathSpec = serde_json::from_str(r#"{ "delay": "20 ms" }"#).unwrap();
        let measure = Measure::of(&path, Span::from_secs(10));
        assert_eq!(measure, Measure { samples: 0, may_be_busy: false, ..MEASURE });
        assert!(!Measure::of(&PathSpec::default(), Span::from_secs(10)).is_timed);
        assert_eq!(flaws(&WorldRecord::default(), &measure), Vec::<String>::new());
        let bad = WorldRecord {
            lateness: Lateness {
                p99: Span::from_millis(5),
                max: Span::from_millis(8),
                ..Lateness::default()
            },
            device_drops: 3,
            mover: MoverRecord { busiest: 0.99, clock_steps: 2, ..MoverRecord::default() },
            ..WorldRecord::default()
        };
        assert_eq!(
            flaws(&bad, &measure),
            [
                "packets were handed over late: 1 % by more than 5.0 ms (bound 2 ms), at most 8.0 ms",
                "3 frames were lost outside the path, by the devices at its ends",
                "moving packets took 99 % of a processor in the busiest second: this machine, not the \
                 path, set the pace",
                "the wall clock was set 2 times",
            ]
        );
        assert_eq!(flaws(&bad, &MEASURE).len(), 3, "a trial may take all of a processor");
    }
}
