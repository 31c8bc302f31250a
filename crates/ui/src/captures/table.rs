//! The rows of a capture, as its page shows them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde_json::{Value, json};
use tcplab_findings::{Finding, Severity, examine, worst_first};
use tcplab_report::trace::{Row, RowDirection, Summary};
use tcplab_trace::{Connection, Sink};
use tcplab_units::{Rate, Span};

/// Connections whose rows are kept: those that lost most time.
pub(super) const ROWS: usize = 5_000;
/// Connections that are looked at a second time, with their packets.
const WORST: usize = 20;
/// Connections that are named for each rule.
const NAMED: usize = 5;
/// Rules without sums are not kept for so many connections at once.
const FOUND: usize = 3 * ROWS;

/// What is kept of a capture: the rows of some connections and the sums of all.
#[derive(Debug)]
pub(super) struct Table {
    summary: Summary,
    /// The findings of connections whose rows are kept, the worst first.
    found: BTreeMap<usize, Vec<Finding>>,
    /// In how many of all connections each rule found something.
    rules: BTreeMap<&'static str, usize>,
}

impl Default for Table {
    fn default() -> Table {
        let summary = Summary::new(ROWS, WORST);
        Table { summary, found: BTreeMap::new(), rules: BTreeMap::new() }
    }
}

impl Table {
    fn add(&mut self, number: usize, connection: &Connection) {
        self.summary.connection(number, connection);
        let found = notable(connection);
        for rule in found.iter().map(|finding| finding.rule).collect::<BTreeSet<_>>() {
            *self.rules.entry(rule).or_default() += 1;
        }
        if !found.is_empty() {
            self.found.insert(number, found);
        }
        if self.found.len() >= FOUND {
            let kept: BTreeSet<usize> = self.summary.by_loss().iter().map(|it| it.index).collect();
            self.found.retain(|number, _| kept.contains(number));
        }
    }

    /// The worst connections, to be read again with their packets.
    pub(super) fn worst(&self) -> Vec<usize> {
        self.summary.worst().iter().map(|(number, _)| *number).collect()
    }

    /// What rules found that need packets.
    pub(super) fn add_findings(&mut self, number: usize, connection: &Connection) {
        let found = notable(connection);
        let before = self.found.get(&number);
        let is_new = |rule| !before.is_some_and(|all| all.iter().any(|own| own.rule == rule));
        let rules: BTreeSet<_> = found.iter().map(|it| it.rule).filter(|it| is_new(*it)).collect();
        for rule in rules {
            *self.rules.entry(rule).or_default() += 1;
        }
        self.found.insert(number, found);
    }

    /// The first so many rows, the sums of all, and the findings.
    pub(super) fn shown(&self, most: usize) -> Value {
        let (rows, totals) = (self.summary.by_loss(), self.summary.totals());
        let shown: Vec<ShownRow<'_>> = rows.iter().take(most).map(|row| self.row(row)).collect();
        let kept: BTreeSet<usize> = rows.iter().map(|row| row.index).collect();
        json!({
            "rows": shown,
            "kept_rows": rows.len(),
            "lasted_ns": ns(self.summary.lasted()),
            "totals": {
                "connections": totals.connections,
                "closed": totals.closed,
                "reset": totals.reset,
                "never_opened": totals.failed,
                "one_direction": totals.one_way,
                "client_bytes": totals.data[0].as_u64(),
                "server_bytes": totals.data[1].as_u64(),
                "segments": totals.segments,
                "retransmissions": totals.retransmissions,
            },
            "findings": self.findings(&kept),
        })
    }

    fn row<'a>(&'a self, row: &'a Row) -> ShownRow<'a> {
        let found = self.found.get(&row.index).map_or(&[][..], Vec::as_slice);
        ShownRow {
            number: row.index,
            client: row.client.to_string(),
            server: row.server.to_string(),
            first_ns: row.first.as_nanos(),
            last_ns: row.last.as_nanos(),
            state: row.state_name(),
            lost_ns: ns(row.lost_time),
            order_ns: ns(row.lost),
            packets: row.packets,
            forward: ShownDirection::of(&row.forward),
            reverse: ShownDirection::of(&row.reverse),
            findings: found.len(),
            worst: found.first().map(|worst| worst.severity.name()),
            rules: found.iter().map(|finding| finding.rule).collect(),
        }
    }

    /// For each rule the connections in which it found most, the gravest rule first.
    fn findings(&self, kept: &BTreeSet<usize>) -> Vec<ShownRule<'_>> {
        let mut by_rule: BTreeMap<&str, Vec<(usize, &Finding)>> = BTreeMap::new();
        for (number, found) in self.found.iter().filter(|(number, _)| kept.contains(number)) {
            let mut seen = BTreeSet::new();
            for finding in found.iter().filter(|finding| seen.insert(finding.rule)) {
                by_rule.entry(finding.rule).or_default().push((*number, finding));
            }
        }
        let shown = by_rule.into_iter().filter_map(|(rule, mut found)| {
            found.sort_by_key(|(number, it)| (std::cmp::Reverse((it.severity, it.cost)), *number));
            found.truncate(NAMED);
            let (_, worst) = *found.first()?;
            let examples = found.into_iter().map(|(number, finding)| ShownFinding {
                connection: number,
                statement: &finding.statement,
                remedy: finding.remedy.as_deref(),
                frames: finding.frames.iter().take(NAMED).copied().collect(),
            });
            let connections = self.rules.get(rule).copied().unwrap_or_default();
            let severity = worst.severity;
            let order = (severity, worst.cost);
            let examples = examples.collect();
            Some((order, ShownRule { rule, severity: severity.name(), connections, examples }))
        });
        let mut all: Vec<_> = shown.collect();
        all.sort_by_key(|(order, _)| std::cmp::Reverse(*order));
        all.into_iter().map(|(_, rule)| rule).collect()
    }
}

/// Findings other than that all is well, the worst first.
fn notable(connection: &Connection) -> Vec<Finding> {
    let mut found = examine(connection);
    found.retain(|finding| finding.severity != Severity::Good);
    worst_first(&mut found);
    found
}

fn ns(span: Span) -> u64 {
    span.as_nanos()
}

#[derive(Debug, Serialize)]
struct ShownRow<'a> {
    number: usize,
    client: String,
    server: String,
    first_ns: u64,
    last_ns: u64,
    state: &'static str,
    /// The time lost, and with what failures and resets add to the order.
    lost_ns: u64,
    order_ns: u64,
    packets: u64,
    forward: ShownDirection,
    reverse: ShownDirection,
    findings: usize,
    worst: Option<&'static str>,
    rules: BTreeSet<&'a str>,
}

#[derive(Debug, Serialize)]
struct ShownDirection {
    unique_bytes: u64,
    goodput_bits_per_second: Option<u64>,
    rtt_min_ns: Option<u64>,
    rtt_median_ns: Option<u64>,
    segments: u64,
    retransmissions: u64,
    limit: Option<&'static str>,
    limit_share: Option<f32>,
    stall: Option<&'static str>,
    stall_max_ns: Option<u64>,
}

impl ShownDirection {
    fn of(direction: &RowDirection) -> ShownDirection {
        ShownDirection {
            unique_bytes: direction.data.as_u64(),
            goodput_bits_per_second: direction.goodput.map(Rate::bits_per_second),
            rtt_min_ns: direction.rtt_min.map(ns),
            rtt_median_ns: direction.rtt_median.map(ns),
            segments: direction.segments,
            retransmissions: direction.retransmissions,
            limit: direction.limit.map(|_| direction.limit_name),
            limit_share: direction.limit.map(|(_, share)| share),
            stall: direction.stall.map(|(cause, _)| cause.name()),
            stall_max_ns: direction.stall.map(|(_, span)| ns(span)),
        }
    }
}

#[derive(Debug, Serialize)]
struct ShownRule<'a> {
    rule: &'a str,
    severity: &'static str,
    /// Of all connections.
    connections: usize,
    examples: Vec<ShownFinding<'a>>,
}

#[derive(Debug, Serialize)]
struct ShownFinding<'a> {
    connection: usize,
    statement: &'a str,
    remedy: Option<&'a str>,
    frames: Vec<u64>,
}

/// Adds connections to a table that pages look at meanwhile.
#[derive(Debug)]
pub(super) struct TableSink(pub(super) Arc<Mutex<Table>>);

impl Sink for TableSink {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, number: usize, connection: &Connection) {
        let mut table = self.0.lock().expect("no thread panics while it holds a table");
        table.add(number, connection);
    }
}
