//! Each rule: where it fires and what it says, and where it must not.

use tcplab_trace::Connection;

use crate::{Finding, RULES, examine};

#[path = "../../../trace/src/tests/drill.rs"]
mod drill;
mod drilled;
mod fires;
mod made;
mod silent;
mod stories;
mod sums;
mod weight;

const OPEN: &str = "0.000 > S\n0.010 < S\n0.0101 > ack 1 win 500\n";

/// What rule `name` finds.
fn found(name: &str, connection: &Connection) -> Vec<Finding> {
    let rule = RULES.iter().find(|rule| rule.name == name).unwrap();
    (rule.examine)(connection)
}

/// A connection that opens and then does what `text` says.
fn after_handshake(text: &str) -> Connection {
    drill::connection(&format!("{OPEN}{text}"))
}

#[test]
fn findings_come_in_order_of_time() {
    let connection = after_handshake(fires::BLACKOUT);
    let findings = examine(&connection);
    assert!(findings.len() >= 2);
    assert!(findings.is_sorted_by_key(|finding| finding.at));
    assert!(findings.iter().all(|finding| !finding.frames.is_empty()));
}
