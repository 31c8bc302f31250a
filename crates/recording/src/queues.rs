//! How much waited for the bottlenecks of a path over time, by its verdicts.

use std::collections::BTreeSet;
use std::fmt;

use tcplab_path::{
    Cause, Direction, ElementPlan, Fate, LinkPlan, PathSpec, QueueLimit, QueuePlan, Verdict,
};
use tcplab_units::{Bytes, Instant};

use crate::TrialRecord;

/// The queues of a path while a trial ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Queues {
    /// One for each direction that has a bottleneck.
    Logged(Vec<QueueLog>),
    /// Nobody knows.
    Unknown(NoQueueLog),
}

/// Why nobody knows how much waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoQueueLog {
    /// Both ends were on one host.
    SameHost,
    /// The kernel's queueing disciplines made the path.
    Kernel,
}

impl fmt::Display for NoQueueLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoQueueLog::SameHost => "both ends were on one host, without a path between them",
            NoQueueLog::Kernel => {
                "the kernel made the path (netem), and it does not tell when a packet enters and \
                 leaves its queue"
            }
        })
    }
}

/// What waited for the bottleneck of one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueLog {
    /// Whose packets waited.
    pub direction: Direction,
    /// Whether it is that of the second path.
    pub second_path: bool,
    /// How many bottlenecks the direction has. Of several it is the last one's queue: verdicts have
    /// the times there.
    pub bottlenecks: usize,
    /// How it is managed.
    pub plan: QueuePlan,
    /// How much waited from each time on, in order of time; before, nothing did. Packets that came
    /// and left at one time change nothing.
    pub lengths: Vec<QueueLength>,
    /// The packets that the path dropped in this direction, in order of time.
    pub drops: Vec<QueueDrop>,
    /// Verdicts of the whole path that were not written: then more may have waited.
    pub missing: u64,
}

/// How much waited from a time on; the packet being sent does not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLength {
    /// From when on.
    pub at: Instant,
    /// How many packets.
    pub packets: u32,
    /// How many bytes of IP these have.
    pub bytes: Bytes,
}

/// A packet that was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueDrop {
    /// When.
    pub at: Instant,
    /// Why.
    pub cause: Cause,
}

impl QueueLog {
    /// How much waited at that time.
    pub fn at(&self, at: Instant) -> QueueLength {
        let later = self.lengths.partition_point(|it| it.at <= at);
        let nothing = QueueLength { at: Instant::ZERO, packets: 0, bytes: Bytes::ZERO };
        later.checked_sub(1).map_or(nothing, |last| self.lengths[last])
    }

    /// How much may wait.
    pub fn limit(&self) -> QueueLimit {
        self.plan.limit()
    }
}

/// Gathers what waited from the verdicts on all packets, in any order.
///
/// It takes memory for each packet that waited or was dropped.
#[derive(Debug)]
pub(crate) struct QueueLogs(Vec<Gathered>);

#[derive(Debug)]
struct Gathered {
    log: QueueLog,
    /// Whether packets come to the queue as they enter the link.
    is_at_entrance: bool,
    /// Whether packets are copied or cut behind the queue: each piece has the times of the whole.
    makes_pieces: bool,
    seen: BTreeSet<(u64, Instant, Instant)>,
    changes: Vec<Change>,
}

/// Packets and bytes that come to the queue at a time, or leave it.
#[derive(Debug, Clone, Copy)]
struct Change {
    at: Instant,
    packets: i32,
    bytes: i32,
}

impl QueueLogs {
    /// For the bottlenecks of the paths of a trial.
    pub(crate) fn new(record: &TrialRecord) -> QueueLogs {
        let steered = record.steered_path();
        let paths = [(Some(&steered), false), (record.second_path.as_ref(), true)];
        let of = |(path, second): (Option<&PathSpec>, bool)| {
            let of_direction = move |direction| {
                let plan = path?.link(direction).ok()?;
                Gathered::of(&plan, (direction, second), record.world.verdict_drops)
            };
            Direction::BOTH.into_iter().filter_map(of_direction).collect::<Vec<_>>()
        };
        QueueLogs(paths.into_iter().flat_map(of).collect())
    }

    /// Whether no packet ever waits, as there is no bottleneck.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn see(&mut self, verdict: &Verdict) {
        let is_of = |it: &&mut Gathered| {
            it.log.direction == verdict.direction && it.log.second_path == verdict.second_path
        };
        if let Some(gathered) = self.0.iter_mut().find(is_of) {
            gathered.see(verdict);
        }
    }

    pub(crate) fn logs(self) -> Vec<QueueLog> {
        self.0.into_iter().map(Gathered::finish).collect()
    }
}

impl Gathered {
    /// None without a bottleneck.
    fn of(plan: &LinkPlan, of: (Direction, bool), missing: u64) -> Option<Gathered> {
        let is_queue = |it: &ElementPlan| matches!(it, ElementPlan::Bottleneck(_));
        let last = plan.elements.iter().rposition(is_queue)?;
        let ElementPlan::Bottleneck(bottleneck) = &plan.elements[last] else { return None };
        let bottlenecks = plan.elements.iter().filter(|it| is_queue(it)).count();
        let delays = |it: &ElementPlan| {
            matches!(
                it,
                ElementPlan::PortDelay(_) | ElementPlan::Delay(_) | ElementPlan::Reordering(_)
            )
        };
        let divides =
            |it: &ElementPlan| matches!(it, ElementPlan::Duplication(_) | ElementPlan::Mtu(_));
        let (direction, second_path) = of;
        Some(Gathered {
            log: QueueLog {
                direction,
                second_path,
                bottlenecks,
                plan: bottleneck.queue,
                lengths: Vec::new(),
                drops: Vec::new(),
                missing,
            },
            is_at_entrance: bottlenecks == 1 && !plan.elements[..last].iter().any(delays),
            makes_pieces: plan.elements[last..].iter().any(divides),
            seen: BTreeSet::new(),
            changes: Vec::new(),
        })
    }

    fn see(&mut self, verdict: &Verdict) {
        if let Fate::Dropped(cause) = verdict.fate {
            self.log.drops.push(QueueDrop { at: verdict.left, cause });
        }
        let Some((from, until)) = self.wait(verdict).filter(|(from, until)| from < until) else {
            return;
        };
        let whole = verdict.origin.unwrap_or(verdict.id);
        let is_known = self.makes_pieces && !self.seen.insert((whole, from, until));
        // Of a packet that was cut behind the queue, each fragment has a part of the bytes.
        if is_known && verdict.fragment.is_none() {
            return;
        }
        let packets = i32::from(!is_known);
        let bytes = i32::try_from(verdict.size.as_u64()).unwrap_or(i32::MAX);
        self.changes.push(Change { at: from, packets, bytes });
        self.changes.push(Change { at: until, packets: -packets, bytes: -bytes });
    }

    /// From when to when it waited, as far as that is known.
    fn wait(&self, verdict: &Verdict) -> Option<(Instant, Instant)> {
        let Verdict { entered, left, .. } = *verdict;
        match (verdict.transmission, verdict.fate) {
            (Some(sent), _) => Some((sent.queued, sent.began)),
            (None, Fate::Dropped(Cause::Aqm { waited, .. })) => Some((left - waited, left)),
            (None, Fate::Dropped(Cause::QueueFull { .. }) | Fate::StillOnLink) => {
                self.is_at_entrance.then_some((entered, left))
            }
            _ => None,
        }
    }

    fn finish(mut self) -> QueueLog {
        self.changes.sort_unstable_by_key(|change| change.at);
        let (mut packets, mut bytes) = (0_i64, 0_i64);
        for at_once in self.changes.chunk_by(|one, next| one.at == next.at) {
            let before = (packets, bytes);
            packets += at_once.iter().map(|it| i64::from(it.packets)).sum::<i64>();
            bytes += at_once.iter().map(|it| i64::from(it.bytes)).sum::<i64>();
            if (packets, bytes) != before {
                self.log.lengths.push(QueueLength {
                    at: at_once[0].at,
                    packets: u32::try_from(packets).unwrap_or(0),
                    bytes: Bytes::new(u64::try_from(bytes).unwrap_or(0)),
                });
            }
        }
        self.log.drops.sort_by_key(|it| it.at);
        self.log
    }
}

#[cfg(test)]
mod tests {
    use tcplab_path::{Discipline, FIRST_MADE_ID, Transmission};
    use tcplab_units::Span;

    use super::*;

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn gathered(path: &str) -> Gathered {
        let path: PathSpec = serde_json::from_str(path).unwrap();
        let plan = path.link(Direction::Forward).unwrap();
        Gathered::of(&plan, (Direction::Forward, false), 0).unwrap()
    }

    /// Entered at a time, and perhaps queued and sent.
    fn verdict(id: u64, entered: u64, sent: Option<[u64; 2]>, left: u64, fate: Fate) -> Verdict {
        let sent = sent.map(|[queued, began]| Transmission {
            queued: ms(queued),
            began: ms(began),
            ended: ms(began + 1),
        });
        Verdict {
            id,
            direction: Direction::Forward,
            size: Bytes::new(1500),
            entered: ms(entered),
            transmission: sent,
            left: ms(left),
            fate,
            origin: id.checked_sub(FIRST_MADE_ID),
            marked: false,
            corrupted: None,
            fragment: None,
            second_path: false,
        }
    }

    /// When how many packets and bytes waited.
    fn lengths(mut gathered: Gathered, verdicts: &[Verdict]) -> Vec<(u64, u32, u64)> {
        for verdict in verdicts {
            gathered.see(verdict);
        }
        let each = gathered.finish().lengths.into_iter();
        each.map(|it| (it.at.as_nanos() / 1_000_000, it.packets, it.bytes.as_u64())).collect()
    }

    #[test]
    fn queue_is_what_came_and_has_not_begun_to_be_sent() {
        let there = Fate::Delivered;
        let full = Fate::Dropped(Cause::QueueFull { packets: 2, bytes: Bytes::new(3000) });
        // In the order in which they leave the link. The first finds nothing being sent.
        let rows = [
            verdict(3, 0, None, 0, full),
            verdict(0, 0, Some([0, 0]), 11, there),
            verdict(1, 0, Some([0, 1]), 12, there),
            verdict(2, 0, Some([0, 2]), 13, there),
            // One comes at the very time at which another is sent.
            verdict(4, 2, Some([2, 3]), 14, there),
        ];
        let found = lengths(gathered(r#"{ "rate": "1 Mbit/s", "queue": "2 packets" }"#), &rows);
        assert_eq!(found, [(0, 2, 3000), (1, 1, 1500), (3, 0, 0)]);
    }

    #[test]
    fn packets_that_are_dropped_after_a_wait_or_left_over_waited_too() {
        let waited = Span::from_millis(30);
        let late = Cause::Aqm { discipline: Discipline::Codel, waited, packets: 4 };
        let head = Cause::QueueFull { packets: 1, bytes: Bytes::new(1500) };
        let rows = [
            verdict(0, 10, None, 40, Fate::Dropped(late)),
            verdict(1, 20, None, 25, Fate::Dropped(head)),
            verdict(2, 50, None, 60, Fate::StillOnLink),
            // It never came to the queue.
            verdict(3, 5, None, 7, Fate::Dropped(Cause::Policed)),
        ];
        let near = r#"{ "rate": "1 Mbit/s", "queue": { "codel": {} } }"#;
        let found = lengths(gathered(near), &rows);
        let expected = [(10, 1), (20, 2), (25, 1), (40, 0), (50, 1), (60, 0)];
        assert_eq!(found, expected.map(|(at, packets)| (at, packets, u64::from(packets) * 1500)));
        // Behind another queue nobody knows since when the second and the third waited.
        let far = r#"{ "rate": "1 Mbit/s", "stages": [{ "rate": "1 Mbit/s", "queue": { "codel": {} } }] }"#;
        let found = lengths(gathered(far), &rows);
        assert_eq!(found, [(10, 1, 1500), (40, 0, 0)]);
    }

    #[test]
    fn copy_made_behind_the_queue_did_not_wait_again() {
        let there = Fate::Delivered;
        let copied = [
            verdict(7, 0, Some([0, 5]), 9, there),
            verdict(FIRST_MADE_ID + 7, 0, Some([0, 5]), 9, there),
        ];
        let path = r#"{ "rate": "1 Mbit/s", "duplicate": "50 %" }"#;
        assert_eq!(lengths(gathered(path), &copied), [(0, 1, 1500), (5, 0, 0)]);
    }

    #[test]
    fn path_without_a_bottleneck_has_no_queue() {
        let path: PathSpec = serde_json::from_str(r#"{ "delay": "10 ms" }"#).unwrap();
        let plan = path.link(Direction::Forward).unwrap();
        assert!(Gathered::of(&plan, (Direction::Forward, false), 0).is_none());
    }
}
