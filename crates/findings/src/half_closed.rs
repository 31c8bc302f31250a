//! # Left half closed
//!
//! **What it says.** One end closed its direction and the other never did, for as long as packets
//! of the connection were seen.
//!
//! **Why it matters.** A program that does not notice the end of its input keeps the socket (in
//! CLOSE-WAIT) for ever; enough of them, and it runs out of file descriptors.
//!
//! **Evidence.** The FIN, and the last packet of the connection.
//!
//! **False positives.** Closing one direction first is legal, and some programs work so: they send
//! their request, close, and read. A capture that ends too soon does not show the other FIN; less
//! than a second after the first one nothing is said.
//!
//! **Reference.** RFC 9293 section 3.6.

use tcplab_trace::{CloseKind, Connection};
use tcplab_units::Span;

use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::{rounded, seconds};

/// The rule's name.
pub const NAME: &str = "half-closed";

/// Who has not closed after this long may not mean to.
const PATIENCE: Span = Span::from_secs(1);

/// At most one finding.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_life(connection).into_iter().collect()
}

fn in_life(connection: &Connection) -> Option<Finding> {
    let close = connection.life.close.filter(|close| close.kind == CloseKind::HalfClosed)?;
    let open = connection.last.since(close.at);
    if open < PATIENCE {
        return None;
    }
    let (who, other) = (close.by.name(), close.by.other().name());
    let statement = format!(
        "The {who} closed its direction at {}; the {other} had not closed its own {} later, when \
         the connection was last seen.",
        seconds(close.at),
        rounded(open),
    );
    let remedy = format!(
        "If the {other} has nothing left to send, its program does not notice the end of its \
         input (read() returning 0): look for sockets in CLOSE-WAIT there with `ss -tan \
         state close-wait`.",
    );
    let shown = Shown::in_frames([close.frame, connection.frames.1], close.at);
    Some(shown.proves(NAME, Severity::Note, Cost::NONE).saying(statement, remedy))
}
