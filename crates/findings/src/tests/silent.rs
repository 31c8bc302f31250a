//! Where the rules must not fire.

use super::{after_handshake, drill, fires, found};

const CLEAN: &str = "0.100 > 1:43441 every 0.001
    0.110 < acks 1449 43441 every 0.001";

#[test]
fn nothing_is_found_in_a_clean_transfer() {
    let connection = after_handshake(CLEAN);
    assert_eq!(crate::examine(&connection), []);
}

#[test]
fn a_window_far_above_what_is_in_flight_does_not_limit() {
    let connection = after_handshake(&fires::FULL_WINDOW.replace("win 160", "win 4000"));
    // Only what is sent before the first acknowledgement meets the SYN-ACK's small window.
    assert_eq!(found("window-limited", &connection), []);
}

#[test]
fn a_window_full_only_while_a_loss_is_repaired_does_not_limit() {
    let connection = after_handshake(
        "0.100 > 1:43441 every 0.001
         0.110 < acks 1449 14481 every 0.001 win 4000
         0.121 < ack 14481 sack 15929-... 43441 every 0.001 win 226
         0.1210 > 14481:15929
         0.1400 > 14481:15929
         0.5400 < ack 43441 win 4000
         0.541 > 43441:72401 every 0.010
         0.551 < acks 44889 72401 every 0.010 win 4000",
    );
    assert_eq!(found("window-limited", &connection), []);
}

#[test]
fn without_the_handshake_the_window_is_not_known() {
    let connection = drill::connection(fires::FULL_WINDOW);
    assert_eq!(found("window-limited", &connection), []);
}

#[test]
fn one_timeout_is_no_backoff() {
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
fn a_duplicate_made_by_the_network_is_no_retransmission() {
    let flow = drill::flow(&format!("{CLEAN}\n0.160 < ack 43441 dsack 1-1449"));
    assert!(flow.acks.iter().any(|ack| ack.dsack.is_some()));
    let connection = after_handshake(&format!("{CLEAN}\n0.160 < ack 43441 dsack 1-1449"));
    assert_eq!(found("needless-retransmissions", &connection), []);
}

#[test]
fn reordering_is_no_episode() {
    let connection = after_handshake(
        "0.100 > 1:7241 every 0.001
         0.110 < ack 1449
         0.111 < ack 1449 sack 2897-4345
         0.112 < ack 4345
         0.113 < acks 5793 7241 every 0.001",
    );
    assert_eq!(found("recovery-episode", &connection), []);
}
