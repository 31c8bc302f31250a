//! Rules of sums, applied to packets.

use tcplab_trace::{Connection, EcnAgreement, Limit};

use super::sums::{limited, ms, occurred};
use super::{after_handshake, drill, found};
use crate::Severity;

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

/// Clients leave ECN and Fast Open out of a SYN that nobody answers.
#[test]
fn syn_answered_only_without_what_it_asked_found() {
    for (rule, first) in [("ECN", "bits 011"), ("TCP Fast Open", "option 2202 data 100")] {
        let text = format!("0 > S {first}\n1 > S\n1.02 < S\n1.0201 > 1:101\n1.04 < ack 101");
        let connection = drill::connection(&text);
        let [finding] = &found("syn-retransmitted", &connection)[..] else { panic!("{rule}") };
        let answered = format!(" once. Only a SYN without {rule} was answered.");
        assert!(finding.statement.ends_with(&answered), "{}", finding.statement);
        assert!(finding.remedy.as_ref().unwrap().contains("drops SYNs"), "{rule}");
        assert_eq!(found("fast-open", &connection), []);
    }
}

/// Where no answer was captured, no timer is known, unless the waits double.
#[test]
fn no_timer_is_blamed_without_a_captured_answer() {
    let text = "0.000 > 1:649\n0.206 > 1:649\n0.806 > 1:649\n1.306 > 1:649\n2.006 > 1:649";
    let findings = crate::examine(&drill::connection(text));
    assert!(findings.iter().all(|finding| finding.rule != "timeouts"), "{findings:#?}");
    let lost = findings.iter().find(|finding| finding.rule == "recovery-episode").unwrap();
    let expected = "No ACK was captured; after 206 ms 1:649(648) was retransmitted at 0.206 s.";
    assert!(lost.statement.contains(expected), "{}", lost.statement);
}

/// `tcp_retransmissions.pcapng` of C. Sanders, "Practical Packet Analysis": five retransmissions by
/// a timer, and no packet of the other end.
#[test]
fn sender_that_backs_off_without_a_captured_answer_found() {
    let text = "0.000 > 1:649\n0.206 > 1:649\n0.806 > 1:649\n2.006 > 1:649\n4.406 > 1:649\n\
                9.211 > 1:649";
    let steady = "0.000 > 1:649\n0.206 > 1:649\n0.806 > 1:649\n2.006 > 1:649\n3.206 > 1:649";
    insta::assert_snapshot!(statement("peer-silent", text, steady));
}

/// D-SACKs show that the original arrived before the timer expired twice.
#[test]
fn timer_in_a_row_though_the_data_had_arrived_found() {
    let text = |dsack: &str| {
        format!(
            "open 0.020\n0.100 > 1:101\n0.120 < ack 101\n1.000 > 101:201\n1.500 > 101:201
             2.500 > 101:201\n2.600 < ack 201{dsack}\n2.601 < ack 201{dsack}"
        )
    };
    let arrived = found("timeout-backoff", &drill::connection(&text(" dsack 101-201")));
    let words = &arrived[0].statement;
    assert!(words.contains("no acknowledgement came from 1.000 s to 2.500 s"), "{words}");
    assert!(arrived[0].remedy.as_ref().unwrap().contains("return path"));
    let lost = found("timeout-backoff", &drill::connection(&text("")));
    assert!(lost[0].statement.contains("nothing got through"), "{}", lost[0].statement);
}

/// RFC 9293 figure 10: the server still holds an older connection of the same ports.
#[test]
fn syn_answered_by_an_old_connection_found() {
    let text = "0.000 > S
        0.018 < ack 77777 at 5555
        0.0181 > R 77777
        3.000 > S
        3.040 < S
        3.0401 > ack 1
        3.050 > 1:1449
        3.090 < ack 1449";
    let at_once = "0.000 > S\n0.040 < S\n0.0401 > ack 1\n0.050 > 1:1449\n0.090 < ack 1449";
    insta::assert_snapshot!(statement("syn-retransmitted", text, at_once));
}

/// The server, in TIME-WAIT, answers a SYN below the earlier numbers with the last ACK again, and
/// the client's RST ends that state (RFC 9293 section 3.10.7.3).
#[test]
fn syn_answered_from_time_wait_found() {
    let mut packets = drill::drill(
        "open 0.020\n0.030 > 1:101\n0.050 < 1:501 acking 101 fin\n0.051 > 101:102 acking 502 fin
         0.070 < ack 102 at 502",
        1_000_000,
    );
    let again = "1.000 > S\n2.000 > S\n2.020 < S isn 70000\n2.021 > ack 70001";
    packets.extend(drill::drill(again, 500));
    let answer = drill::drill("1.020 < ack 102 at 502\n1.0201 > R 102", 1_000_000);
    packets.splice(packets.len() - 3..packets.len() - 3, answer);
    let trace = drill::analyze(&packets);
    assert_eq!(trace.notes, []);
    let findings = found("syn-retransmitted", &trace.connections[1]);
    insta::assert_snapshot!(format!("{findings:#?}"));
}

/// The client, its window closed, is gone: the server's probes get no answer, and it gives up.
#[test]
fn reset_after_unanswered_probes_found() {
    let text = |answers: &str| {
        format!(
            "open 0.020\n0.100 > 1:1449\n0.120 < ack 1449 win 0
             0.400 > at 1448\n1.000 > at 1448\n2.200 > at 1448\n{answers}\n4.600 > R 1449"
        )
    };
    let abort = |answers: &str| found("reset", &drill::connection(&text(answers))).remove(0);
    insta::assert_snapshot!(abort("").statement);
    assert!(abort("").remedy.is_some_and(|it| it.starts_with("The server's host is down")));
    let answered = abort("2.220 < ack 1449 win 0").remedy;
    assert!(answered.is_some_and(|it| it.starts_with("Check the client's program")));
    let windows = drill::connection(&text("")).forward.windows;
    assert_eq!(windows.zero_window_time.as_micros(), 4_480_000);
}

/// The same address and port at both ends: no direction is missing.
#[test]
fn socket_connected_to_itself_found() {
    let mut packets = drill::drill("0 > S\n0.001 > S ack 1\n0.002 > ack 1\n0.1 > 1:101", 1_000);
    for packet in &mut packets {
        let [source, ports] = [12..16, 20..22].map(|field| packet.bytes[field].to_vec());
        packet.bytes[16..20].copy_from_slice(&source);
        packet.bytes[22..24].copy_from_slice(&ports);
    }
    let itself = drill::analyze(&packets).connections.remove(0);
    let statement = found("one-direction", &itself).remove(0).statement;
    assert!(statement.starts_with("A socket is connected to itself"), "{statement}");
}

/// A SYN within an open connection (RFC 5961 section 4.2) is no firewall's.
#[test]
fn syn_within_a_connection_found() {
    let mut packets = drill::drill("open 0.020\n0.030 > 1:101\n0.050 < ack 101", 1_000_000);
    packets.extend(drill::drill("0.060 > S", 500));
    packets.extend(drill::drill("0.080 < ack 101\n0.090 > 101:201\n0.110 < ack 201", 1_000_000));
    let trace = drill::analyze(&packets);
    let findings = found("not-opened", &trace.connections[1]);
    insta::assert_snapshot!(format!("{findings:#?}"));
}

/// The server answers from another connection, and the client asks no more.
#[test]
fn syn_answered_by_an_old_connection_only_found() {
    let found_in = |connection| {
        let findings = found("not-opened", connection);
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        format!("{}\n→ {}", finding.statement, finding.remedy.as_deref().unwrap())
    };
    let before = drill::connection("0 > S\n0.018 < ack 77777 at 5555\n0.0181 > R 77777");
    let mut packets = drill::drill("open 0.020\n0.030 > 1:101\n0.050 < ack 101", 1_000_000);
    packets.extend(drill::drill("1 > S", 500));
    packets.extend(drill::drill("1.020 < ack 101\n1.0201 > R 101", 1_000_000));
    let open = drill::analyze(&packets);
    let texts = [&before, &open.connections[1]].map(found_in);
    insta::assert_snapshot!(texts.join("\n\n"));
}

/// A SYN-ACK beside the client that echoes the first SYN: earlier ones were lost.
#[test]
fn syn_retransmitted_names_lost_syn_acks_by_the_echoed_timestamp() {
    let remedy = |echo: u32| {
        let connection = drill::connection(&format!(
            "0 > S clock 1\n1.016 > S clock 1017\n2.04 > S clock 2041
             2.06 < S clock 9 echo {echo}\n2.0601 > ack 1 clock 2061 echo 9"
        ));
        found("syn-retransmitted", &connection).remove(0).remedy.unwrap()
    };
    for earlier in [1, 1_017] {
        assert!(remedy(earlier).starts_with("The SYN-ACK or the client's ACK was lost"));
    }
    assert!(remedy(2_041).starts_with("Check whether the server's backlog"));
}

#[test]
fn syn_unanswered_not_opened_found() {
    let text = "0.000 > S
        1.000 > S
        3.000 > S";
    let answered = format!("{text}\n3.040 < S\n3.0401 > ack 1");
    insta::assert_snapshot!(statement("not-opened", text, &answered));
}

/// The other end vanishes: one finding, not one for each thing that a timer did.
#[test]
fn peer_silent_is_one_finding() {
    let text = "0.100 > 1:1449
        0.110 < ack 1449
        1.000 > 1449:1549
        1.030 > 1449:1549
        1.300 > 1449:1549
        1.900 > 1449:1549
        3.100 > 1449:1549
        5.500 > 1449:1549";
    let findings = crate::examine(&after_handshake(text));
    let [finding] = findings.as_slice() else { panic!("{findings:#?}") };
    assert_eq!(finding.rule, "peer-silent");
    assert_eq!(
        finding.statement,
        "The server stopped answering: its last packet passed at 0.110 s (frame 5). In the 5.39 s \
         since then the client retransmitted 5 times. Whether its data or the answers were lost \
         is unknown."
    );
    // It answers in the end: the timer is the news.
    let findings = crate::examine(&after_handshake(&format!("{text}\n5.510 < ack 1549")));
    assert!(findings.iter().any(|finding| finding.rule == "timeout-backoff"), "{findings:#?}");
    assert!(findings.iter().all(|finding| finding.rule != "peer-silent"), "{findings:#?}");
}

#[test]
fn refused_and_half_open_are_one_finding_each() {
    for (text, said) in [
        ("0.000 > S\n0.020 < R 0 ack 1", "got RST"),
        ("0.000 > S\n0.010 < S\n0.020 > R 1", "The client answered the SYN-ACK of"),
        ("0.000 > S\n1.010 > R 1", "once and gave up with RST"),
        ("0.000 > S\n0.010 < S\n3.000 < R 1 ack 1", "gave up with RST"),
    ] {
        let findings = crate::examine(&drill::connection(text));
        let [finding] = findings.as_slice() else { panic!("{text}: {findings:?}") };
        assert_eq!(finding.rule, "not-opened");
        assert!(finding.statement.contains(said), "{}", finding.statement);
    }
}

/// What becomes of data at an RST behind a FIN, by whoever sends it.
#[test]
fn reset_behind_fin_found_where_data_is_lost() {
    let reset = |text: &str| {
        let findings = found("reset", &after_handshake(text));
        findings.first().map(|it| (it.severity, it.statement.clone(), it.frames.clone()))
    };
    let fin = "0.100 > 1:1449\n0.110 < ack 1449\n0.120 > 1449:1450 fin";
    // The server goes on; the client has closed.
    let download = format!("{fin}\n0.130 < 1:14481 acking 1450\n0.131 > R 1");
    let (severity, statement, frames) = reset(&download).unwrap();
    assert_eq!(severity, crate::Severity::Note);
    assert_eq!(
        statement,
        "The client reset the connection at 0.131 s, 11 ms after its own FIN: 14.5 kB of the \
         server's data was never acknowledged, so it is lost."
    );
    assert_eq!(frames, [17]);
    // As much as a farewell, and no more than a FIN.
    assert_eq!(reset(&format!("{fin}\n0.130 < 1:32 acking 1450\n0.131 > R 1")), None);
    assert_eq!(reset(&format!("{fin}\n0.130 < 1:2 fin acking 1450\n0.131 > R 1")), None);
    // All that the server sent is acknowledged, by the RST in one case.
    let answered = format!("{fin}\n0.130 < 1:1449 acking 1450");
    assert_eq!(reset(&format!("{answered}\n0.131 > ack 1449 at 1450\n0.14 > R 1450")), None);
    assert_eq!(reset(&format!("{answered}\n0.131 > R 1450 ack 1449")), None);
    // The server refuses the rest of a request, and its RST may overtake its answer.
    let refused = "0.100 < 1:1449\n0.101 < 1449:1450 fin\n0.110 > 1:14481\n0.111 < R 1450";
    let (severity, statement, _) = reset(refused).unwrap();
    assert_eq!(severity, crate::Severity::Failure);
    assert!(statement.ends_with("1448 B of its own data was never acknowledged, and may be lost."));
    // The other end aborts with data that it has not acknowledged; all others are harmless.
    let aborted = "0.100 > 1:1449\n0.101 > 1449:1450 fin\n0.110 < R 1";
    assert_eq!(reset(aborted).unwrap().0, crate::Severity::Failure);
    assert_eq!(reset(&format!("{fin}\n0.130 < ack 1450\n0.200 < R 1")), None);
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

/// A firewall between the ends changes sequence numbers and leaves the SACK blocks as they are.
#[test]
fn sack_blocks_of_data_never_sent_are_not_the_senders_fault() {
    let text = |shift: u64| {
        let sack = |end: u64| format!("{}-{}", 2_897 + shift, end + shift);
        let [a, b, c] = [4_345, 5_793, 7_241].map(sack);
        format!(
            "open 0.020
             0.100 > 1:7241
             0.1201 < ack 1449 win 500
             0.1202 < ack 1449 win 500 sack {a}
             0.1203 < ack 1449 win 500 sack {b}
             0.1204 < ack 1449 win 500 sack {c}
             0.360 > 1449:2897
             0.380 < ack 7241 win 500"
        )
    };
    let rules = |text: &str| -> Vec<_> {
        crate::examine(&drill::connection(text)).iter().map(|finding| finding.rule).collect()
    };
    for shift in [777_777, 1 << 30, 3 << 30] {
        let found = rules(&text(shift));
        assert!(found.contains(&"sack-unsent"), "{found:?}");
        assert!(!found.contains(&"no-reaction"), "{found:?}");
    }
    // Right blocks that the sender does not react to; and a capture that misses what they name.
    let found = rules(&text(0));
    assert!(found.contains(&"no-reaction") && !found.contains(&"sack-unsent"), "{found:?}");
    let missed = text(1_448).replace("ack 7241", "ack 8689");
    let found = rules(&missed);
    assert!(!found.contains(&"sack-unsent"), "{found:?}");
    let later = text(777_777);
    insta::assert_snapshot!(statement("sack-unsent", &later, &missed));
    let connection = drill::connection(&later);
    let story = crate::story(&connection.forward.episodes[0], &connection.forward);
    assert!(story.contains("After 260 ms the retransmission timer expired"), "{story}");
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

/// Steps of the server's echo of 1000 that are 128 to 255, modulo 256, until one of 16.
const MISREAD: &str = "0.000 > S nosack clock 1000
    0.200 < S nosack clock 5 echo 1000
    0.2001 > ack 1 clock 1200 echo 5
    0.204 > 1:1449 clock 1204 echo 5
    0.408 < ack 1 clock 7 echo 1000
    0.504 > 1:1449 clock 1404 echo 5
    0.708 < ack 1 clock 8 echo 1000
    0.804 > 1:1449 clock 1704 echo 5
    1.008 < ack 1 clock 9 echo 1000
    1.300 > 1:1449 clock 2200 echo 5
    1.504 < ack 1 clock 10 echo 1000
    2.300 > 1:1449 clock 3200 echo 5
    2.504 < ack 1 clock 11 echo 1000
    4.340 > 1:1449 clock 5240 echo 5
    4.544 < ack 1 clock 12 echo 1000
    8.430 > 1:1449 clock 9330 echo 5
    8.634 < ack 1 clock 13 echo 1000
    16.500 > 1:1449 clock 17400 echo 5
    16.704 < ack 1449 clock 14 echo 17400";

#[test]
fn timestamps_misread_found() {
    // Lost, not refused: the last is older with reversed bytes, and taken.
    let lost = MISREAD.replace("clock 17400", "clock 17560").replace("echo 17400", "echo 17560");
    insta::assert_snapshot!(statement("timestamps-misread", MISREAD, &lost));
    // Lost: newer in either order.
    let newer = MISREAD.replace("echo 1000\n", "echo 1150\n");
    assert_eq!(found("timestamps-misread", &drill::connection(&newer)), []);
    // With SACK: the receiver has later data, so the segment is what is missing.
    let sack = MISREAD.replace("nosack ", "").replace("< ack 1 ", "< ack 1 sack 1449-2897 ");
    assert_eq!(found("timestamps-misread", &drill::connection(&sack)), []);
}

#[test]
fn timestamps_reversed_found() {
    let text = |order: fn(u32) -> u32| {
        let mut text = String::from("open 0.010\n");
        for turn in 0..12_u32 {
            // 150 ms apart: as written every second step or so goes back.
            let at = 0.1 + 0.15 * f64::from(turn);
            let (start, end) = (1 + 1_448 * turn, 1 + 1_448 * (turn + 1));
            let clock = order(70_000 + 150 * turn);
            text += &format!("{at:.3} > {start}:{end} clock {clock}\n");
            text += &format!("{:.3} < ack {end} echo {clock}\n", at + 0.01);
        }
        text
    };
    let right = text(|clock| clock);
    insta::assert_snapshot!(statement("timestamps-reversed", &text(u32::swap_bytes), &right));
}

/// The drill's packets have a TTL of 64.
#[test]
fn reset_with_another_ttl_says_so() {
    let mut packets = drill::drill("open 0.020\n0.1 > 1:1449\n0.12 < ack 1449\n0.2 < R 1", 1_000);
    let remedy = |packets: &[drill::Captured]| {
        let connection = drill::analyze(packets).connections.remove(0);
        found("reset", &connection).remove(0).remedy.unwrap()
    };
    let same = remedy(&packets);
    assert!(same.ends_with("though its TTL is that of the server, 64."), "{same}");
    packets.last_mut().unwrap().bytes[8] = 250;
    let other = remedy(&packets);
    let expected = "The RST has a TTL of 250, the server's first packet had 64: perhaps";
    assert!(other.starts_with(expected), "{other}");
}

/// RFC 8684 section 3.3.6: what one subflow lost may come by another.
#[test]
fn reset_of_a_subflow_loses_nothing_for_certain() {
    let plain = "0 > S\n0.01 < S\n0.0101 > ack 1\n0.020 < 1:1449\n0.030 > R 1";
    let subflow = plain
        .replace("> S", "> S option 1e040001")
        .replace("< S", "< S option 1e0c00010102030405060708");
    for (text, severity, said) in [
        (plain, Severity::Failure, "so it is lost."),
        (&subflow, Severity::Note, "another subflow may have carried it."),
    ] {
        let findings = found("reset", &drill::connection(text));
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        assert_eq!(finding.severity, severity, "{text}");
        assert!(finding.statement.ends_with(said), "{}", finding.statement);
    }
}

/// RFC 3168 section 6.1.3: who acknowledges marked data echoes the mark, in each ACK until CWR.
#[test]
fn congestion_marks_that_are_not_echoed_found() {
    let text = |echo: &str| {
        format!(
            "0 > S bits 011\n0.0001 < S bits 001\n0.020 > ack 1\n0.100 > 1:2897 ce
             0.101 > 2897:5793 ce\n0.102 < ack 2897{echo}\n0.1021 < ack 5793{echo}
             0.140 > 5793:7241\n0.141 < ack 7241{echo}"
        )
    };
    let [missing] = &found("congestion-marks", &drill::connection(&text("")))[..] else {
        panic!("none")
    };
    insta::assert_snapshot!(missing.statement);
    assert_eq!(missing.severity, Severity::Failure);
    let echoed = &found("congestion-marks", &drill::connection(&text(" ece")))[0];
    assert!(echoed.statement.ends_with("slows the sender down without dropping packets."));
}

/// What the congestion window took before the first mark is not its cost.
#[test]
fn cost_of_congestion_marks_begins_with_the_first() {
    let mut connection = drill::connection("open 0.020\n0.100 > 1:101\n1.100 < ack 101");
    connection.handshake.ecn = EcnAgreement::Classic;
    limited(&mut connection.forward, &[(Limit::Congestion, 1_000)]);
    let cost = |connection: &Connection| found("congestion-marks", connection)[0].cost.time;
    connection.forward.marks.reductions = occurred(1, 800);
    assert_eq!(cost(&connection), ms(300));
    connection.forward.marks.ce_marks = occurred(1, 600);
    connection.forward.marks.marked_data = true;
    assert_eq!(cost(&connection), ms(500));
}
