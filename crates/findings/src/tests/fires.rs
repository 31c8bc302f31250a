//! Connections for which rules fire.

use super::{after_handshake, found};
use crate::Finding;

/// The path is gone for 1.6 s: a probe and two timeouts are lost, the third gets through.
pub(super) const BLACKOUT: &str = "0.100 > 1:14481 every 0.001
    0.110 < acks 1449 7241 every 0.001
    0.140 > 14481:15929
    0.380 > 7241:8689
    0.840 > 7241:8689
    1.740 > 7241:8689
    1.750 < ack 8689
    1.7501 > 8689:15929
    1.7601 < ack 15929
    1.761 > 15929:17377
    1.771 < ack 17377";

#[test]
fn timeout_backoff() {
    let findings = found("timeout-backoff", &after_handshake(BLACKOUT));
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    insta::assert_snapshot!(text(finding));
    assert_eq!(finding.frames.len(), 4);
}

#[test]
fn spurious_retransmissions() {
    let connection = after_handshake(
        "0.100 > 1:5793 every 0.001
         0.350 > 1:1449
         0.355 < ack 1449
         0.356 < acks 2897 5793 every 0.001
         0.366 < ack 5793 dsack 1-1449
         0.367 > 5793:7241
         0.377 < ack 7241",
    );
    let findings = found("spurious-retransmissions", &connection);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    insta::assert_snapshot!(text(finding));
}

#[test]
fn recovery_episode() {
    let findings = found("recovery-episode", &after_handshake(BLACKOUT));
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.frames.len(), 3);
}

fn text(finding: &Finding) -> String {
    format!("{}\n→ {}", finding.statement, finding.remedy.as_deref().unwrap_or("(nothing to do)"))
}
