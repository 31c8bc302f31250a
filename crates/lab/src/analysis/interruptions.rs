//! What interruptions of the path cost a transfer.

use tcplab_path::{Direction, PathSpec};
use tcplab_results::InterruptionRow;
use tcplab_trace::Flow;
use tcplab_units::{Instant, Span};

/// When either direction lets nothing through.
pub(super) fn interruption_times(
    path: &PathSpec,
    seed: u64,
    duration: Span,
) -> Vec<(Instant, Instant)> {
    let until = Instant::ZERO + duration;
    let links = Direction::BOTH.into_iter().filter_map(|direction| path.link(direction).ok());
    let mut windows: Vec<_> = links.flat_map(|link| link.interruptions(until, seed)).collect();
    windows.sort_unstable();
    windows.dedup();
    windows
}

/// Each interruption that begins while a transfer is under way, and what it cost, by the
/// acknowledgements that its sender sees.
pub(crate) fn costs(flow: &Flow, interruptions: &[(Instant, Instant)]) -> Vec<InterruptionRow> {
    let Some((begin, end)) = times(flow) else { return Vec::new() };
    let progress = Progress::of(flow);
    let within: Vec<(usize, &(Instant, Instant))> = interruptions
        .iter()
        .enumerate()
        .filter(|(_, (from, _))| *from > begin && *from < end)
        .collect();
    let mut good_since = begin;
    let mut rows = Vec::new();
    for (nth, &(index, &(from, until))) in within.iter().enumerate() {
        let next = within.get(nth + 1).map_or(end, |(_, (next, _))| *next);
        let recovered = progress.next_after(until).filter(|at| *at <= next);
        // What arrived since the previous recovery shows what could have arrived.
        let good = from.since(good_since).as_secs_f64();
        let is_told = from > good_since && from.since(good_since) >= until.since(from);
        let lost_bytes = is_told.then(|| {
            let rate = (progress.at(from) - progress.at(good_since)) / good;
            rate * next.since(from).as_secs_f64() - (progress.at(next) - progress.at(from))
        });
        rows.push(InterruptionRow {
            number: index as u64 + 1,
            start_s: from.as_secs_f64(),
            lasting_s: until.since(from).as_secs_f64(),
            recovery_s: recovered.map(|at| at.since(until).as_secs_f64()),
            lost_bytes,
        });
        good_since = recovered.unwrap_or(next);
    }
    rows
}

/// The first data and the acknowledgement of the last.
fn times(flow: &Flow) -> Option<(Instant, Instant)> {
    let first = flow.segments.iter().find(|segment| segment.payload.as_u64() > 0)?.at;
    (flow.transfer.time > Span::ZERO).then(|| (first, first + flow.transfer.time))
}

/// How much was acknowledged when.
struct Progress(Vec<(Instant, u64)>);

impl Progress {
    fn of(flow: &Flow) -> Progress {
        let mut steps: Vec<(Instant, u64)> = Vec::new();
        for ack in &flow.acks {
            let bytes = ack.ack.as_u64();
            if steps.last().is_none_or(|(_, most)| bytes > *most) {
                steps.push((ack.at, bytes));
            }
        }
        Progress(steps)
    }

    fn at(&self, at: Instant) -> f64 {
        let known = self.0.partition_point(|(when, _)| *when <= at);
        known.checked_sub(1).map_or(0.0, |last| self.0[last].1 as f64)
    }

    /// When something is acknowledged for the first time after that.
    fn next_after(&self, at: Instant) -> Option<Instant> {
        self.0.get(self.0.partition_point(|(when, _)| *when <= at)).map(|(when, _)| *when)
    }
}

#[cfg(test)]
mod tests {
    use tcplab_trace::{Ack, Proof, Range, Segment, SegmentKind, Transfer};
    use tcplab_units::{Bytes, Offset};

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// 1,000 bytes are acknowledged each 10 ms from 10 ms to 4 s, except for the silences.
    fn flow(silences: &[(u64, u64)]) -> Flow {
        let ack = |millis: u64, bytes: u64| Ack {
            at: at(millis),
            frame: millis,
            flags: tcplab_wire::TcpFlags::NONE,
            ack: Offset::new(bytes),
            window: None,
            sack: Vec::new(),
            dsack: None,
            duplicate: false,
            copied: false,
            reset: false,
            zero: false,
            has_data: false,
            in_flight: Bytes::ZERO,
            comment: None,
            dropped: false,
        };
        let is_open =
            |millis: &u64| !silences.iter().any(|(from, until)| (*from..*until).contains(millis));
        let times = (10..=4000).step_by(10).filter(is_open);
        let acks = times.zip(1..).map(|(millis, nth)| ack(millis, nth * 1000)).collect();
        Flow {
            segments: vec![Segment {
                at: at(0),
                frame: 1,
                flags: tcplab_wire::TcpFlags::NONE,
                range: Range { start: Offset::new(0), end: Offset::new(1000) },
                payload: Bytes::new(1000),
                syn: false,
                fin: false,
                psh: false,
                kind: SegmentKind::New,
                timer: None,
                proof: Proof::default(),
                in_flight: Bytes::new(1000),
                comment: None,
                dropped: false,
            }],
            acks,
            transfer: Transfer { time: Span::from_secs(4), ..Transfer::default() },
            ..Flow::default()
        }
    }

    #[test]
    fn interruption_cost_is_missing_progress() {
        // Silent for 200 ms of interruption and 100 ms more.
        let rows = costs(&flow(&[(1010, 1310)]), &[(at(1005), at(1205))]);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.number, row.start_s, row.lasting_s), (1, 1.005, 0.2));
        assert!((row.recovery_s.unwrap() - 0.105).abs() < 1e-9, "{row:?}");
        // 30 acknowledgements are missing, of the time's 99.5 kB/s.
        let lost = row.lost_bytes.unwrap();
        assert!((lost - 30_000.0).abs() < 2_000.0, "{lost}");
    }

    #[test]
    fn unknown_cost_is_none() {
        let two = [(at(1005), at(1205)), (at(1255), at(1455))];
        let rows = costs(&flow(&[(1010, 2000)]), &two);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].recovery_s, None, "the next came first");
        assert!((rows[1].recovery_s.unwrap() - 0.545).abs() < 1e-9, "{rows:?}");
        assert_eq!(rows[1].lost_bytes, None, "nothing went well between the two");
        let outside = [(at(5000), at(5200))];
        assert!(costs(&flow(&[]), &outside).is_empty(), "after the transfer");
        assert!(costs(&Flow::default(), &two).is_empty());
    }
}
