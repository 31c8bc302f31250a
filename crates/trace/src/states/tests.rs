//! Packets in time, and the edges that they lead along.

use proptest::prelude::*;

use super::*;
use crate::Connection;
use crate::tests::drill::connection;

const OPEN: &str = "open 0.01 0.02\n";

/// A line for each edge: states, event, the packet's frame and flags, how it is known.
fn edges(walk: &StateWalk) -> Vec<String> {
    let line = |edge: &Edge| {
        let packet = match edge.packet {
            Some(packet) => format!("#{} {}", packet.frame, packet.flags),
            None => "-".into(),
        };
        let (from, to) = (edge.from.name(), edge.to.name());
        format!("{from} {to} {:?} {packet} {:?}", edge.event, edge.basis)
    };
    walk.edges.iter().map(line).collect()
}

fn beside_both(text: &str) -> StateWalks {
    let connection = connection(text);
    StateWalks::joined(&connection, &connection)
}

/// RFC 9293 figures 6 and 12, edge by edge.
#[test]
fn states_full_connection() {
    let walks = beside_both(&format!(
        "{OPEN}0.2 > 1:2 fin\n0.21 < ack 2\n0.3 < 1:2 fin acking 2\n0.31 > ack 2 at 2"
    ));
    assert_eq!(
        edges(&walks.client),
        [
            "CLOSED SYN-SENT ActiveOpen #1 [S] Call",
            "SYN-SENT ESTABLISHED SynAck #2 [S.] Seen",
            "ESTABLISHED FIN-WAIT-1 Close #4 [F.] Call",
            "FIN-WAIT-1 FIN-WAIT-2 AckOfFin #5 [.] Seen",
            "FIN-WAIT-2 TIME-WAIT Fin #6 [F.] Seen",
        ]
    );
    assert_eq!(
        edges(&walks.server),
        [
            "CLOSED LISTEN PassiveOpen - Missing",
            "LISTEN SYN-RECEIVED Syn #1 [S] Seen",
            "SYN-RECEIVED ESTABLISHED AckOfSyn #3 [.] Seen",
            "ESTABLISHED CLOSE-WAIT Fin #4 [F.] Seen",
            "CLOSE-WAIT LAST-ACK Close #6 [F.] Call",
            "LAST-ACK CLOSED AckOfFin #7 [.] Seen",
        ]
    );
    let waits = walks.time_wait.iter().map(|wait| (wait.end, wait.why)).collect::<Vec<_>>();
    assert_eq!(waits, [(Endpoint::Client, WhyTimeWait::ClosedFirst)]);
    assert_eq!(walks.server.stayed(3), Some(Span::from_millis(100)));
    let story = walks.story().join("\n");
    for part in ["passive open by the server", "Closed by the client (active close)", "0.100000 s"]
    {
        assert!(story.contains(part), "{part}: {story}");
    }
}

/// RFC 9293 figures 7 and 13. A SYN or FIN counts as received only after the own one was sent.
#[test]
fn states_simultaneous_open_and_close() {
    let walks = beside_both(
        "0 > S\n0.005 < S plain\n0.01 < S ack 1\n0.015 > S ack 1
         0.1 > 1:2 fin\n0.105 < 1:2 fin\n0.11 > ack 2 at 2\n0.115 < ack 2 at 2",
    );
    assert_eq!(
        edges(&walks.client),
        [
            "CLOSED SYN-SENT ActiveOpen #1 [S] Call",
            "SYN-SENT SYN-RECEIVED Syn #2 [S] Seen",
            "SYN-RECEIVED ESTABLISHED AckOfSyn #3 [S.] Seen",
            "ESTABLISHED FIN-WAIT-1 Close #5 [F.] Call",
            "FIN-WAIT-1 CLOSING Fin #6 [F.] Seen",
            "CLOSING TIME-WAIT AckOfFin #8 [.] Seen",
        ]
    );
    assert_eq!(
        edges(&walks.server),
        [
            "CLOSED SYN-SENT ActiveOpen #2 [S] Call",
            "SYN-SENT SYN-RECEIVED Syn #1 [S] Seen",
            "SYN-RECEIVED ESTABLISHED AckOfSyn #4 [S.] Seen",
            "ESTABLISHED FIN-WAIT-1 Close #6 [F.] Call",
            "FIN-WAIT-1 CLOSING Fin #5 [F.] Seen",
            "CLOSING TIME-WAIT AckOfFin #7 [.] Seen",
        ]
    );
    let closing = walks.server.entered(TcpState::Closing).unwrap();
    let (passed, entered) = (closing.packet.unwrap().at, closing.at.unwrap());
    assert_eq!(entered.since(passed), Span::from_millis(5));
    assert_eq!(walks.time_wait.len(), 2);
    assert!(walks.time_wait.iter().all(|wait| wait.why == WhyTimeWait::ClosedAtOnce));
    let story = walks.story().join("\n");
    assert!(story.contains("Simultaneous open") && story.contains("Simultaneous close"), "{story}");
}

#[test]
fn states_rst_closes_both() {
    let walks = beside_both(&format!("{OPEN}0.1 > 1:1449\n0.11 < R 1 ack 1449"));
    let last = |walk: &StateWalk| edges(walk).pop().unwrap();
    assert_eq!(last(&walks.client), "ESTABLISHED CLOSED ResetReceived #5 [R.] Seen");
    assert_eq!(last(&walks.server), "ESTABLISHED CLOSED ResetSent #5 [R.] Seen");
    assert_eq!(walks.time_wait, []);
    assert!(walks.story().contains(&"No TIME-WAIT after RST.".to_owned()));
    let refused = beside_both("0 > S\n0.01 < R 0 ack 1");
    assert_eq!(last(&refused.client), "SYN-SENT CLOSED ResetReceived #2 [R.] Seen");
    assert_eq!((refused.server.start, refused.server.last()), (None, None));
}

/// RFC 9293 section 3.10.7.1: what is CLOSED answers a SYN-ACK by an RST without ACK, and figure 5,
/// note 1: that leads a passive end back to LISTEN.
#[test]
fn states_rst_instead_of_the_last_ack() {
    let gave_up = beside_both("0 > S\n0.01 < S\n0.02 > R 1");
    assert_eq!(
        edges(&gave_up.client),
        ["CLOSED SYN-SENT ActiveOpen #1 [S] Call", "SYN-SENT CLOSED ResetSent #3 [R] Call"]
    );
    assert_eq!(
        edges(&gave_up.server)[2..],
        ["SYN-RECEIVED LISTEN ResetReceived #3 [R] Seen".to_owned()]
    );
    let story = gave_up.story();
    assert!(story[0].contains("the client was CLOSED when the SYN-ACK arrived"), "{story:?}");
    let again = beside_both("0 > S\n0.01 < S\n0.02 > R 1\n1 < S\n1.01 > R 1");
    let last = edges(&again.server).pop().unwrap();
    assert_eq!(last, "SYN-RECEIVED LISTEN ResetReceived #5 [R] Seen", "#3 had not arrived");
    // An RST with ACK is that of an end that had opened; so is any after an ACK.
    for (aborted, server) in [
        ("0.02 > R 1 ack 1", "SYN-RECEIVED LISTEN ResetReceived #3 [R.] Seen"),
        ("0.02 > ack 1\n0.03 > R 1", "ESTABLISHED CLOSED ResetReceived #4 [R] Seen"),
    ] {
        let walks = beside_both(&format!("0 > S\n0.01 < S\n{aborted}"));
        assert!(walks.client.entered(TcpState::Established).is_some(), "{aborted}");
        assert_eq!(edges(&walks.server).last().unwrap(), server);
    }
    // In a simultaneous open there was no listener.
    let crossed = beside_both("0 > S\n0.005 < S plain\n0.01 > S ack 1\n0.02 < R 1 ack 1");
    assert_eq!(edges(&crossed.client).pop().unwrap().split(' ').nth(1), Some("CLOSED"));
}

/// RFC 9293 section 3.10.7.1: what is CLOSED answers a FIN by an RST without ACK, as Linux after
/// `TCP_LINGER2`; TIME-WAIT acknowledges it (section 3.10.7.4).
#[test]
fn states_rst_instead_of_the_ack_of_a_fin() {
    let begun = format!("{OPEN}0.2 > 1:2 fin\n0.21 < ack 2\n");
    let closed = beside_both(&format!("{begun}2 < 1:2 fin acking 2\n2.01 > R 2"));
    assert_eq!(
        edges(&closed.client)[2..],
        [
            "ESTABLISHED FIN-WAIT-1 Close #4 [F.] Call",
            "FIN-WAIT-1 FIN-WAIT-2 AckOfFin #5 [.] Seen",
            "FIN-WAIT-2 CLOSED ResetSent #7 [R] Call",
        ]
    );
    let last = |walks: &StateWalks| edges(&walks.server).pop().unwrap();
    assert_eq!(last(&closed), "LAST-ACK CLOSED ResetReceived #7 [R] Seen");
    assert_eq!(closed.time_wait, []);
    let story = closed.story().join("\n");
    let why = "The client answered the server's FIN with an RST without ACK";
    assert!(story.contains(why) && !story.contains("2 MSL"), "{story}");

    // The FIN acknowledges the client's, too: neither led anywhere.
    let at_once = beside_both(&format!("{OPEN}0.2 > 1:2 fin\n2 < 1:2 fin acking 2\n2.01 > R 2"));
    let gone = edges(&at_once.client).pop().unwrap();
    assert_eq!(gone, "FIN-WAIT-1 CLOSED ResetSent #6 [R] Call");

    // The RST answers data that came before any FIN.
    let refused = beside_both(&format!("{begun}2 < 1:101\n2.01 > R 2"));
    let by_data = edges(&refused.client).pop().unwrap();
    assert_eq!(by_data, "FIN-WAIT-2 CLOSED ResetSent #7 [R] Seen");
    assert!(refused.story().contains(&"No TIME-WAIT after RST.".to_owned()));

    // Once it has acknowledged the FIN it was in TIME-WAIT.
    let waited = format!("{begun}2 < 1:2 fin acking 2\n2.01 > ack 2 at 2\n");
    for (rst, sentence) in [
        (
            "63 < 1:2 fin acking 2\n63.01 > R 2",
            "The client had left TIME-WAIT when it sent RST, 61",
        ),
        ("2.5 < R 2", "An RST ended TIME-WAIT at the client after 0.5"),
    ] {
        let walks = beside_both(&format!("{waited}{rst}"));
        let last = edges(&walks.client).pop().unwrap();
        assert!(last.starts_with("TIME-WAIT CLOSED Reset"), "{last}");
        let story = walks.story().join("\n");
        assert!(story.contains(sentence) && !story.contains("2 MSL"), "{story}");
    }
}

/// RFC 9293 section 3.10.8: no packet shows it.
#[test]
fn states_user_timeout_is_inferred() {
    let at = |millis| Instant::ZERO + Span::from_millis(millis);
    let mut walks = beside_both(&format!("{OPEN}0.1 > 1:101\n0.3 > 1:101\n0.7 > 1:101"));
    walks.user_timeout(Endpoint::Client, at(5_600));
    assert_eq!(edges(&walks.client)[2..], ["ESTABLISHED CLOSED UserTimeout - Missing"]);
    assert_eq!(walks.client.state_at(at(5_599)), Some(TcpState::Established));
    assert_eq!(walks.client.state_at(at(5_600)), Some(TcpState::Closed));
    assert_eq!(walks.server.last(), Some(TcpState::Established));
    let story = walks.story().join("\n");
    assert!(story.contains("The client gave up by user timeout, at 5.600000 s"), "{story}");
    assert!(!story.contains("was not captured"), "{story}");
    let mut closing = beside_both(&format!("{OPEN}0.1 > 1:2 fin\n0.11 < ack 2\n0.2 < 1:101"));
    closing.user_timeout(Endpoint::Server, at(9_000));
    let story = closing.story().join("\n");
    assert!(story.contains("Half closed") && story.contains("The server gave up"), "{story}");
    let known = walks.clone();
    walks.user_timeout(Endpoint::Client, at(9_000));
    assert_eq!(walks, known, "it is CLOSED already");
}

/// Beside which end a capture was taken shows in the halves of its handshake.
#[test]
fn states_one_capture_marks_inferred() {
    let life = "open 0.05\n0.1 > 1:1449\n0.15 < ack 1449\n0.2 < 1:2 fin";
    let walks = StateWalks::of(&connection(life));
    assert_eq!(walks.client.seen_from, SeenFrom::Beside);
    assert_eq!(walks.server.seen_from, SeenFrom::Elsewhere);
    assert_eq!(edges(&walks.server)[2], "SYN-RECEIVED ESTABLISHED AckOfSyn #3 [.] Passed");
    assert_eq!(edges(&walks.server)[3], "ESTABLISHED FIN-WAIT-1 Close #6 [F.] Call");
    let story = walks.story().join("\n");
    assert!(story.contains("Not captured at the server"), "{story}");
    let other_side = "open 0.0001 0.05\n0.1 > 1:1449\n0.1001 < ack 1449";
    let walks = StateWalks::of(&connection(other_side));
    assert_eq!(walks.client.seen_from, SeenFrom::Elsewhere);
    assert_eq!(walks.server.seen_from, SeenFrom::Beside);
}

#[test]
fn states_missing_packets_named() {
    // The SYN-ACK is not in the capture, the client's ACK is.
    let walks = beside_both("0 > S\n0.02 > ack 1\n0.03 > 1:1449\n0.04 < ack 1449");
    assert_eq!(edges(&walks.client)[1], "SYN-SENT ESTABLISHED SynAck #2 [.] Missing");
    let story = walks.story().join("\n");
    assert!(story.contains("led the client to ESTABLISHED (received SYN,ACK)"), "{story}");
    let begun = beside_both("0.1 > 1:1449\n0.11 < ack 1449\n0.2 > 1449:1450 fin");
    assert_eq!(begun.client.start, Some(TcpState::Established));
    assert_eq!(edges(&begun.client), ["ESTABLISHED FIN-WAIT-1 Close #3 [F.] Call"]);
    assert_eq!(edges(&begun.server), ["ESTABLISHED CLOSE-WAIT Fin #3 [F.] Seen"]);
}

/// Two captures of a simultaneous open: in each, its own end sends the first SYN.
#[test]
fn states_joined_roles_from_client_capture() {
    let here = "0 > S\n0.02 < S plain\n0.0201 > S ack 1\n0.04 < S ack 1";
    let mut there = connection("0.01 < S plain\n0.03 > S\n0.0301 < S ack 1\n0.04 > S ack 1");
    let here = connection(here);
    assert_ne!(
        there.client, here.client,
        "the capture beside the server begins with the server's SYN"
    );
    let walks = StateWalks::joined(&here, &there);
    assert_eq!(walks.server.address, here.server);
    assert_eq!(edges(&walks.server)[0], "CLOSED SYN-SENT ActiveOpen #1 [S] Call");
    let packets: Vec<Endpoint> =
        walks.server.edges.iter().filter_map(|e| Some(e.packet?.by)).collect();
    assert_eq!(packets, [Endpoint::Server, Endpoint::Client, Endpoint::Client]);
    there.life.client.clear();
    assert_eq!(StateWalks::joined(&here, &there).server.edges, []);
}

#[test]
fn states_at_a_time() {
    let walks = beside_both(&format!("{OPEN}0.2 > 1:2 fin\n0.21 < ack 2"));
    for (millis, client) in [
        (0, TcpState::SynSent),
        (9, TcpState::SynSent),
        (10, TcpState::Established),
        (205, TcpState::FinWait1),
        (9_000, TcpState::FinWait2),
    ] {
        let at = Instant::ZERO + Span::from_millis(millis);
        assert_eq!(walks.client.state_at(at), Some(client), "{millis} ms");
    }
}

/// What may be sent, in this order or another.
const SAID: [&str; 12] = [
    "> S",
    "< S plain",
    "< S",
    "> S ack 1",
    "> ack 1",
    "> 1:2 fin",
    "< ack 2",
    "< 1:2 fin acking 2",
    "< 1:2 fin",
    "> ack 2 at 2",
    "> R 2",
    "< R 1",
];

/// What the figure leaves out and RFC 9293 does not: data or FIN before the handshake's end is
/// taken in as if that had come (section 3.10.7.4), and a capture may miss packets.
const BESIDE_FIGURE: [(TcpState, TcpState); 2] =
    [(TcpState::SynReceived, TcpState::CloseWait), (TcpState::SynSent, TcpState::FinWait1)];

fn is_in_figure(edge: &Edge) -> bool {
    let along = |to: TcpState| move |known: &Transition| known.from == edge.from && known.to == to;
    let by_reset = matches!(edge.event, Event::ResetSent | Event::ResetReceived);
    DIAGRAM.iter().any(along(edge.to))
        || by_reset && edge.to == TcpState::Closed
        || BESIDE_FIGURE.contains(&(edge.from, edge.to))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Every edge leads on from the one before, and is in the figure.
    #[test]
    fn states_all_edges_in_figure_5(said in prop::collection::vec(0..SAID.len(), 1..14)) {
        let line = |(index, &said): (usize, &usize)| format!("{index} {}", SAID[said]);
        let text = said.iter().enumerate().map(line).collect::<Vec<_>>().join("\n");
        let packets = crate::tests::drill::drill(&text, 1_000);
        let found: Vec<Connection> = crate::tests::drill::analyze(&packets).connections;
        for connection in &found {
            for walk in StateWalks::of(connection).both() {
                let mut state = walk.start;
                for (index, edge) in walk.edges.iter().enumerate() {
                    prop_assert_eq!(state, Some(edge.from), "{}", text);
                    prop_assert_eq!(edge.step, index + 1);
                    prop_assert!(is_in_figure(edge), "{:?} in {}", edge, text);
                    state = Some(edge.to);
                }
                prop_assert_eq!(state, walk.last());
            }
        }
    }
}
