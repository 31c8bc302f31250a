//! Rules of sums, applied to packets.

use super::{after_handshake, drill, found};

/// The statement of the rule for `text`; it must be silent for `silent`.
fn statement(rule: &str, text: &str, silent: &str) -> String {
    let findings = found(rule, &drill::connection(text));
    let [finding] = findings.as_slice() else { panic!("{rule}: {findings:?}") };
    assert_eq!(found(rule, &drill::connection(silent)), [], "{rule}");
    assert!(!finding.frames.is_empty());
    finding.statement.clone()
}

#[test]
fn zero_window_long_found() {
    let closed = |open: &str| {
        format!(
            "0.000 > S
             0.010 < S
             0.0101 > ack 1 win 500
             0.100 > 1:14481
             0.110 < ack 14481 win 0
             {open} < ack 14481 win 500
             0.511 > 14481:15929
             0.521 < ack 15929 win 500"
        )
    };
    insta::assert_snapshot!(statement("zero-window", &closed("0.510"), &closed("0.115")));
}

#[test]
fn syn_retransmitted_found() {
    let text = "0.000 > S
        1.000 > S
        1.040 < S
        1.0401 > ack 1
        1.050 > 1:1449
        1.090 < ack 1449";
    let at_once = text.replace("1.000 > S", "");
    insta::assert_snapshot!(statement("syn-retransmitted", text, &at_once.replace("1.", "0.")));
}

#[test]
fn syn_unanswered_not_opened_found() {
    let text = "0.000 > S
        1.000 > S
        3.000 > S";
    let answered = format!("{text}\n3.040 < S\n3.0401 > ack 1");
    insta::assert_snapshot!(statement("not-opened", text, &answered));
}

#[test]
fn small_segments_delayed_acks_nagle_delay_found() {
    let text = "0.000 > S
        0.010 < S
        0.0101 > ack 1 win 500
        0.100 > 1:1449 psh
        0.110 < ack 1449
        0.120 > 1449:1549 psh
        0.170 < ack 1549
        0.1701 > 1549:1649 psh
        0.2201 < ack 1649
        0.2202 > 1649:1749 psh
        0.2702 < ack 1749
        0.2703 > 1749:1849 psh
        0.3203 < ack 1849";
    // The application writes 5 ms later: TCP did not wait.
    let later = ["0.1701 >", "0.2202 >", "0.2703 >"]
        .iter()
        .fold(text.to_owned(), |text, line| text.replace(line, &format!("{}5 >", &line[..4])));
    insta::assert_snapshot!(statement("nagle-delay", text, &later));
}

#[test]
fn steady_writes_only_application_limited_found() {
    let text = "0.100 > 1:43441 every 0.010
        0.110 < acks 1449 43441 every 0.010";
    let rules: Vec<&str> =
        crate::examine(&after_handshake(text)).iter().map(|finding| finding.rule).collect();
    // The application sends a segment every 10 ms.
    assert_eq!(rules, ["application-limited"]);
}
