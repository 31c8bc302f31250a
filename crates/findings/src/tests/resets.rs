//! Resets: idle timeouts, forgotten connections, health checks; as packets at both ends.

use tcplab_trace::Connection;

use super::{drill, found};
use crate::{Finding, Severity};

fn reset_of(connection: &Connection) -> Option<Finding> {
    found("reset", connection).pop()
}

fn reset(text: &str) -> Option<Finding> {
    reset_of(&drill::connection(text))
}

/// A request and its answer; then nothing.
const SERVED: &str =
    "open 0.040\n0.041 > 1:101\n0.081 < 1:1001 acking 101\n0.0811 > ack 1001 at 101";
const SERVED_NEAR_SERVER: &str =
    "open 0.0001 0.040\n0.041 > 1:101\n0.042 < 1:1001 acking 101\n0.082 > ack 1001 at 101";

/// The server's idle timeout runs out while a request is under way. RFC 9112 section 9.5.
#[test]
fn request_that_meets_the_fin_of_an_idle_server_is_a_failure() {
    let at_client = format!(
        "{SERVED}\n65.0 > 101:401 acking 1001\n65.01 < 1001:1002 fin acking 101
         65.0101 > ack 1002 at 401\n65.04 < R 1001"
    );
    let at_server = format!(
        "{SERVED_NEAR_SERVER}\n65.0 < 1001:1002 fin acking 101\n65.01 > 101:401 acking 1001
         65.0101 < R 1001\n65.04 > ack 1002 at 401"
    );
    for text in [&at_client, &at_server] {
        let finding = reset(text).unwrap();
        assert_eq!((finding.severity, finding.cost.bytes.as_u64()), (Severity::Failure, 300));
        let statement = &finding.statement;
        assert!(statement.contains("300 B of the client's data was never acknowledged"));
        let why = " without a packet, while that data was on its way.";
        assert!(statement.ends_with(why) && statement.contains("after 64.9 s"), "{statement}");
        let remedy = finding.remedy.unwrap();
        assert!(remedy.starts_with("Let the client make its idle timeout shorter"), "{remedy}");
    }
    // With TLS's farewell before the FIN.
    let with_alert = at_server
        .replace("1001:1002 fin", "1001:1032")
        .replace("65.01 >", "65.0001 < 1032:1033 fin acking 101\n65.01 >");
    assert_eq!(reset(&with_alert).unwrap().severity, Severity::Failure);
    // The client says farewell, too.
    let both = at_server.replace("65.0101 <", "65.01005 > 401:402 fin acking 1001\n65.0101 <");
    assert_eq!(reset(&both), None);
    let both = at_server.replace("65.04 > ack 1002 at 401", "65.0102 > 401:402 fin acking 1001");
    assert_eq!(reset(&both), None);
    // Both at once, with TLS.
    let crossed = format!(
        "{SERVED}\n65.0 > 101:132 acking 1001\n65.0001 > 132:133 fin acking 1001
         65.01 < 1001:1032 acking 101\n65.0101 < 1032:1033 fin acking 101\n65.04 < R 1001"
    );
    assert_eq!(reset(&crossed), None);
    assert!(reset(&crossed.replace("65.", "0.1")).is_some());
    // Without idle time it may be anything.
    let busy = at_server.replace("65.", "0.1");
    assert_eq!(reset(&busy).unwrap().severity, Severity::Note);
    // The client closes, and something comes.
    let closer = "open 0.0001 0.040\n65.0 > 1:2 fin\n65.01 < 1:301 acking 1\n65.05 > R 2";
    assert_eq!(reset(closer).unwrap().severity, Severity::Note);
    assert_eq!(reset(&closer.replace("65.", "0.1")), None);
}

/// The client's program sends on a connection that it should know to be closed.
#[test]
fn request_long_after_the_fin_is_a_failure() {
    let late = format!(
        "{SERVED}\n5 < 1001:1002 fin acking 101\n5.0001 > ack 1002 at 101
         20 > 101:401 acking 1002\n20.04 < R 1002"
    );
    let finding = reset(&late).unwrap();
    assert_eq!(finding.severity, Severity::Failure);
    assert!(finding.statement.ends_with("That data was sent after the FIN had arrived."));
    assert!(finding.remedy.unwrap().starts_with("Let the client notice that the server closed"));
    // It answers the FIN: a farewell.
    assert_eq!(reset(&late.replace("20 >", "5.01 >").replace("20.04 <", "5.05 <")), None);
    assert_eq!(reset(&late.replace("20.04 <", "20.0001 > 401:402 fin acking 1002\n20.04 <")), None);
    // The server went on reading, and then had enough.
    let half = late.replace("20 >", "10 > 101:1549 acking 1002\n10.04 < ack 1549 at 1002\n20 >");
    let half = half.replace("20 > 101:401", "20 > 1549:1849");
    assert_eq!(reset(&half), None);
}

/// Something on the path, or the server, has forgotten the connection meanwhile.
#[test]
fn reset_after_long_silence_names_idle_timeouts() {
    let request = format!("{SERVED}\n350 > 101:401 acking 1001\n350.04 < R 1001");
    let alone = format!("{SERVED}\n350 < R 1001 ack 101");
    for text in [&request, &alone] {
        let Finding { statement, remedy, .. } = reset(text).unwrap();
        assert!(statement.contains(", after a silence of 350 s"), "{statement}");
        let remedy = remedy.unwrap();
        assert!(remedy.contains("may have forgotten the connection as idle: send TCP keepalives"));
    }
    // The server answered after the silence.
    let served = request.replace("350.04 <", "350.04 < ack 401 at 1001\n350.05 <");
    let short = request.replace("\n350", "\n5");
    // Data were in flight all the time.
    let in_flight = request.replace("\n0.0811 > ack 1001 at 101", "");
    for text in [served, short, in_flight] {
        let Finding { statement, remedy, .. } = reset(&text).unwrap();
        assert!(!statement.contains("silence"), "{text}: {statement}");
        assert!(!remedy.unwrap().contains("keepalives"), "{text}");
    }
}

/// RFC 9293 figure 10: the client has forgotten an open connection of the same ports.
#[test]
fn ports_of_an_open_connection_explain_its_reset_and_the_late_handshake() {
    let trace = |answer: &str| {
        let mut packets = drill::drill(&format!("{SERVED}\n{answer}"), 1_000_000);
        let again = "10.000 > S\n11.000 > S\n11.040 < S isn 80000\n11.0401 > ack 3001";
        packets.extend(drill::drill(again, 500));
        packets.sort_by_key(|packet| packet.time_ns);
        drill::analyze(&packets)
    };
    let challenged = trace("10.040 < ack 101 at 1001\n10.0401 > R 101");
    let [old, new] = challenged.connections.as_slice() else { panic!("{challenged:?}") };
    let reset = reset_of(old).unwrap();
    let late = found("syn-retransmitted", new).remove(0);
    insta::assert_snapshot!(format!("{reset:#?}\n{late:#?}"));
    // Whatever dropped the SYN.
    let dropped = trace("");
    let late = found("syn-retransmitted", &dropped.connections[1]).remove(0);
    assert!(late.statement.contains("Connection 0 of the same ports was still open"));
    // An earlier reset of that connection is another matter, and then it is not open.
    let closed = trace("9 > R 101 ack 1001");
    let [old, new] = closed.connections.as_slice() else { panic!("{closed:?}") };
    assert!(!reset_of(old).unwrap().statement.contains("another connection"));
    let late = found("syn-retransmitted", new).remove(0);
    assert!(late.remedy.unwrap().starts_with("Check whether the server's backlog"));
}

/// At the server the RST passes before the FIN that meets it.
#[test]
fn reset_that_meets_a_fin_is_not_after_it() {
    let at_server = "open 0.0001 0.040\n1 < R 1 ack 1\n1.01 > 1:301\n1.0101 > 301:302 fin";
    let statement = reset(at_server).unwrap().statement;
    assert!(
        statement.starts_with("The server reset the connection at 1.000 s: 300 B of the client")
    );
    let at_client = "open 0.040\n1 > 1:301\n1.0001 > 301:302 fin\n1.02 < R 1 ack 1";
    let statement = reset(at_client).unwrap().statement;
    assert!(statement.contains("19.9 ms after the client's FIN: 300 B of the client"));
}

#[test]
fn connection_reset_without_data_may_be_a_health_check() {
    let half = drill::connection("0 > S\n0.010 < S\n0.0101 > R 1");
    let remedy = found("not-opened", &half).remove(0).remedy.unwrap();
    assert!(remedy.contains("a load balancer's health check, a scan"), "{remedy}");
    let whole = reset("open 0.010\n0.0102 > R 1 ack 1").unwrap();
    assert_eq!(whole.severity, Severity::Note);
    assert!(whole.statement.ends_with("s, with no data sent."), "{}", whole.statement);
    assert!(whole.remedy.unwrap().starts_with("Load balancers check servers so"));
    for other in [
        "open 0.010\n0.02 < R 1 ack 1",
        "open 0.010\n0.02 > 1:101\n0.03 < ack 101\n0.031 > R 101 ack 1",
        "open 0.010\n300 > R 1 ack 1",
    ] {
        assert_eq!(reset(other).unwrap().severity, Severity::Failure, "{other}");
    }
}

/// A device resets the client in the server's name, with a TTL of its own; the server's answer
/// comes nevertheless, and the client has no such connection any more.
#[test]
fn forged_reset_that_worked_is_not_its_victims() {
    let text = "open 0.020\n0.030 > 1:101\n0.035 < R 1 ack 101 ttl 120\n0.050 < ack 101
        0.051 < 1:1449 acking 101\n0.0511 > R 101";
    let connection = drill::connection(text);
    assert_eq!(reset_of(&connection), None);
    let [forged] = &found("forged-reset", &connection)[..] else { panic!("none") };
    insta::assert_snapshot!(forged.statement);
    assert_eq!((forged.severity, &forged.frames[..]), (Severity::Failure, &[5, 7, 8][..]));
    assert_eq!(forged.cost.bytes.as_u64(), 1_448);
    // The server's own: nothing of it comes after that.
    let own = drill::connection(&text.replace("0.051 < 1:1449 acking 101\n0.0511 > R 101", ""));
    assert_eq!(found("forged-reset", &own), []);
    assert!(reset_of(&own).unwrap().statement.starts_with("The server reset"));
}

#[test]
fn forged_reset_without_effect_is_a_note() {
    let text = |ttl: &str| {
        format!(
            "open 0.020\n0.030 > 1:101\n0.035 < R 2{ttl}\n0.0351 > ack 1 at 101
             0.050 < 1:101 acking 101\n0.0501 > ack 101 at 101"
        )
    };
    let [forged] = &found("forged-reset", &drill::connection(&text(" ttl 49")))[..] else {
        panic!("none")
    };
    insta::assert_snapshot!(forged.statement);
    assert_eq!((forged.severity, &forged.frames[..]), (Severity::Note, &[5, 7][..]));
    // With the server's TTL it may be the server's.
    assert_eq!(found("forged-reset", &drill::connection(&text(""))), []);
}

const MULTIPATH: &str = "0 > S option 1e040001
    0.040 < S option 1e0c00010102030405060708
    0.0401 > ack 1\n0.041 > 1:101\n0.081 < 1:1001 acking 101\n0.0811 > ack 1001 at 101";

/// Of Multipath TCP an RST ends its subflow alone (RFC 8684 section 3.5).
#[test]
fn reset_of_a_subflow_blames_no_program() {
    let alone = format!("{MULTIPATH}\n5 > R 101 ack 1001");
    let Finding { severity, statement, remedy, .. } = reset(&alone).unwrap();
    assert_eq!(severity, Severity::Note);
    assert_eq!(statement, "The client reset this subflow of Multipath TCP at 5.000 s.");
    assert!(remedy.unwrap().starts_with("An RST ends this subflow alone"));
    let removed = alone.replace("\n5 >", "\n4.9 < ack 101 at 1001 option 1e044005\n5 >");
    let statement = reset(&removed).unwrap().statement;
    let after = ", 100 ms after the server gave up an address (REMOVE_ADDR, frame 7).";
    assert!(statement.ends_with(after), "{statement}");
    // Without the option the same RST ends the connection.
    let plain = alone.replace(" option 1e040001", "");
    assert_eq!(reset(&plain).unwrap().severity, Severity::Failure);
}

/// An end gives up the whole connection by MP_FASTCLOSE, and the other's RST answers it.
#[test]
fn reset_that_answers_a_fast_close_is_the_others_doing() {
    let text = format!(
        "{MULTIPATH}\n5 > ack 1001 at 101 option 1e0c70000102030405060708
        5.04 < R 1001 ack 101"
    );
    let Finding { severity, statement, remedy, .. } = reset(&text).unwrap();
    assert_eq!(severity, Severity::Failure);
    let expected = "The client gave up the whole connection of Multipath TCP at 5.000 s \
                    (MP_FASTCLOSE, frame 7).";
    assert_eq!(statement, expected);
    let remedy = remedy.unwrap();
    assert!(remedy.starts_with("Check the client's program"), "{remedy}");
    assert!(remedy.ends_with("The server's RST answers it, as RFC 8684 section 3.5 has it."));
}
