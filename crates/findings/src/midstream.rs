//! # Capture begun after the handshake
//!
//! **What it says.** No SYN was captured: options are unknown, the window scale among them, and
//! perhaps which end is the client. Retransmissions of data below the first captured show that a
//! recovery was under way.
//!
//! **Why it matters.** Without its scale the size of a receive window is unknown. A full one then
//! looks like a full congestion window or send buffer. Without timestamps, too, it is unknown how
//! far the sender is, and what it waited for. Data sent before the capture are no part of what is
//! counted, so a recovery of them makes goodput too low and losses too many.
//!
//! **Evidence.** The first packet; the time in which a window was full; those retransmissions.
//!
//! **False positives.** None known.
//!
//! **Reference.** RFC 7323 section 2.2; RFC 6335 section 6 on ports.

use tcplab_trace::{Connection, Limit, Roles};
use tcplab_units::Span;

use crate::words::{amount, number, part_of_time};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_connection("midstream", in_connection);

/// The least share of the time that a window was full, per cent, for limits to be in doubt.
const SHARE: u64 = 20;

fn in_connection(connection: &Connection) -> Option<Finding> {
    if !connection.handshake.midstream {
        return None;
    }
    let [forward, reverse] = Direction::both(connection);
    if !forward.is_transfer() && !reverse.is_transfer() {
        return None;
    }
    let mut statement = "The capture begins after the handshake: the options of the SYNs are \
                         unknown."
        .to_owned();
    statement += match connection.roles {
        Roles::BySyn => "",
        Roles::ByPorts => " Which end is the client is a guess from the ports.",
        Roles::ByFirstPacket => {
            " Which end is the client is a guess: the one that sent the first packet."
        }
    };
    let mut severity = Severity::Note;
    for direction in [forward, reverse] {
        let Some(time) = in_doubt(&direction) else { continue };
        severity = Severity::Doubt;
        statement += &format!(
            " A window limited the {} for {}: without the window scale it is unknown which: the \
             receive window, the congestion window or the send buffer.",
            direction.sender,
            part_of_time(time, direction.time()),
        );
        let windows = &direction.flow.windows;
        if let Some(max) = windows.max.filter(|_| windows.scale_known) {
            let most = amount(direction.flow.totals.max_in_flight);
            let max = amount(max);
            statement += &format!(
                " By what was sent, the largest receive window was {max}; at most {most} were in \
                 flight."
            );
        }
    }
    for direction in [forward, reverse] {
        let waited = direction.flow.shares.of(Limit::Application);
        let is_large = is_share(waited, direction.time(), SHARE) && direction.is_transfer();
        if !is_large || !direction.is_lost_in_midstream() {
            continue;
        }
        severity = Severity::Doubt;
        statement += &format!(
            " The {} waited for {}: without handshake and timestamps its distance is unknown, so \
             it may have waited for ACKs as well as for its application.",
            direction.sender,
            part_of_time(waited, direction.time()),
        );
    }
    let mut frames = vec![connection.frames.0];
    for direction in [forward, reverse].iter().filter(|it| it.begins_in_recovery()) {
        severity = Severity::Doubt;
        statement += &recovers(direction);
        frames.extend(direction.flow.causes.before_capture.frames.iter().copied());
    }
    let shown = Shown::in_frames(frames, connection.first);
    Some(
        shown
            .proves(RULE.name, severity, Cost::NONE)
            .saying(statement, "Start the capture before the connection opens."),
    )
}

/// What a direction that begins in a recovery cannot tell.
fn recovers(direction: &Direction<'_>) -> String {
    let again = match direction.flow.causes.before_capture.count {
        1 => "1 retransmission is of data".to_owned(),
        count => format!("{} retransmissions are of data", number(count)),
    };
    format!(
        " It begins while the {} recovers from losses: {again} sent before the capture, which its \
         goodput does not count. They repair losses before it.",
        direction.sender,
    )
}

/// The time for which one of the windows was full, if the receive window's size is unknown.
fn in_doubt(direction: &Direction<'_>) -> Option<Span> {
    let flow = direction.flow;
    let time = flow.shares.of(Limit::Congestion) + flow.shares.of(Limit::SendBuffer);
    let is_large = is_share(time, direction.time(), SHARE);
    (direction.is_transfer() && is_large && !flow.windows.scale_negotiated).then_some(time)
}
