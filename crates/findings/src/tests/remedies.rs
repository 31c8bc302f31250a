//! Causes and remedies that packets rule out.

use super::{drill, found};

/// The only finding of the rule.
fn only(rule: &str, text: &str) -> (String, String, Vec<u64>) {
    let findings = found(rule, &drill::connection(text));
    let [finding] = &findings[..] else { panic!("{rule}: {findings:#?}") };
    let remedy = finding.remedy.clone().unwrap_or_default();
    (finding.statement.clone(), remedy, finding.frames.clone())
}

/// The server fills segments of what the client takes; the first packets hold several of them.
#[test]
fn segments_of_the_clients_mss_are_no_smaller_path_mtu() {
    let text = |mss: u64| {
        let full = "0.1 < 1:1449\n0.12 > ack 1449\n0.13 < 1449:2649\n0.1301 < 2649:3849
            0.1302 < 3849:5049\n0.1303 < 5049:6249\n0.15 > ack 6249";
        format!("0 > S mss {mss}\n0.0001 < S mss 1448\n0.02 > ack 1\n{full}")
    };
    assert_eq!(found("path-mtu", &drill::connection(&text(1_200))), []);
    let (statement, ..) = only("path-mtu", &text(1_448));
    assert!(statement.contains("the server's full segments carry 1200 B instead of 1448 B"));
}

/// A device on the path made one packet of two and could not forward it.
#[test]
fn too_big_packet_that_nobody_sent_was_merged_on_the_path() {
    let text = "open 0.040\n0.045 < ack 1 win 500\n0.1 > 1:1001\n0.1 > 1001:1201 psh\n0.14 < too big 1 mtu 1400
        0.4 > 1:1001\n0.44 < ack 1001\n0.4402 > 1001:1201 psh\n0.48 < ack 1201";
    let (statement, remedy, frames) = only("path-mtu", text);
    assert_eq!(
        statement,
        "ICMP called a packet of 1488 B too big for MTU 1400 (frame 7), but the client sent 1040 B \
         there: a device on the path merged segments (receive offload) and dropped the result."
    );
    assert!(remedy.starts_with("Turn off LRO"), "{remedy}");
    assert_eq!(frames, [7]);
    let (_, remedy, _) = only("tail-loss", text);
    assert!(remedy.starts_with("A device on the path merged segments"), "{remedy}");
    let episodes = found("recovery-episode", &drill::connection(text));
    assert!(episodes.iter().all(|it| !it.statement.contains("ICMP")), "{episodes:#?}");
    // A packet that was sent like that.
    let sent = text.replace("1 mtu 1400", "1 mtu 1000");
    assert_eq!(found("path-mtu", &drill::connection(&sent)), []);
}

/// Nobody waits for the window of a direction without data.
#[test]
fn zero_window_without_data_is_silent() {
    let text = |data: &str| {
        format!(
            "0 > S\n0.01 < S\n0.0101 > ack 1 win 0\n{data}\n1.5 > ack 1 win 500
             1.6 > 1:101\n1.61 < ack 101"
        )
    };
    assert_eq!(found("zero-window", &drill::connection(&text(""))), []);
    assert_eq!(found("zero-window", &drill::connection(&text("0.2 < 1:2"))).len(), 1);
}

/// One packet each 10 ms and no ACK until the end: no window grows by that.
#[test]
fn constant_rate_without_acks_is_no_slow_start() {
    let text =
        "0 > S\n0.010 < S\n0.020 > ack 1 win 500\n0.030 > 1:101\n0.040 < 1:289601 every 0.010
        2.1 > ack 289601 at 101";
    assert_eq!(found("slow-start", &drill::connection(text)), []);
}

/// Four windows of 65 kB per round trip of 100 ms, and a window that grew when it was over.
#[test]
fn window_that_grew_too_late_is_not_the_one_that_limited() {
    let mut text = "0 > S\n0.1 < S\n0.1001 > ack 1 win 500\n0.1002 < ack 1 win 250\n".to_owned();
    let (each, mut start) = (22 * 1_448, 1);
    for round in 2..8_u64 {
        let end = start + each;
        let window = if round == 7 { 4096 } else { 250 };
        text += &format!("{}.{}002 > {start}:{end}\n", round / 10, round % 10);
        let then = round + 1;
        text += &format!("{}.{} < ack {end} win {window}\n", then / 10, then % 10);
        start = end;
    }
    text += &format!("0.8002 > {start}:{}\n0.9 < ack {} win 4096\n", start + each, start + each);
    let (statement, remedy, _) = only("window-limited", &text);
    assert!(statement.starts_with("The server's receive window (mean 32 kB)"), "{statement}");
    assert!(statement.contains(" It grew to 524 kB too late."), "{statement}");
    assert!(remedy.starts_with("Let the server offer more from the start"), "{remedy}");
}

/// A probe repeated the newest data before the receiver's late report of an earlier loss, which the
/// sender then repaired at once.
#[test]
fn probe_before_the_evidence_is_no_late_reaction_to_it() {
    let (statement, ..) = only(
        "recovery-episode",
        "open 0.010
         0.100 > 1:1449
         0.110 < ack 1449
         0.200 > 1449:2897
         0.2001 > 2897:4345
         0.2002 > 4345:5793
         0.260 > 4345:5793
         0.290 < ack 1449 sack 2897-4345
         0.2900 > 1449:2897
         0.2901 < ack 1449 sack 2897-5793
         0.2902 < ack 1449 dsack 4345-5793 sack 2897-5793
         0.300 < ack 5793",
    );
    assert!(statement.contains("was SACKed at 0.290 s"), "{statement}");
    assert!(!statement.contains("a timer did"), "{statement}");
}
