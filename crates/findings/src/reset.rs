//! # Connection reset
//!
//! **What it says.** An end aborted the connection with RST, and whether data were lost.
//!
//! **Why it matters.** The other end gets an error; data in flight or unread are lost.
//!
//! **Evidence.** The RST; the windows before it, which show what its sender had not read.
//!
//! **False positives.** After its own FIN, an end that is done answers late data with RST; that is
//! reported only if data were left unread. A firewall can send an RST in the name of either end.
//!
//! **Reference.** RFC 9293 section 3.10.4 (abort); RFC 1122 section 4.2.2.13 and RFC 2525 section
//! 2.17 (closing with data unread).

use tcplab_trace::{CloseKind, Connection};
use tcplab_units::Bytes;

use crate::words::{amount, seconds};
use crate::{Cost, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_connection("reset", in_life);

fn in_life(connection: &Connection) -> Option<Finding> {
    let close = connection.life.close?;
    let unread = close.unread.filter(|&unread| unread > Bytes::ZERO);
    let aborted = match close.kind {
        CloseKind::Reset => true,
        CloseKind::ResetAfterFin => unread.is_some(),
        CloseKind::Graceful | CloseKind::Simultaneous | CloseKind::HalfClosed => false,
    };
    if !aborted {
        return None;
    }
    let by = close.reset_by.unwrap_or(close.by);
    let (who, other) = (by.name(), by.other().name());
    let when = seconds(close.at);
    let (statement, remedy) = match (unread, close.kind) {
        (Some(unread), _) => (
            format!(
                "The {who} reset the connection at {when} with {} unread: acknowledged data was \
                 lost.",
                amount(unread)
            ),
            format!(
                "The {who}'s program closed its socket with data unread: let it read to the end, \
                 or shut down its sending side and read until the {other} closes too."
            ),
        ),
        (None, _) => (
            format!("The {who} reset the connection at {when}."),
            format!(
                "Check the {who}'s program at that time: a crash, an application timeout, \
                 SO_LINGER of zero, a killed process. If it did not close, a firewall or load \
                 balancer sent the RST; its TTL often differs."
            ),
        ),
    };
    let shown = Shown::in_frames([close.frame], close.at);
    let cost = Cost::bytes(unread.unwrap_or(Bytes::ZERO));
    Some(shown.proves(RULE.name, Severity::Failure, cost).saying(statement, remedy))
}
