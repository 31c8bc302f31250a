//! Each rule: where it fires, what it says, and where it stays silent.

use tcplab_trace::Connection;

use crate::{Finding, RULES, examine};

mod black_holes;
mod cases;
mod cases_of_losses;
mod changes;
#[path = "../../../trace/src/tests/drill.rs"]
mod drill;
mod fires;
mod from_packets;
mod remedies;
mod resets;
mod servers;
mod silent;
mod stories;
mod sums;
mod weight;

const OPEN: &str = "0.000 > S\n0.010 < S\n0.0101 > ack 1 win 500\n";

fn found(name: &str, connection: &Connection) -> Vec<Finding> {
    let rule = RULES.iter().find(|rule| rule.name == name).unwrap();
    rule.examine(connection)
}

fn after_handshake(text: &str) -> Connection {
    drill::connection(&format!("{OPEN}{text}"))
}

#[test]
fn examine_returns_findings_in_order_of_time() {
    let connection = after_handshake(fires::BLACKOUT);
    let findings = examine(&connection);
    assert!(findings.len() >= 2);
    assert!(findings.is_sorted_by_key(|finding| finding.at));
    assert!(findings.iter().all(|finding| !finding.frames.is_empty()));
}
