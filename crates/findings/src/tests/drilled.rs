//! Rules of sums, from packets to statement.

use super::{after_handshake, drill, found};

/// The only thing that the rule says of what `text` describes; nothing of what `silent` does.
fn said(rule: &str, text: &str, silent: &str) -> String {
    let findings = found(rule, &drill::connection(text));
    let [finding] = findings.as_slice() else {
        panic!("{rule}: {findings:?} {:?}", {
            let f = drill::connection(text).forward;
            (f.shares, f.windows, f.transfer, f.totals)
        })
    };
    assert_eq!(found(rule, &drill::connection(silent)), [], "{rule}");
    assert!(!finding.frames.is_empty());
    finding.statement.clone()
}

/// 14 segments fill a window of 160 << 7 = 20,480 bytes; each acknowledgement lets one more go.
#[test]
fn a_window_that_is_always_full_limits() {
    let mut text = "0.000 > S
        0.050 < S
        0.0501 > ack 1 win 500
        0.0502 < ack 1 win 160
        0.100 > 1:20273\n"
        .to_owned();
    for step in 0..84 {
        let (at, acked) = (0.150 + 0.003 * f64::from(step), 1 + 1448 * (step + 1));
        let sent = 20_273 + 1448 * step;
        text += &format!("{at:.4} < ack {acked} win 160\n");
        text += &format!("{:.4} > {sent}:{}\n", at + 0.0001, sent + 1448);
    }
    let wide = text.replace("win 160", "win 4000");
    insta::assert_snapshot!(said("window-limited", &text, &wide));
}

#[test]
fn a_window_closed_for_long_is_told() {
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
    insta::assert_snapshot!(said("zero-window", &closed("0.510"), &closed("0.115")));
}

#[test]
fn a_syn_sent_again_is_told() {
    let text = "0.000 > S
        1.000 > S
        1.040 < S
        1.0401 > ack 1
        1.050 > 1:1449
        1.090 < ack 1449";
    let at_once = text.replace("1.000 > S", "");
    insta::assert_snapshot!(said("syn-repeated", text, &at_once.replace("1.", "0.")));
}

#[test]
fn a_syn_without_answer_is_told() {
    let text = "0.000 > S
        1.000 > S
        3.000 > S";
    let answered = format!("{text}\n3.040 < S\n3.0401 > ack 1");
    insta::assert_snapshot!(said("not-opened", text, &answered));
}

#[test]
fn small_segments_that_wait_for_delayed_acknowledgements_are_told() {
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
    // The application writes 5 ms later: it was not TCP that waited.
    let later = ["0.1701 >", "0.2202 >", "0.2703 >"]
        .iter()
        .fold(text.to_owned(), |text, line| text.replace(line, &format!("{}5 >", &line[..4])));
    insta::assert_snapshot!(said("nagle-delay", text, &later));
}

#[test]
fn without_losses_and_with_room_nothing_is_said_of_packets_in_time() {
    let text = "0.100 > 1:43441 every 0.010
        0.110 < acks 1449 43441 every 0.010";
    let rules: Vec<&str> =
        crate::examine(&after_handshake(text)).iter().map(|finding| finding.rule).collect();
    // Its application sends a segment each 10 ms, and that is all there is to say.
    assert_eq!(rules, ["application-limited"]);
}
