//! # Chatty application
//!
//! **What it says.** Client and server took turns, request and answer, so often that the round
//! trips between them took much of the connection's time.
//!
//! **Why it matters.** Each turn costs a round trip, however little is sent: no bandwidth and no
//! setting of TCP makes this faster, and a path that is ten times as long takes ten times as long.
//!
//! **Evidence.** Requests that left within half a round trip after the answer before, with nothing
//! outstanding in either direction, and the answers to them; their number times the path's RTT.
//! What the server takes to answer is another rule's (`slow-answers`), pauses of the client are no
//! part of it. Of Multipath TCP the rule is silent: other subflows may have carried data meanwhile.
//!
//! **False positives.** Transfers that an application's own flow control holds up (a small window
//! of HTTP/2) look the same; more in flight helps there, too.
//!
//! **Reference.** "Application turns" of analysers; J. Mogul, "The Case for Persistent-Connection
//! HTTP"; the "N + 1 queries" of databases.

use tcplab_trace::Connection;

use crate::words::{counted, part_of_connection, rounded};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_connection("chatty-application", in_turn);

/// Opening a session takes a few turns.
const LEAST: u64 = 20;
/// The least share of the connection's time, per cent.
const SHARE: u64 = 20;

fn in_turn(connection: &Connection) -> Option<Finding> {
    if connection.handshake.multipath {
        return None;
    }
    let (client, server) = (&connection.forward.marks, &connection.reverse.marks);
    // The first request follows no answer.
    let exchanges = server.turns.count.min(client.prompt_turns + 1);
    // Of a handshake that was slow to be answered the RTT is no path's.
    let measured = Direction::both(connection).into_iter().filter_map(|it| it.round_trip());
    let round_trip = measured.chain(connection.round_trip).min()?;
    let time = round_trip * exchanges;
    let life = connection.last.since(connection.first);
    if exchanges < LEAST || !is_share(time, life, SHARE) {
        return None;
    }
    let statement = format!(
        "Client and server took turns: {}, each request sent when the answer before it had come. \
         At an RTT of {} the round trips alone took {}.",
        counted(exchanges, "exchange"),
        rounded(round_trip),
        part_of_connection(time, life),
    );
    let remedy = "Ask for more at once: batches, joins, pipelining, several requests in flight \
                  (HTTP/2, parallel connections); or move the client nearer to the server. More \
                  bandwidth does not help, nor does a setting of TCP.";
    let shown = Shown::by(&server.turns);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(time)).saying(statement, remedy))
}
