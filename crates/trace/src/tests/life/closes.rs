//! How the connection was closed, and the packets after it.

use tcplab_units::{Bytes, Endpoint};

use super::{connections, opened};
use crate::{Close, CloseKind, Refused};

fn close(text: &str) -> Option<Close> {
    opened(text).life.close
}

const GRACEFUL: &str = "0.1 > 1:2 fin
    0.11 < ack 2
    0.12 < 1:2 fin acking 2
    0.13 > ack 2 at 2";

#[test]
fn every_kind() {
    use CloseKind::*;
    use Endpoint::{Client, Server};
    for (name, text, kind, by, frame, reset_by) in [
        ("one end, then the other", GRACEFUL, Graceful, Client, 4, None),
        (
            "second FIN acknowledges the first",
            "0.1 < 1:2 fin\n0.11 > 1:2 fin acking 2\n0.12 < ack 2 at 2",
            Graceful,
            Server,
            4,
            None,
        ),
        ("last ACK missing", "0.1 < 1:2 fin\n0.11 > 1:2 fin acking 2", Graceful, Server, 4, None),
        (
            "both at once (RFC 9293 figure 13)",
            "0.1 > 1:2 fin\n0.105 < 1:2 fin\n0.11 < ack 2 at 2\n0.115 > ack 2 at 2",
            Simultaneous,
            Client,
            4,
            None,
        ),
        (
            "one end",
            "0.1 > 1:2 fin\n0.11 < ack 2\n0.2 < 1:1449 acking 2\n0.21 > ack 1449 at 2",
            HalfClosed,
            Client,
            4,
            None,
        ),
        ("RST", "0.1 > 1:1449\n0.11 < R 1", Reset, Server, 5, Some(Server)),
        (
            "RST after FIN: data for a closed reader",
            "0.1 < 1:2 fin\n0.11 > 1:1449 acking 2\n0.12 < R 2",
            ResetAfterFin,
            Server,
            4,
            Some(Server),
        ),
        (
            "RST instead of the last ACK",
            "0.1 < 1:2 fin\n0.11 > 1:2 fin acking 2\n0.12 < R 2",
            ResetAfterFin,
            Server,
            4,
            Some(Server),
        ),
        (
            "RST in TIME-WAIT",
            "0.1 > 1:2 fin\n0.12 < 1:2 fin acking 2\n0.13 > ack 2 at 2\n0.14 < R 2",
            Graceful,
            Client,
            4,
            None,
        ),
    ] {
        let close = close(text).unwrap();
        let found = (close.kind, close.by, close.frame, close.reset_by);
        assert_eq!(found, (kind, by, frame, reset_by), "{name}");
    }
    assert_eq!(close("0.1 > 1:1449\n0.11 < ack 1449"), None);
}

#[test]
fn packets_after_close_counted() {
    for (name, text, after) in [
        ("nothing", "", 0),
        ("the FIN again, and its answer", "0.4 < 1:2 fin acking 2\n0.41 > ack 2 at 2", 2),
        ("a late duplicate", "0.4 > ack 1 at 1", 1),
    ] {
        assert_eq!(opened(&format!("{GRACEFUL}\n{text}")).life.after_close, after, "{name}");
    }
    let answered = "0.1 > 1:4345 every 0.001
        0.105 < R 1 ack 1449
        0.11 > 4345:5793
        0.111 < R 1";
    assert_eq!(opened(answered).life.after_close, 2);
}

#[test]
fn forged_rst_does_not_close() {
    let forged = opened(
        "0.1 < 1:1449
         0.11 < R 1449
         0.12 > ack 1449
         0.13 < 1449:2897
         0.14 > ack 2897",
    );
    assert_eq!(forged.life.close, None);
    assert_eq!(forged.life.after_close, 0);
    assert_eq!(forged.life.client.last().unwrap().state, crate::TcpState::Established);
    // Data sent before the RST and captured after it prove nothing.
    let reordered = opened("0.1 < 1:1449\n0.11 < R 2897\n0.12 < 1449:2897");
    assert_eq!(reordered.life.close.unwrap().kind, CloseKind::Reset);
}

/// A device resets the client in the server's name; the server knows nothing of it, and what it
/// sends then the client refuses.
#[test]
fn obeyed_rst_whose_sender_goes_on_closes_in_its_name() {
    let obeyed = "0.1 > 1:101\n0.105 < R 1 ack 101 ttl 120\n0.12 < ack 101\n0.121 < 1:1449";
    for (name, after, expected) in [
        ("refused", "0.1211 > R 101", Some((Some(120), 7, Some(8)))),
        (
            "retransmitted and refused",
            "0.1211 > R 101\n0.4 < 1:1449\n0.401 > R 101",
            Some((Some(120), 7, Some(8))),
        ),
        // The client's own doing.
        ("acknowledged", "0.1211 > ack 1449 at 101\n0.13 > R 101", Some((Some(120), 7, None))),
        ("aborted", "0.1211 > R 101 ack 1449", Some((Some(120), 7, None))),
        ("no answer", "", Some((Some(120), 7, None))),
    ] {
        let life = opened(&format!("{obeyed}\n{after}")).life;
        let forged = life.forged_reset;
        let found = forged.map(|it| (it.ttls.map(|ttls| ttls.0), it.went_on, it.refused));
        assert_eq!(found, expected, "{name}");
        let is_obeyed = forged.is_some_and(|forged| forged.refused.is_some());
        let close = life.close.map(|close| (close.reset_by, close.reset_frame));
        assert_eq!(
            close == Some((Some(Endpoint::Server), Some(5))),
            is_obeyed,
            "{name}: {close:?}"
        );
        let closed = life.client.last().filter(|step| step.state == crate::TcpState::Closed);
        assert_eq!(closed.is_some_and(|step| step.frame == 5), is_obeyed, "{name}");
    }
    // With the sender's TTL nothing but the refusal shows it.
    let alike = obeyed.replace(" ttl 120", "");
    assert_eq!(opened(&alike).life.forged_reset, None);
    let refused = opened(&format!("{alike}\n0.1211 > R 101")).life.forged_reset.unwrap();
    assert_eq!((refused.frame, refused.refused), (5, Some(8)));
}

/// An RST that is not at RCV.NXT gets a challenge ACK (RFC 5961 section 3.2), and data go on.
#[test]
fn rst_whose_sender_goes_on_does_not_close() {
    let reset = "0.1 > 1:101\n0.12 < ack 101\n0.13 > R 5000\n0.15 < ack 101";
    let graceful = Some(CloseKind::Graceful);
    for (name, text, kind) in [
        ("nothing after it", "", Some(CloseKind::Reset)),
        ("its sender's data, unanswered", "0.2 > 101:201", Some(CloseKind::Reset)),
        ("its sender's data, acknowledged", "0.2 > 101:201\n0.22 < ack 201", None),
        ("the other end's data, acknowledged", "0.2 < 1:501 acking 101\n0.201 > ack 501", None),
        (
            "an answer by another RST",
            "0.2 < 1:501 acking 101\n0.201 > R 101 ack 501",
            Some(CloseKind::Reset),
        ),
        (
            "the other end's data, refused",
            "0.2 < 1:501 acking 101\n0.201 > R 101",
            Some(CloseKind::Reset),
        ),
        (
            "old data again, acknowledged before",
            "0.2 > 1:101\n0.22 < ack 101",
            Some(CloseKind::Reset),
        ),
        (
            "FINs of both",
            "0.2 > 101:201\n0.22 < 1:501 acking 201\n0.221 > 201:202 acking 501 fin
             0.24 < 501:502 acking 202 fin\n0.241 > ack 502 at 202",
            graceful,
        ),
    ] {
        let life = opened(&format!("{reset}\n{text}")).life;
        assert_eq!(life.close.map(|close| close.kind), kind, "{name}");
        let is_closed = |steps: &[crate::StateStep]| {
            steps.last().is_some_and(|step| step.state == crate::TcpState::Closed)
        };
        assert_eq!(is_closed(&life.client), kind == Some(CloseKind::Reset), "{name}");
        assert_eq!(is_closed(&life.server), kind.is_some(), "{name}");
    }
}

/// The window of the server shrinks by what it does not read. The scale is 7.
#[test]
fn unread_data() {
    let filled = "0.1 > 1:1449\n0.11 < ack 1449 win 100
        0.12 > 1449:5793\n0.13 < ack 5793 win 67
        0.14 > 5793:11585\n0.15 < ack 11585 win 22";
    for (name, text, unread) in [
        // 100 - 22 shifted is 9984 bytes; the last window's 2816 may have been read in silence.
        ("two windows' worth", "0.2 < R 1 ack 11585", Some(9_984 - 2_816)),
        ("an RST of no socket", "0.2 < R 1", None),
        ("all read at last", "0.16 < ack 11585 win 100\n0.2 < R 1 ack 11585", None),
        (
            // 38 << 7 was read, 40 << 7 was not; 60 << 7 may have been.
            "most of it read",
            "0.16 < ack 11585 win 60\n0.2 < R 1 ack 11585",
            None,
        ),
        (
            "data that only the RST acknowledges",
            "0.17 > 11585:14481\n0.171 > 14481:15929\n0.2 < R 1 ack 15929",
            Some(9_984 - 2_816 + 4_344),
        ),
    ] {
        let close = close(&format!("{filled}\n{text}")).unwrap();
        assert_eq!(close.unread, unread.map(Bytes::new), "{name}");
    }
    // A window shrunk without any arrival is not filled.
    let taken_back = "0.1 > 1:1449\n0.11 < ack 1449 win 100\n0.12 < ack 1449 win 5";
    assert_eq!(close(&format!("{taken_back}\n0.2 < R 1 ack 1449")).unwrap().unread, None);
    // Without the handshake the scale is not known.
    let midstream = connections(&format!("{filled}\n0.2 < R 1 ack 11585"));
    assert_eq!(midstream[0].life.close.unwrap().unread, None);
}

/// A time without packets and without data in flight, if the end that closes said no more since.
#[test]
fn silence_before_a_close() {
    let asked = "0.1 > 1:101\n0.11 < 1:101 acking 101\n0.111 > ack 101 at 101";
    let seconds = |text: &str| {
        let close = close(&format!("{asked}\n{text}")).unwrap();
        close.idle.map(|idle| (idle.as_micros() + 500) / 1_000_000)
    };
    for (name, text, idle) in [
        ("a FIN", "10.111 < 101:102 fin acking 101", Some(10)),
        ("an RST", "10.111 < R 101", Some(10)),
        ("a request, and RST", "10.111 > 101:201 acking 101\n10.12 < R 101", Some(10)),
        ("a farewell", "10.111 < 101:141 acking 101\n10.112 < 141:142 fin acking 101", Some(10)),
        ("more than that", "10.111 < 101:701 acking 101\n10.2 < 701:702 fin acking 101", None),
        ("an answer", "10.111 > 101:201 acking 101\n10.12 < ack 201 at 101\n10.13 < R 101", None),
        ("the latest", "10.111 > ack 101 at 101\n13.111 < R 101", Some(3)),
        ("too short", "0.6 < R 101", None),
        ("in flight", "0.2 > 101:201 acking 101\n10.2 < R 101", None),
    ] {
        assert_eq!(seconds(text), idle, "{name}");
    }
}

/// What an end refuses after its FIN: sent in ignorance of it, or not.
#[test]
fn refused_data() {
    let refused = |text: &str| close(text).and_then(|close| close.refused);
    for (name, text, what) in [
        ("crossed, at the server", "1 < 1:2 fin\n1.01 > 1:101\n1.02 < R 1", Some(Refused::Unaware)),
        ("crossed, at the client", "1 > 1:101\n1.01 < 1:2 fin\n1.02 < R 1", Some(Refused::Unaware)),
        (
            "it was acknowledged first",
            "1 < 1:2 fin\n1.01 > ack 2\n1.02 > 1:101 acking 2\n1.03 < R 2",
            Some(Refused::Aware),
        ),
        (
            "both closed",
            "1 < 1:2 fin\n1.01 > 1:101\n1.011 > 101:102 fin\n1.02 < R 1",
            Some(Refused::Closing),
        ),
        ("taken", "1 < 1:2 fin\n1.01 > 1:101 acking 2\n1.02 < ack 101 at 2\n1.1 < R 2", None),
        ("by the other end", "1 < 1:2 fin\n1.01 < 1:2 fin\n1.02 > R 1", None),
        ("no FIN", "1 > 1:101\n1.02 < R 1", None),
    ] {
        assert_eq!(refused(text), what, "{name}");
    }
}
