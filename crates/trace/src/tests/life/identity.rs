//! Which packets between the same ends are one connection.

use tcplab_units::Bytes;

use super::super::drill::{analyze, drill};
use super::connections;
use crate::{Connection, HandshakeKind, Trace};

const WHOLE: &str = "open 0.01 0.02\n0.1 > 1:2 fin
    0.11 < 1:2 fin acking 2\n0.12 > ack 2 at 2";

/// How many connections, and which each one follows.
fn chain(connections: &[Connection]) -> Vec<Option<usize>> {
    connections.iter().map(|connection| connection.reuses).collect()
}

/// Two drills after one another, the second's client with another initial number.
fn two(first: &str, second: &str) -> Trace {
    let mut packets = drill(first, 1_000);
    packets.extend(drill(second, 0x7000_0000));
    packets.sort_by_key(|packet| packet.time_ns);
    analyze(&packets)
}

#[test]
fn new_isn_starts_connection_same_isn_does_not() {
    for (name, text, expected) in [
        ("the SYN again", "0 > S\n1 > S\n3 > S", vec![None]),
        ("another SYN, unanswered", "0 > S\n1 > S isn 9", vec![None, Some(0)]),
        ("the SYN-ACK again", "0 > S\n0.01 < S\n1.01 < S\n1.02 > ack 1", vec![None]),
        ("the SYN after its ACK", "0.01 > ack 1\n0.02 > S\n0.03 < S", vec![None]),
        ("another SYN in the middle of it", "0.01 > 1:1449\n0.02 > S isn 9", vec![None, Some(0)]),
        (
            "the other end opens now",
            "0 > S\n0.01 < R 0 ack 1\n0.5 < S plain\n0.51 > R 0 ack 1",
            vec![None, Some(0)],
        ),
    ] {
        assert_eq!(chain(&connections(text)), expected, "{name}");
    }
}

#[test]
fn after_the_close() {
    let late_copy = connections(&format!("{WHOLE}\n0.5 > S"));
    assert_eq!(chain(&late_copy), [None]);
    assert_eq!(late_copy[0].life.after_close, 1);
    // Long after, a stack that always begins with the same number begins again.
    let again = connections(&format!("{WHOLE}\n400 > S\n400.01 < S\n400.02 > ack 1"));
    assert_eq!(chain(&again), [None, Some(0)]);
    assert_eq!(again[1].handshake.kind, HandshakeKind::ThreeWay);

    let reused = two(WHOLE, "0.5 > S\n0.51 < S\n0.52 > ack 1\n0.6 > 1:1449");
    assert_eq!(chain(&reused.connections), [None, Some(0)]);
    assert_eq!(reused.connections[0].life.after_close, 0);
    assert!(!reused.connections[1].reuses_open);
    assert_eq!(reused.connections[1].forward.totals.data, Bytes::new(1_448));
    // Only the answers are captured: the SYN-ACK acknowledges another SYN.
    let answers = two("0.01 < S\n0.02 < 1:2 fin", "0.51 < S isn 5\n0.52 < 1:1449");
    assert_eq!(chain(&answers.connections), [None, Some(0)]);
}

/// An old SYN in an open connection gets a challenge ACK; it continues (RFC 5961 section 4).
#[test]
fn while_it_is_open() {
    let open = "open 0.01 0.02\n0.1 > 1:1449\n0.11 < ack 1449";
    let challenged = format!("{open}\n0.21 < ack 1449\n0.3 > 1449:2897\n0.31 < ack 2897");
    let trace = two(&challenged, "0.2 > S");
    assert_eq!(chain(&trace.connections), [None, Some(0)]);
    let [old, stale] = trace.connections.as_slice() else { unreachable!() };
    assert_eq!(stale.handshake.kind, HandshakeKind::Unanswered);
    assert_eq!((stale.packets, old.packets), (1, 8));
    // One of the ACKs says nothing new: it answers the SYN.
    assert_eq!(
        (stale.reuses_open, stale.handshake.old_answers.frames.as_slice()),
        (true, &[7][..])
    );
    assert_eq!(old.forward.totals.data, Bytes::new(2_896));
    assert_eq!(old.life.close, None);

    // The client has restarted: it ends the old connection and asks again (RFC 9293 figure 10).
    let ended = format!("{open}\n0.21 < ack 1449\n0.22 > R 1449");
    let trace = two(&ended, "0.2 > S\n1.2 > S\n1.21 < S isn 99\n1.22 > 1:1449");
    let [old, new] = trace.connections.as_slice() else { unreachable!() };
    assert_eq!(old.life.close.and_then(|close| close.reopened), Some(6));
    assert_eq!((new.reuses_open, new.handshake.old_answers.count), (true, 1));
    assert_eq!(new.handshake.kind, HandshakeKind::ThreeWay);
    assert_eq!((new.handshake.client_repeats, new.packets), (1, 4));
}

/// Two answers with different numbers to one SYN: the client's ACK says which one it took.
#[test]
fn two_syn_acks_client_chooses() {
    let first = connections(
        "0 > S\n0.01 < S\n0.011 < S isn 3000000000\n0.02 > ack 1\n0.1 < 1:1449\n0.11 > ack 1449",
    );
    assert_eq!(chain(&first), [None]);
    assert_eq!(first[0].reverse.totals.data, Bytes::new(1_448));

    // 77_000 is the number that the drill's ACKs acknowledge.
    let second = connections(
        "0 > S\n0.01 < S isn 3000000000\n0.011 < S\n0.02 > ack 1\n0.1 < 1:1449\n0.11 > ack 1449",
    );
    assert_eq!(chain(&second), [None]);
    assert_eq!(second[0].handshake.kind, HandshakeKind::ThreeWay);
    assert_eq!(second[0].reverse.totals.unique, Bytes::new(1_448));
    assert_eq!(second[0].reverse.totals.max_in_flight, Bytes::new(1_448));
}

/// What answers a SYN and is not its answer leaves no mark on the numbers.
#[test]
fn challenge_ack_before_capture_ignored() {
    let found = connections(
        "0 > S
         0.01 < ack 900000000 at 800000000
         0.02 > R 900000000
         1 > S
         1.01 < S
         1.02 > ack 1
         1.1 > 1:1449
         1.11 < ack 1449",
    );
    assert_eq!(chain(&found), [None]);
    assert_eq!(found[0].handshake.kind, HandshakeKind::ThreeWay);
    assert_eq!(found[0].forward.totals.unique, Bytes::new(1_448));
    assert_eq!(found[0].forward.segments.last().unwrap().range.start.as_u64(), 1);
}
