//! # Forged reset
//!
//! **What it says.** An RST came in the name of an end that had not reset the connection.
//!
//! **Why it matters.** A device on the path cuts connections, or somebody attacks them: no change
//! at the ends helps, and the program that gets the error is not to blame.
//!
//! **Evidence.** The end in whose name it came went on. If the other end obeyed, it sends nothing
//! more, and answers what comes then as a host does that has no such connection: by an RST without
//! ACK. If it did not obey (the RST was outside the window, or not at RCV.NXT), the TTL shows that
//! another host sent the RST: a note.
//!
//! **False positives.** An RST that overtakes data which its sender sent before looks the same, but
//! for the TTL.
//!
//! **Reference.** RFC 9293 sections 3.10.7.1 and 3.10.7.4; RFC 5961 section 3; RFC 3360; N. Weaver,
//! R. Sommer, V. Paxson, "Detecting Forged TCP Reset Packets", NDSS 2009.

use tcplab_trace::{Connection, ForgedReset};
use tcplab_units::{Bytes, Endpoint};

use crate::words::{amount, seconds};
use crate::{Cost, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_connection("forged-reset", in_life);

fn in_life(connection: &Connection) -> Option<Finding> {
    let forged = connection.life.forged_reset?;
    let (own, other) = (forged.by.name(), forged.by.other().name());
    let begin = format!("An RST in the {own}'s name (frame {})", forged.frame);
    let by = match forged.ttls {
        Some((ttl, first)) if ttl != first => {
            format!(" It has TTL {ttl}, the {own}'s first packet {first}: another host sent it.")
        }
        _ => String::new(),
    };
    let frames = [Some(forged.frame), Some(forged.went_on), forged.refused];
    let shown = Shown::in_frames(frames.into_iter().flatten(), forged.at);
    let Some(refused) = forged.refused else {
        let statement = format!("{begin} did not end the connection.{by}");
        let found = shown.proves(RULE.name, Severity::Note, Cost::NONE);
        return Some(found.saying(statement, SENDERS));
    };
    let lost = unacknowledged(connection, &forged);
    let what = if lost > Bytes::ZERO {
        format!("; {} of the {own}'s data was never acknowledged, so it is lost", amount(lost))
    } else {
        String::new()
    };
    let statement = format!(
        "{begin} ended the connection at {}, though the {own} went on (frame {}).{by} The {other} \
         obeyed it and refused the rest (RST in frame {refused}){what}.",
        seconds(forged.at),
        forged.went_on,
    );
    let found = shown.proves(RULE.name, Severity::Failure, Cost::bytes(lost));
    Some(found.saying(statement, SENDERS))
}

/// The data of the end in whose name it came that the other one refused.
fn unacknowledged(connection: &Connection, forged: &ForgedReset) -> Bytes {
    let flow = match forged.by {
        Endpoint::Client => &connection.forward,
        Endpoint::Server => &connection.reverse,
    };
    flow.totals.unique.saturating_sub(flow.transfer.acked)
}

const SENDERS: &str = "Firewalls, intrusion prevention and censors end connections so, and \
    attackers try to: look for a device on the path that blocks this traffic. If the RST is \
    missing in a capture at its sender's host, it is forged; TLS does not prevent it, a VPN does.";
