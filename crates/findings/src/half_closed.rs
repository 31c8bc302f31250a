//! # Left half closed
//!
//! **What it says.** One end closed its direction; the other did not while packets were captured.
//!
//! **Why it matters.** A program that ignores the end of its input keeps the socket in CLOSE-WAIT
//! for ever; enough of them exhaust its file descriptors.
//!
//! **Evidence.** The FIN, which the other end acknowledged, and the last packet of the connection.
//!
//! **False positives.** Closing one direction first is legal: some programs send their request,
//! close, and read. An early end of the capture; silent within a second of the first FIN, and
//! of Multipath TCP, where a FIN closes a subflow (RFC 8684 section 3.3.3).
//!
//! **Reference.** RFC 9293 section 3.6.

use tcplab_trace::{CloseKind, Connection, TcpState};
use tcplab_units::{Endpoint, Span};

use crate::words::{rounded, seconds};
use crate::{Cost, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_connection("half-closed", in_life);

/// Who has not closed after this long may not mean to.
const PATIENCE: Span = Span::from_secs(1);

fn in_life(connection: &Connection) -> Option<Finding> {
    let close = connection.life.close.filter(|close| close.kind == CloseKind::HalfClosed)?;
    if connection.handshake.multipath {
        return None;
    }
    let open = connection.last.since(close.at);
    let states = match close.by {
        Endpoint::Client => &connection.life.client,
        Endpoint::Server => &connection.life.server,
    };
    // Before, the FIN or data below it may have been lost: no program has seen an end.
    let was_received = states.iter().any(|step| step.state == TcpState::FinWait2);
    if open < PATIENCE || !was_received {
        return None;
    }
    let (who, other) = (close.by.name(), close.by.other().name());
    let statement = format!(
        "The {other} never closed its direction: the {who} sent FIN at {}, and the connection was \
         last seen {} later.",
        seconds(close.at),
        rounded(open),
    );
    let remedy = format!(
        "If the {other} has nothing left to send, its program ignores the end of its input \
         (read() returned 0): look for sockets in CLOSE-WAIT there with `ss -tan state \
         close-wait`.",
    );
    let shown = Shown::in_frames([close.frame, connection.frames.1], close.at);
    Some(shown.proves(RULE.name, Severity::Note, Cost::NONE).saying(statement, remedy))
}
