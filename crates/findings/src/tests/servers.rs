//! What a server or the way to it keeps waiting, as packets.

use super::{after_handshake, drill};
use crate::examine;

fn rules(text: &str) -> Vec<&'static str> {
    examine(&drill::connection(text)).iter().map(|finding| finding.rule).collect()
}

/// The server's accept queue is full: it drops the client's ACK and data until it has room.
#[test]
fn accept_queue_full_is_one_finding() {
    let text = "0.000 > S
        0.020 < S
        0.0201 > ack 1 win 500
        0.021 > 1:201
        0.241 > 1:201
        0.681 > 1:201
        1.020 < S
        1.0201 > ack 1 at 201 win 500
        1.521 > 1:201
        3.020 < S
        3.0201 > ack 1 at 201 win 500
        3.221 > 1:201
        3.241 < ack 201 win 500
        3.242 < 1:501 acking 201
        3.2421 > ack 501 at 201 win 500";
    let findings = examine(&drill::connection(text));
    let [finding] = findings.as_slice() else { panic!("{findings:#?}") };
    assert_eq!(finding.rule, "accept-queue");
    assert_eq!(
        finding.statement,
        "The server did not take up the connection when the client's ACK of its SYN-ACK had come: \
         it retransmitted the SYN-ACK twice and answered at 3.241 s, 3.22 s after the ACK. So it \
         does while its accept queue is full: the application does not accept connections as fast \
         as they come. An interruption of the way to the server looks the same here."
    );
    // What comes later is no part of it.
    let lost = format!(
        "{text}\n4.0 > 201:1649\n4.22 > 201:1649\n4.68 > 201:1649\n5.56 > 201:1649\n7.36 > 201:1649
         10.96 > 201:1649\n10.98 < ack 1649 at 501 win 500"
    );
    let found = rules(&lost);
    assert!(
        ["accept-queue", "timeout-backoff"].iter().all(|rule| found.contains(rule)),
        "{found:?}"
    );
}

/// Address translation forgets a connection: the silence begins with what is not answered.
#[test]
fn silence_after_a_pause_begins_with_the_data() {
    let text = "0.100 > 1:1449
        0.110 < ack 1449
        600.000 > 1449:1549
        600.230 > 1449:1549
        600.690 > 1449:1549
        601.600 > 1449:1549
        603.400 > 1449:1549";
    let findings = examine(&after_handshake(text));
    let [finding] = findings.as_slice() else { panic!("{findings:#?}") };
    assert_eq!((finding.rule, finding.at.as_secs_f64()), ("peer-silent", 600.0));
    assert_eq!(finding.frames, [5, 6, 10]);
    assert_eq!(
        finding.statement,
        "The server stopped answering: its last packet passed at 0.110 s (frame 5). For 10 min \
         neither end sent data; then the client did, at 600.000 s, and in the 3.4 s since it \
         retransmitted 4 times. Whether its data or the answers were lost is unknown."
    );
    let remedy = finding.remedy.as_deref().unwrap();
    assert!(remedy.contains("TCP_KEEPIDLE below 4 min"), "{remedy}");
    // A short pause is nothing to forget a connection for.
    let finding = examine(&after_handshake(&text.replace("60", "2"))).remove(0);
    assert!(!finding.remedy.is_some_and(|remedy| remedy.contains("KEEPIDLE")));
}

/// 40 queries of a database over 30 ms that takes `thinking` ms for each; the ACKs come with the
/// answers.
fn queries(thinking: u64) -> String {
    let mut text = "0.000 > S\n0.030 < S\n0.0301 > ack 1 win 500\n".to_owned();
    for number in 0..40 {
        let (start, end) = (1 + 100 * number, 101 + 100 * number);
        let asked = 1.0 + (31 + thinking) as f64 / 1e3 * f64::from(number);
        let answered = asked + (30 + thinking) as f64 / 1e3;
        text += &format!("{asked} > {start}:{end} acking {start}\n");
        text += &format!("{answered} < {start}:{end} acking {end}\n");
    }
    text
}

#[test]
fn queries_in_turn_cost_round_trips_and_answers() {
    assert_eq!(rules(&queries(0)), ["chatty-application"]);
    assert_eq!(rules(&queries(300)), ["slow-answers"]);
    let both = examine(&drill::connection(&queries(35)));
    let [answers, turns] = both.as_slice() else { panic!("{both:#?}") };
    assert_eq!((answers.rule, turns.rule), ("slow-answers", "chatty-application"));
    let costs = [answers, turns].map(|finding| finding.cost.time.as_micros());
    assert_eq!(costs, [1_400_000, 1_200_000]);
    assert!(answers.remedy.as_deref().is_some_and(|it| it.contains("a capture at the server")));
}

/// A server that takes half a second to answer the SYN, on a path of 30 ms: 40 turns cost 40 round
/// trips of the path.
#[test]
fn turns_cost_round_trips_of_the_path_and_not_of_a_slow_handshake() {
    let text = queries(0).replace("0.030 < S\n0.0301", "0.530 < S\n0.5301");
    let found = examine(&drill::connection(&text));
    let turns = found.iter().find(|it| it.rule == "chatty-application").unwrap();
    assert!(turns.cost.time.as_micros() <= 1_200_000, "{turns:?}");
}
