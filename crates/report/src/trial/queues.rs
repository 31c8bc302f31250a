//! What waited for the bottleneck of each direction, and what the path dropped.

use std::collections::BTreeMap;

use tcplab_path::{Cause, Direction, QueueLimit};
use tcplab_plot::{
    Chart, Figure, Marks, Series, Table, View, chart_pgf, marked_chart, number_cell,
};
use tcplab_recording::{QueueDrop, QueueLength, QueueLog, Queues};
use tcplab_units::rounded::grouped;
use tcplab_units::{Bytes, Instant};

/// A queue as a figure.
pub(crate) struct QueueChart<'a> {
    log: &'a QueueLog,
    title: String,
    /// Packets, or where bytes limit the queue, kilobytes.
    unit: &'static str,
    series: Vec<Series>,
    marks: Vec<Marks>,
}

/// Kinds of drops, each a layer: class, name, and which causes they are.
type Kind = (&'static str, &'static str, fn(&Cause) -> bool);
const KINDS: [Kind; 5] = [
    ("drop-full", "dropped: queue full", |it| matches!(it, Cause::QueueFull { .. })),
    ("drop-aqm", "dropped by the queue’s management", |it| matches!(it, Cause::Aqm { .. })),
    ("drop-loss", "dropped: random loss", |it| matches!(it, Cause::Loss)),
    ("drop-outage", "dropped: interruption", |it| {
        matches!(it, Cause::Interruption { .. } | Cause::Blackhole)
    }),
    ("drop-other", "dropped otherwise", |_| true),
];

impl<'a> QueueChart<'a> {
    /// One for each queue in which something waited or that dropped something.
    pub(crate) fn all(queues: &'a Queues) -> Vec<QueueChart<'a>> {
        let Queues::Logged(logs) = queues else { return vec![] };
        logs.iter().filter(|log| !is_idle(log)).map(QueueChart::of).collect()
    }

    fn of(log: &'a QueueLog) -> QueueChart<'a> {
        let is_in_bytes = matches!(log.limit(), QueueLimit::Bytes(_));
        let mut chart = QueueChart {
            log,
            title: title(log),
            unit: if is_in_bytes { "kB" } else { "packets" },
            series: vec![],
            marks: vec![],
        };
        let limit = match log.limit() {
            QueueLimit::Packets(packets) => f64::from(packets),
            QueueLimit::Bytes(bytes) => kilobytes(bytes),
        };
        let of_several = match log.bottlenecks {
            1 => String::new(),
            several => format!(" (at the last of {several} bottlenecks)"),
        };
        let unknown = match log.missing {
            0 => String::new(),
            missing => format!(" ({} verdicts are missing in the path’s log)", grouped(missing)),
        };
        let line = |class, label, points| Series { class, label, points, steps: true };
        chart.series = vec![
            line("limit", "limit".to_owned(), vec![(Instant::ZERO, Some(limit))]),
            line("waiting", format!("waiting{of_several}{unknown}"), chart.lengths()),
        ];
        chart.marks = chart.drops();
        chart
    }

    fn lengths(&self) -> Vec<(Instant, Option<f64>)> {
        let each = self.log.lengths.iter().map(|it| (it.at, Some(self.value(it))));
        std::iter::once((Instant::ZERO, Some(0.0))).chain(each).collect()
    }

    fn value(&self, length: &QueueLength) -> f64 {
        if self.unit == "kB" { kilobytes(length.bytes) } else { f64::from(length.packets) }
    }

    fn drops(&self) -> Vec<Marks> {
        let mut kinds: BTreeMap<usize, Vec<&QueueDrop>> = BTreeMap::new();
        for dropped in &self.log.drops {
            let kind = KINDS.iter().position(|(.., is_of)| is_of(&dropped.cause));
            kinds.entry(kind.unwrap_or(KINDS.len() - 1)).or_default().push(dropped);
        }
        let marks = |(kind, drops): (usize, Vec<&QueueDrop>)| {
            let (class, name, _) = KINDS[kind];
            let points = drops.iter().map(|it| (it.at, self.value(&length_at(self.log, it))));
            let (points, count) = (points.collect(), grouped(drops.len() as u64));
            Marks { class, label: format!("{name} ({count})"), points }
        };
        kinds.into_iter().map(marks).collect()
    }

    /// The lines up to the right edge, and how far up the axis reaches: a limit far above what
    /// waited is cut.
    fn drawn(&self, view: &View<'_>) -> (Vec<Series>, Option<f64>) {
        let lasting = |line: &Series| {
            let last = line.points.last().and_then(|(_, value)| *value);
            let mut line = line.clone();
            line.points.push((view.until, last));
            line
        };
        let peak = |line: &Series| line.points.iter().filter_map(|it| it.1).fold(0.0, f64::max);
        let [limit, most] = [0, 1].map(|line| peak(&self.series[line]));
        let is_far = most > 0.0 && limit > 2.0 * most;
        (self.series.iter().map(lasting).collect(), is_far.then_some(most))
    }

    pub(crate) fn figure(&self, view: &View<'_>) -> Figure {
        let (series, at_most) = self.drawn(view);
        let (title, unit) = (self.title.as_str(), self.unit);
        let chart = Chart { title, unit, right: None, series: &series, at_most };
        marked_chart(&chart, &self.marks, view)
    }

    pub(crate) fn pgf(&self, view: &View<'_>) -> String {
        let (series, at_most) = self.drawn(view);
        let (title, unit) = (self.title.as_str(), self.unit);
        let chart = Chart { title, unit, right: None, series: &series, at_most };
        chart_pgf(&chart, &self.marks, view)
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// A row for each change of what waits, and for each drop, in order of time.
    pub(crate) fn table(&self) -> Table {
        let row = |length: &QueueLength, at: Instant, cause: &str| {
            [
                number_cell(at.as_nanos() as f64 / 1e9),
                length.packets.to_string(),
                length.bytes.as_u64().to_string(),
                cause.to_owned(),
            ]
        };
        let waits = self.log.lengths.iter().map(|it| (it.at, row(it, it.at, "")));
        let drops = self.log.drops.iter().map(|it| {
            let length = length_at(self.log, it);
            (it.at, row(&length, it.at, it.cause.name()))
        });
        let mut rows: Vec<(Instant, [String; 4])> = waits.chain(drops).collect();
        rows.sort_by_key(|(at, _)| *at);
        let columns = ["time, s", "waiting, packets", "waiting, B", "dropped by"];
        Table::new(&columns, rows.into_iter().map(|(_, row)| row))
    }
}

/// What the figures do not show of a path's queues: sentences.
pub fn queue_notes(queues: &Queues) -> Vec<String> {
    let logs = match queues {
        Queues::Logged(logs) => logs,
        Queues::Unknown(why) => return vec![format!("No graph of the queue: {why}.")],
    };
    let idle = logs.iter().filter(|log| is_idle(log));
    idle.map(|log| format!("{}: no packet ever waited.", title(log))).collect()
}

fn is_idle(log: &QueueLog) -> bool {
    let by_queue = |it: &QueueDrop| matches!(it.cause, Cause::QueueFull { .. } | Cause::Aqm { .. });
    log.lengths.is_empty() && !log.drops.iter().any(by_queue)
}

fn title(log: &QueueLog) -> String {
    let way = match log.direction {
        Direction::Forward => "client to server",
        Direction::Reverse => "server to client",
    };
    let second = if log.second_path { ", second path" } else { "" };
    format!("Queue, {way}{second}")
}

/// What waited when a packet was dropped: the queue itself says it of its drops.
fn length_at(log: &QueueLog, dropped: &QueueDrop) -> QueueLength {
    let found = log.at(dropped.at);
    match dropped.cause {
        Cause::QueueFull { packets, bytes } if log.bottlenecks == 1 => {
            QueueLength { packets, bytes, ..found }
        }
        _ => found,
    }
}

fn kilobytes(bytes: Bytes) -> f64 {
    bytes.as_u64() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use tcplab_path::QueuePlan;
    use tcplab_recording::NoQueueLog;

    use super::*;

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn log(limit: QueueLimit) -> QueueLog {
        let length =
            |at, packets| QueueLength { at, packets, bytes: Bytes::new(u64::from(packets) * 1500) };
        let full = Cause::QueueFull { packets: 2, bytes: Bytes::new(3000) };
        QueueLog {
            direction: Direction::Forward,
            second_path: false,
            bottlenecks: 1,
            plan: QueuePlan::DropTail(limit),
            lengths: vec![length(ms(10), 2), length(ms(20), 1), length(ms(30), 0)],
            drops: vec![
                QueueDrop { at: ms(15), cause: full },
                QueueDrop { at: ms(25), cause: Cause::Loss },
            ],
            missing: 0,
        }
    }

    fn view() -> View<'static> {
        View { from: Instant::ZERO, until: ms(40), bands: &[] }
    }

    #[test]
    fn queue_is_in_the_unit_of_its_limit_with_drops_by_their_causes() {
        let packets = Queues::Logged(vec![log(QueueLimit::Packets(2))]);
        let [chart] = &QueueChart::all(&packets)[..] else { panic!() };
        let figure = chart.figure(&view());
        assert_eq!(figure.title, "Queue, client to server");
        let labels: Vec<_> = figure.legend.iter().map(|it| it.label.as_str()).collect();
        let marked = ["dropped: queue full (1)", "dropped: random loss (1)"];
        assert_eq!(labels, [["limit", "waiting"], marked].concat());
        assert!(figure.svg.contains("waiting max 2.00 packets (at 0.0 s)"), "{}", figure.svg);
        let csv = "time, s,waiting, packets,waiting, B,dropped by";
        let rows: Vec<String> = chart.table().rows().map(|row| row.join(",")).collect();
        let rest = ["0.01,2,3000,", "0.015,2,3000,queue-full", "0.02,1,1500,"];
        let end = ["0.025,1,1500,loss", "0.03,0,0,"];
        assert_eq!(rows, [&[csv][..], &rest, &end].concat());
        let bytes = Queues::Logged(vec![log(QueueLimit::Bytes(Bytes::new(30_000)))]);
        let figure = QueueChart::all(&bytes)[0].figure(&view());
        assert_eq!(figure.legend[0].label, "limit (up to 30.0 kB)", "it is far above");
        assert!((figure.plane.high() - 3.0 * 1.06).abs() < 1e-9, "what waited fills the axis");
        assert!(figure.svg.contains("waiting max 3.00 kB"), "{}", figure.svg);
    }

    #[test]
    fn what_is_not_drawn_is_said() {
        let idle = QueueLog { lengths: vec![], drops: vec![], ..log(QueueLimit::Packets(2)) };
        let idle = Queues::Logged(vec![idle]);
        assert!(QueueChart::all(&idle).is_empty());
        assert_eq!(queue_notes(&idle), ["Queue, client to server: no packet ever waited."]);
        let unknown = Queues::Unknown(NoQueueLog::Kernel);
        assert!(QueueChart::all(&unknown).is_empty());
        let [note] = &queue_notes(&unknown)[..] else { panic!() };
        assert!(note.starts_with("No graph of the queue: the kernel made the path (netem)"));
        let lacking = QueueLog { bottlenecks: 2, missing: 7, ..log(QueueLimit::Packets(2)) };
        let figure = QueueChart::of(&lacking).figure(&view());
        let said =
            "waiting (at the last of 2 bottlenecks) (7 verdicts are missing in the path’s log)";
        assert_eq!(figure.legend[1].label, said);
    }
}
