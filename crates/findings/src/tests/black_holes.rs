//! PMTU black holes, as packets.

use super::{drill, found};
use crate::examine;

/// `tcp_mtu_probing = 1`: full segments vanish until the sender tries 1024 bytes.
const PROBED: &str = "0.000 > S
    0.040 < S
    0.0401 > ack 1 win 500
    0.045 < ack 1 win 500
    0.046 > 1:14481
    0.300 > 1:1449
    0.812 > 1:1449
    1.808 > 1:1449
    3.792 > 1:1025
    3.833 < ack 1025 win 500
    3.8332 > 1025:2049
    3.8333 > 2049:3073
    3.8334 > 3073:4097
    3.8335 > 4097:5121
    3.8336 > 5121:6145
    3.8337 > 6145:7169
    3.874 < ack 7169 win 500";

#[test]
fn black_hole_is_one_finding_with_all_of_its_time() {
    let findings = examine(&drill::connection(PROBED));
    // The drill has no timestamps, and the window holds no more than its flight.
    let of_drill = ["no-timestamps", "window-limited"];
    let others: Vec<_> = findings.iter().filter(|it| !of_drill.contains(&it.rule)).collect();
    let [finding] = others.as_slice() else { panic!("{others:#?}") };
    assert_eq!((finding.rule, finding.cost.time.as_micros()), ("path-mtu", 3_746_000));
    let statement = &finding.statement;
    assert!(statement.contains("the sender stalled for 3.75 s"), "{statement}");
}

/// Without probing nothing arrives any more.
const NEVER: &str = "open 0.040\n0.046 > 1:14481\n0.300 > 1:1449\n0.812 > 1:1449
    1.808 > 1:1449\n3.792 > 1:1449\n";

#[test]
fn only_small_packets_answered_suggests_path_mtu() {
    let suspected = |rule: &str, text: &str| {
        let findings = found(rule, &drill::connection(text));
        let [finding] = findings.as_slice() else { panic!("{rule}: {findings:?}") };
        let remedy = finding.remedy.as_deref().unwrap_or_default();
        let named = finding.statement.ends_with("perhaps a PMTU black hole.");
        assert_eq!(remedy.starts_with("Find out whether the path takes packets"), named);
        named
    };
    assert!(suspected("peer-silent", NEVER));
    // A small segment behind them got no answer either.
    assert!(!suspected("peer-silent", &NEVER.replace("0.300", "0.047 > 14481:14581\n0.300")));
    // A full one arrived before.
    assert!(!suspected("peer-silent", &NEVER.replace("0.300", "0.086 < ack 1449\n0.300")));
    // Nothing was answered: the capture has no other packets.
    assert!(!suspected("peer-silent", &NEVER.replace("open 0.040", "")));
    // The other end is there, and closes.
    let closed = format!("{NEVER}6.000 < 1:2 fin");
    assert!(suspected("timeouts", &closed));
    assert!(suspected("timeout-backoff", &closed));
    assert_eq!(found("lost-retransmissions", &drill::connection(&closed)), []);
}

/// Beside the receiver, 21 s pass in which nothing comes of a full segment; then smaller pieces of
/// the same data, or all of it at once.
const BESIDE_RECEIVER: &str = "0.000 > S mss 1448
    0.0001 < S mss 1448
    0.090 > ack 1 win 500
    0.100 > 1449:2001 psh
    0.1001 < ack 1 sack 1449-2001";

#[test]
fn black_hole_beside_the_receiver_is_named_with_its_time() {
    let text = format!(
        "{BESIDE_RECEIVER}\n21.1 > 1:537\n21.1001 < ack 537 sack 1449-2001\n21.2 > 537:1073
        21.2001 > 1073:1609\n21.2002 < ack 2001\n21.3 > 2001:2537\n21.3001 > 2537:3073
        21.3002 < ack 3073"
    );
    let connection = drill::connection(&text);
    let [finding] = &found("path-mtu", &connection)[..] else { panic!("{connection:#?}") };
    assert_eq!(
        finding.statement,
        "The path MTU is smaller than the ends agreed on: from 21.100 s on the client's full \
         segments carry 536 B instead of 1448 B. A PMTU black hole: full segments vanished, and \
         the sender stalled for 21 s before it tried smaller ones. ICMP to it does not pass this \
         capture point."
    );
    assert_eq!((finding.cost.time.as_micros(), &finding.frames[..]), (20_999_900, &[5, 6][..]));
    assert_eq!(found("timeouts", &connection), []);
}

#[test]
fn long_wait_of_unknown_cause_beside_the_receiver_is_named() {
    let text = format!("{BESIDE_RECEIVER}\n21.1 > 1:1449\n21.1001 < ack 2001");
    let findings = found("timeouts", &drill::connection(&text));
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert!(
        finding
            .statement
            .contains("once, 100 % of the transfer (21 s of 21 s): why is not visible"),
        "{}",
        finding.statement
    );
    assert_eq!(finding.frames, [5, 6]);
}

#[test]
fn smaller_path_mtu_names_the_icmp_message() {
    let smaller = "0.200 > 1:1349\n0.2001 > 1349:2697\n0.2002 > 2697:4045\n0.2003 > 4045:5393
        0.240 < ack 5393 win 500";
    let said = |report: &str| {
        let text = format!(
            "0 > S mss 1448\n0.040 < S mss 1448\n0.0401 > ack 1\n0.1 > 1:5793\n{report}{smaller}"
        );
        let finding = found("path-mtu", &drill::connection(&text)).remove(0);
        (finding.statement, finding.frames)
    };
    let (statement, frames) = said("0.120 < too big 1 mtu 1388\n");
    assert!(statement.contains("1348 B instead of 1448 B. ICMP reported MTU 1388 (frame 8)."));
    assert!(frames.contains(&8), "{frames:?}");
    let (statement, frames) = said("0.120 < too big 1 mtu 0\n");
    assert!(statement.contains(" ICMP reported it (frame 8)."), "{statement} {frames:?}");
    assert!(!said("").0.contains("ICMP reported"));
}

/// Without a SYN nothing is known of what the ends agreed on.
#[test]
fn smaller_path_mtu_without_a_syn_was_not_agreed() {
    let text = "0.1 > 1:5793\n0.14 < ack 5793
        0.15 > 5793:7141\n0.1501 > 7141:8489\n0.1502 > 8489:9837\n0.1503 > 9837:11185";
    let findings = found("path-mtu", &drill::connection(text));
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert!(finding.statement.starts_with("The path MTU became smaller: from 0.050 s on"));
}

/// A packet of `ping` is as large as that of the segment: 8 bytes of ICMP for those of TCP.
#[test]
fn ping_is_as_large_as_the_full_segment() {
    let command = |text: &str| {
        let remedy = found("peer-silent", &drill::connection(text)).remove(0).remedy.unwrap();
        remedy.split('`').nth(1).unwrap().to_owned()
    };
    let open = "0 > S clock 1\n0.040 < S clock 5 echo 1\n0.041 > ack 1 clock 2 echo 5";
    let stamped = NEVER
        .replace("open 0.040", open)
        .replace("1:14481", "1:14481 clock 3")
        .replace("1:1449", "1:1449 clock 300");
    assert_eq!(command(NEVER), "ping -M do -s 1460 10.0.0.2");
    assert_eq!(command(&stamped), "ping -M do -s 1472 10.0.0.2");
    // The capture begins later: only the segments show their timestamps.
    let midstream = stamped.replace(open, "0.01 > 1:101 clock 2\n0.03 < ack 101 echo 2");
    let midstream = midstream.replace("1:14481", "101:14581").replace("1:1449", "101:1549");
    assert_eq!(command(&midstream), "ping -M do -s 1472 10.0.0.2");
}
