//! The order of findings.

use tcplab_units::{Bytes, Instant, Span};

use crate::{Cost, Finding, Severity, worst_first};

fn finding(rule: &'static str, severity: Severity, cost: Cost) -> Finding {
    let (statement, remedy, frames, at) = (String::new(), None, Vec::new(), Instant::ZERO);
    Finding { rule, severity, cost, statement, remedy, frames, at }
}

#[test]
fn worst_first_sorts_by_severity_cost_time() {
    let (second, kilobyte) = (Span::from_secs(1), Bytes::new(1_000));
    let mut findings = [
        finding("good", Severity::Good, Cost::NONE),
        finding("bytes", Severity::Harm, Cost { time: second, bytes: kilobyte }),
        finding("broken", Severity::Failure, Cost::NONE),
        finding("bytes only", Severity::Harm, Cost::bytes(Bytes::new(1_000_000))),
        finding("doubt", Severity::Doubt, Cost::NONE),
        finding("slow", Severity::Harm, Cost::time(second * 2)),
        finding("time", Severity::Harm, Cost::time(second)),
        finding("note", Severity::Note, Cost::time(second * 9)),
    ];
    worst_first(&mut findings);
    let order = findings.map(|finding| finding.rule);
    let right = ["doubt", "broken", "slow", "bytes", "time", "bytes only", "note", "good"];
    assert_eq!(order, right);
}
