//! # Accept queue full
//!
//! **What it says.** The client held the connection for open, and the server did not take it up.
//!
//! **Why it matters.** Its kernel drops the ACK that completes the handshake, and the data behind
//! it, while the queue of connections that the application has not accepted is full. The client
//! sees an open connection and timeouts, as if the path lost everything: each try waits twice as
//! long.
//!
//! **Evidence.** SYN-ACKs that the server sent again although the client's ACK had passed. Beside
//! the server one is enough if the client sends data; elsewhere the ACK may have been lost once, so
//! it takes two. What timers did meanwhile is part of this finding: those on timeouts and late
//! packets are left out.
//!
//! **False positives.** A firewall beside the server that drops what the client sends. Away from
//! it, a path that carries nothing to the server for as long.
//!
//! **Reference.** listen(2) on the backlog; tcp(7) on `tcp_abort_on_overflow`;
//! `tcp_v4_syn_recv_sock` and `tcp_check_req` in Linux.

use tcplab_trace::{CapturePoint, Connection};
use tcplab_units::{Bytes, Instant};

use crate::words::{rounded, seconds, times};
use crate::{
    Cost, Finding, Rule, Severity, Shown, delay_spikes, lost_retransmissions, recovery_episode,
    spurious_retransmissions, tail_loss, timeout_backoff, timeouts,
};

/// The rule.
pub const RULE: Rule = Rule::of_connection("accept-queue", in_handshake);

/// What else the wait looks like.
const SAME: [Rule; 7] = [
    delay_spikes::RULE,
    lost_retransmissions::RULE,
    recovery_episode::RULE,
    spurious_retransmissions::RULE,
    tail_loss::RULE,
    timeout_backoff::RULE,
    timeouts::RULE,
];

/// From the client's ACK until the server took the connection up, or the end, with the last frame.
fn waited(connection: &Connection) -> Option<(Instant, Instant, u64)> {
    let handshake = &connection.handshake;
    let end = (connection.last, connection.frames.1);
    let (until, frame) = handshake.accepted.unwrap_or(end);
    let opened = handshake.opened.filter(|_| !handshake.not_accepted.is_empty())?;
    Some((opened, until, frame))
}

/// Leaves out the findings whose evidence lies in the wait.
pub(crate) fn leave_out_its_parts(connection: &Connection, findings: &mut Vec<Finding>) {
    if !findings.iter().any(|finding| finding.rule == RULE.name) {
        return;
    }
    let Some((opened, until, last)) = waited(connection) else { return };
    let is_part = |finding: &Finding| {
        SAME.iter().any(|rule| rule.name == finding.rule)
            && finding.frames.iter().all(|&frame| frame <= last)
            && finding.cost.time <= until.since(opened)
    };
    findings.retain(|finding| !is_part(finding));
}

fn in_handshake(connection: &Connection) -> Option<Finding> {
    let (opened, until, _) = waited(connection)?;
    let syn_acks = &connection.handshake.not_accepted;
    let client = &connection.forward;
    let beside_server = client.capture_point == CapturePoint::Receiver;
    // Without data the server may wait for them (TCP_DEFER_ACCEPT).
    let has_data = client.totals.data > Bytes::ZERO;
    if syn_acks.count < 2 && !(beside_server && has_data) {
        return None;
    }
    let wait = until.since(opened);
    let mut statement = format!(
        "The server did not take up the connection when the client's ACK of its SYN-ACK had come: \
         it retransmitted the SYN-ACK {}",
        times(syn_acks.count),
    );
    statement += &match connection.handshake.accepted {
        Some((at, _)) => {
            format!(" and answered at {}, {} after the ACK.", seconds(at), rounded(wait))
        }
        None => format!(", and answered nothing else in {}.", rounded(wait)),
    };
    statement += " So it does while its accept queue is full: the application does not accept \
                  connections as fast as they come.";
    if !beside_server {
        statement += " An interruption of the way to the server looks the same here.";
    }
    let remedy = "Let the server accept sooner (more workers, no blocking work between accepts), \
                  and raise the queue: listen()'s backlog and net.core.somaxconn. On Linux `nstat \
                  -az TcpExtListenOverflows` counts what was dropped so, `ss -ltn` shows the queue \
                  (Recv-Q of Send-Q).";
    let severity = match connection.handshake.accepted {
        Some(_) => Severity::Harm,
        None => Severity::Failure,
    };
    let cost = Cost::time(wait);
    Some(Shown::by(syn_acks).proves(RULE.name, severity, cost).saying(statement, remedy))
}
