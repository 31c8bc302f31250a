//! Connections for which rules must stay silent.

use super::{after_handshake, drill, found};

const CLEAN: &str = "0.100 > 1:43441 every 0.001
    0.110 < acks 1449 43441 every 0.001";

#[test]
fn clean_transfer_no_findings() {
    let connection = after_handshake(CLEAN);
    assert_eq!(crate::examine(&connection), []);
}

#[test]
fn single_timeouts_no_backoff_finding() {
    let connection = after_handshake(
        "0.100 > 1:5793 every 0.001
         0.110 < ack 1449
         0.400 > 1449:2897
         0.410 < ack 2897
         0.4101 > 2897:5793
         0.4201 < ack 5793
         0.430 > 5793:8689
         0.440 < ack 5793
         0.800 > 5793:7241
         0.810 < ack 8689
         0.820 > 8689:10137
         0.830 < ack 10137",
    );
    assert_eq!(connection.forward.totals.retransmissions, 4);
    assert_eq!(found("timeout-backoff", &connection), []);
}

#[test]
fn network_duplicate_dsack_no_spurious_finding() {
    let flow = drill::flow(&format!("{CLEAN}\n0.160 < ack 43441 dsack 1-1449"));
    assert!(flow.acks.iter().any(|ack| ack.dsack.is_some()));
    let connection = after_handshake(&format!("{CLEAN}\n0.160 < ack 43441 dsack 1-1449"));
    assert_eq!(found("spurious-retransmissions", &connection), []);
}

#[test]
fn reordering_no_recovery_episode() {
    let connection = after_handshake(
        "0.100 > 1:7241 every 0.001
         0.110 < ack 1449
         0.111 < ack 1449 sack 2897-4345
         0.112 < ack 4345
         0.113 < acks 5793 7241 every 0.001",
    );
    assert_eq!(found("recovery-episode", &connection), []);
}
