//! The states of both ends (RFC 9293 figure 5), with the frames that brought them there.

use proptest::prelude::*;

use super::{connections, walks};
use crate::{CloseKind, StateStep};

/// A name, the packets, the client's states, the server's.
type Case = (&'static str, &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    (
        "a whole life (RFC 9293 figures 6 and 12)",
        "open 0.01 0.02
         0.1 > 1:1449\n0.11 < ack 1449
         0.2 > 1449:1450 fin\n0.21 < ack 1450
         0.3 < 1:2 fin acking 1450\n0.31 > ack 2 at 1450",
        "SYN-SENT 1, ESTABLISHED 2, FIN-WAIT-1 6, FIN-WAIT-2 7, TIME-WAIT 8",
        "SYN-RECEIVED 1, ESTABLISHED 3, CLOSE-WAIT 6, LAST-ACK 8, CLOSED 9",
    ),
    (
        "FIN and its acknowledgement in one",
        "open 0.01 0.02
         0.1 < 1:2 fin\n0.11 > 1:2 fin acking 2\n0.12 < ack 2 at 2",
        "SYN-SENT 1, ESTABLISHED 2, CLOSE-WAIT 4, LAST-ACK 5, CLOSED 6",
        "SYN-RECEIVED 1, ESTABLISHED 3, FIN-WAIT-1 4, FIN-WAIT-2 5, TIME-WAIT 5",
    ),
    (
        "both open at once (figure 7)",
        "0 > S\n0.005 < S plain\n0.01 < S ack 1\n0.015 > S ack 1",
        "SYN-SENT 1, SYN-RECEIVED 2, ESTABLISHED 3",
        "SYN-SENT 2, SYN-RECEIVED 2, ESTABLISHED 4",
    ),
    (
        "both close at once (figure 13)",
        "0 > S\n0.01 < S\n0.02 > ack 1
         0.1 > 1:2 fin\n0.105 < 1:2 fin\n0.11 > ack 2 at 2\n0.115 < ack 2 at 2",
        "SYN-SENT 1, ESTABLISHED 2, FIN-WAIT-1 4, CLOSING 5, TIME-WAIT 7",
        "SYN-RECEIVED 1, ESTABLISHED 3, FIN-WAIT-1 5, CLOSING 5, TIME-WAIT 6",
    ),
    (
        "the handshake is split",
        "0 > S\n0.01 < S plain\n0.02 > S ack 1\n0.03 < ack 1 at 1",
        "SYN-SENT 1, SYN-RECEIVED 2, ESTABLISHED 4",
        "SYN-SENT 2, SYN-RECEIVED 2, ESTABLISHED 3",
    ),
    (
        "ACK and SYN apart: the SYN was acknowledged when the other came",
        "0 > S\n0.01 < ack 1 at 0\n0.02 < S plain\n0.03 > ack 1",
        "SYN-SENT 1, ESTABLISHED 3",
        "SYN-SENT 3, SYN-RECEIVED 3, ESTABLISHED 4",
    ),
    (
        "ACK and SYN apart, and the SYN is answered with SYN-ACK",
        "0 > S\n0.01 < ack 1 at 0\n0.02 < S plain\n0.03 > S ack 1\n0.04 < ack 1",
        "SYN-SENT 1, SYN-RECEIVED 3, ESTABLISHED 5",
        "SYN-SENT 3, SYN-RECEIVED 3, ESTABLISHED 4",
    ),
    (
        "the SYN that was answered is the last",
        "0 > S\n1 > S\n1.01 < S\n1.02 > ack 1",
        "SYN-SENT 1, ESTABLISHED 3",
        "SYN-RECEIVED 2, ESTABLISHED 4",
    ),
    ("no answer", "0 > S\n1 > S", "SYN-SENT 1", ""),
    ("refused", "0 > S\n0.01 < R 0 ack 1", "SYN-SENT 1, CLOSED 2", ""),
    (
        "refused, and accepted when asked again",
        "0 > S\n0.01 < R 0 ack 1\n0.5 > S\n0.51 < S\n0.52 > ack 1",
        "SYN-SENT 1, ESTABLISHED 4",
        "SYN-RECEIVED 3, ESTABLISHED 5",
    ),
    (
        "an RST without ACK does not end SYN-SENT (section 3.10.7.3)",
        "0 > S\n0.01 < R 0\n0.02 < S\n0.03 > ack 1",
        "SYN-SENT 1, ESTABLISHED 3",
        "SYN-RECEIVED 1, ESTABLISHED 4",
    ),
    (
        "aborted",
        "open 0.01 0.02\n0.1 > 1:1449\n0.11 < R 1",
        "SYN-SENT 1, ESTABLISHED 2, CLOSED 5",
        "SYN-RECEIVED 1, ESTABLISHED 3, CLOSED 5",
    ),
    ("half open", "0 > S\n0.01 < S\n1.01 < S", "SYN-SENT 1, ESTABLISHED 2", "SYN-RECEIVED 1"),
    (
        "given up by the client, so that the SYN-ACK is refused (section 3.10.7.1)",
        "0 > S\n0.01 < S\n0.02 > R 1",
        "SYN-SENT 1, CLOSED 3",
        "SYN-RECEIVED 1, LISTEN 3",
    ),
    (
        "half open and aborted by the client",
        "0 > S\n0.01 < S\n0.02 > R 1 ack 1",
        "SYN-SENT 1, ESTABLISHED 2, CLOSED 3",
        "SYN-RECEIVED 1, LISTEN 3",
    ),
    (
        "the first ACK was lost: the SYN-ACK comes again",
        "open 0.01 0.02\n1.01 < S\n1.02 > ack 1",
        "SYN-SENT 1, ESTABLISHED 2",
        "SYN-RECEIVED 1, ESTABLISHED 5",
    ),
    (
        "the FIN came again before anything acknowledged it",
        "open 0.01 0.02
         0.1 > 1:2 fin\n0.4 > 1:2 fin\n0.41 < ack 2\n0.5 < 1:2 fin acking 2\n0.51 > ack 2 at 2",
        "SYN-SENT 1, ESTABLISHED 2, FIN-WAIT-1 4, FIN-WAIT-2 6, TIME-WAIT 7",
        "SYN-RECEIVED 1, ESTABLISHED 3, CLOSE-WAIT 5, LAST-ACK 7, CLOSED 8",
    ),
    (
        "a FIN behind a gap counts when that is filled (section 3.10.7.4)",
        "open 0.01 0.02
         0.1 > 1449:1450 fin\n0.11 < ack 1\n0.3 > 1:1449\n0.31 < ack 1450",
        "SYN-SENT 1, ESTABLISHED 2, FIN-WAIT-1 4, FIN-WAIT-2 7",
        "SYN-RECEIVED 1, ESTABLISHED 3, CLOSE-WAIT 6",
    ),
    (
        "the last ACK was lost",
        "open 0.01 0.02
         0.1 > 1:2 fin\n0.11 < 1:2 fin acking 2\n0.12 > ack 2 at 2
         0.4 < 1:2 fin acking 2\n0.41 > ack 2 at 2",
        "SYN-SENT 1, ESTABLISHED 2, FIN-WAIT-1 4, FIN-WAIT-2 5, TIME-WAIT 5",
        "SYN-RECEIVED 1, ESTABLISHED 3, CLOSE-WAIT 4, LAST-ACK 5, CLOSED 8",
    ),
    (
        "TIME-WAIT ends early by RST",
        "open 0.01 0.02
         0.1 > 1:2 fin\n0.11 < 1:2 fin acking 2\n0.12 > ack 2 at 2\n0.13 < R 2",
        "SYN-SENT 1, ESTABLISHED 2, FIN-WAIT-1 4, FIN-WAIT-2 5, TIME-WAIT 5, CLOSED 7",
        "SYN-RECEIVED 1, ESTABLISHED 3, CLOSE-WAIT 4, LAST-ACK 5, CLOSED 6",
    ),
    (
        "from the middle",
        "0.1 > 1:1449\n0.11 < ack 1449\n0.2 < 1:2 fin acking 1449\n0.21 > ack 2 at 1449",
        "ESTABLISHED 1, CLOSE-WAIT 3",
        "ESTABLISHED 2, FIN-WAIT-1 3, FIN-WAIT-2 4",
    ),
    (
        "the client's packets only",
        "0 > S\n0.02 > ack 1\n0.1 > 1:2 fin\n0.3 > ack 2 at 2",
        "SYN-SENT 1, ESTABLISHED 2, FIN-WAIT-1 3",
        "",
    ),
    (
        "the server's packets only",
        "0.01 < S\n0.1 < 1:1449\n0.2 < 1449:1450 fin",
        "",
        "SYN-RECEIVED 1, ESTABLISHED 2, FIN-WAIT-1 3",
    ),
    (
        "closed before it was open (figure 5: SYN-RECEIVED to FIN-WAIT-1)",
        "0 > S\n0.01 < S\n0.02 < 1:2 fin\n0.03 > ack 2\n",
        "SYN-SENT 1, ESTABLISHED 2, CLOSE-WAIT 3",
        "SYN-RECEIVED 1, FIN-WAIT-1 3, FIN-WAIT-2 4",
    ),
];

#[test]
fn walk_matches_figure_5() {
    for (name, text, client, server) in CASES {
        let found = connections(text);
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(walks(&found[0]), ((*client).to_owned(), (*server).to_owned()), "{name}");
    }
}

/// What may follow what, by figure 5 and the text of section 3.10.7. A FIN or RST may come at any
/// time; a capture may begin at any time, so that no first state is wrong.
const EDGES: &[(&str, &[&str])] = &[
    // FIN-WAIT-1: the answer to the SYN was not captured.
    ("SYN-SENT", &["SYN-RECEIVED", "ESTABLISHED", "CLOSED", "FIN-WAIT-1"]),
    ("SYN-RECEIVED", &["ESTABLISHED", "FIN-WAIT-1", "CLOSED", "CLOSE-WAIT", "LISTEN"]),
    ("ESTABLISHED", &["FIN-WAIT-1", "CLOSE-WAIT", "CLOSED"]),
    ("FIN-WAIT-1", &["FIN-WAIT-2", "CLOSING", "CLOSED"]),
    ("FIN-WAIT-2", &["TIME-WAIT", "CLOSED"]),
    ("CLOSING", &["TIME-WAIT", "CLOSED"]),
    ("CLOSE-WAIT", &["LAST-ACK", "CLOSED"]),
    ("LAST-ACK", &["CLOSED"]),
    ("TIME-WAIT", &["CLOSED"]),
];

fn check_steps(steps: &[StateStep], text: &str) {
    for pair in steps.windows(2) {
        let (from, to) = (pair[0].state.name(), pair[1].state.name());
        let known = EDGES.iter().any(|(name, next)| *name == from && next.contains(&to));
        assert!(known, "{from} to {to} in {text}");
        assert!((pair[0].at, pair[0].frame) <= (pair[1].at, pair[1].frame), "{text}");
    }
}

/// What two ends can say to one another, sensible in this order.
const SAID: &[&str] = &[
    "> S",
    "< S plain",
    "< S",
    "> S ack 1",
    "> ack 1",
    "< ack 1 at 1",
    "> 1:100",
    "< ack 100 win 0",
    "< 1:50 acking 100",
    "> ack 50 at 100",
    "> 100:101 fin acking 50",
    "< 50:51 fin acking 100",
    "< ack 101 at 50",
    "< 50:51 fin acking 101",
    "> ack 51 at 101",
    "> R 101",
    "< R 51",
    "< R 0 ack 1",
    "> S isn 7",
    "< S isn 8",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// No sequence of packets leaves the figure, and the summary of the life is consistent.
    #[test]
    fn walk_any_packets_stays_in_figure_5(said in prop::collection::vec(0..SAID.len(), 1..16)) {
        let line = |(index, &said): (usize, &usize)| format!("{index} {}", SAID[said]);
        let text = said.iter().enumerate().map(line).collect::<Vec<_>>().join("\n");
        let found = connections(&text);
        prop_assert_eq!(found.iter().map(|c| c.packets).sum::<u64>(), said.len() as u64);
        for connection in found {
            let life = &connection.life;
            check_steps(&life.client, &text);
            check_steps(&life.server, &text);
            let letters = "sShHaAdDfFrRcCgGtTwWiIqQ^";
            prop_assert!(life.history.chars().all(|letter| letters.contains(letter)));
            if let Some(close) = life.close {
                let ends_by_rst = matches!(close.kind, CloseKind::Reset | CloseKind::ResetAfterFin);
                prop_assert_eq!(close.reset_by.is_some(), ends_by_rst);
                prop_assert!(close.at >= connection.first && close.at <= connection.last);
            } else {
                prop_assert_eq!(life.after_close, 0);
            }
        }
    }
}

/// Every subset of a life's packets, as a lossy capture might have it.
#[test]
fn walk_missing_packets_stays_in_figure_5() {
    let (_, life, _, _) = CASES[3];
    let lines: Vec<&str> = life.split('\n').collect();
    for kept in 1..1_u32 << lines.len() {
        let some = lines.iter().enumerate().filter(|(i, _)| (kept >> i) & 1 == 1);
        let text = some.map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
        for connection in connections(&text) {
            check_steps(&connection.life.client, &text);
            check_steps(&connection.life.server, &text);
        }
    }
}
