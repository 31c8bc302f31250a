//! Compares what arrived with what was sent.

use std::fmt;

use tcplab_units::Bytes;

use crate::{AppReport, Digest, Payload, Role, WorkloadSpec};

/// The received payload differs from the sent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadMismatch {
    /// Bytes that a socket took.
    pub sent: Bytes,
    /// Bytes that were read.
    pub received: Bytes,
}

impl std::error::Error for PayloadMismatch {}

impl fmt::Display for PayloadMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PayloadMismatch { sent, received } = self;
        f.write_str("payload mismatch: ")?;
        if sent == received {
            return write!(f, "{sent} were sent and as many arrived, but with other contents");
        }
        write!(f, "{sent} were sent, {received} arrived")
    }
}

/// Whether what arrived is what was sent: all of it, or, where calls may fail, a beginning of it.
///
/// # Errors
/// When it is not.
pub fn verify(
    spec: &WorkloadSpec,
    seed: u64,
    client: &AppReport,
    server: &AppReport,
) -> Result<(), PayloadMismatch> {
    if spec.datagrams.is_some() {
        return datagrams_are_right(client, server);
    }
    // A load looks at what arrives itself.
    if spec.load.is_some() {
        return Ok(());
    }
    let (sender, receiver) = match client.role {
        Role::Sender => (client, server),
        Role::Receiver => (server, client),
    };
    let mismatch = PayloadMismatch { sent: sender.bytes, received: receiver.bytes };
    let is_right = if spec.may_fail() {
        is_beginning(seed, sender, receiver, spec.connections.is_some())
    } else {
        sender.bytes == spec.amount() && receiver.has_all_of(sender)
    };
    if is_right { Ok(()) } else { Err(mismatch) }
}

/// As [`verify`], for one of several flows; a stopped flow may have sent less than planned.
///
/// # Errors
/// When it is not.
pub fn verify_flow(
    spec: &WorkloadSpec,
    seed: u64,
    is_stopped: bool,
    [client, server]: [&AppReport; 2],
) -> Result<(), PayloadMismatch> {
    let (sender, receiver) = match client.role {
        Role::Sender => (client, server),
        Role::Receiver => (server, client),
    };
    let is_right = if spec.may_fail() {
        is_beginning(seed, sender, receiver, false)
    } else {
        (is_stopped || sender.bytes == spec.amount()) && receiver.has_all_of(sender)
    };
    let mismatch = PayloadMismatch { sent: sender.bytes, received: receiver.bytes };
    if is_right { Ok(()) } else { Err(mismatch) }
}

/// Datagrams may be lost, but what arrives is what was sent.
fn datagrams_are_right(client: &AppReport, server: &AppReport) -> Result<(), PayloadMismatch> {
    let damaged = |report: &AppReport| report.datagrams.as_ref().map_or(0, |it| it.damaged);
    if damaged(client) + damaged(server) == 0 {
        return Ok(());
    }
    Err(PayloadMismatch { sent: client.bytes, received: server.bytes })
}

fn is_beginning(seed: u64, sender: &AppReport, receiver: &AppReport, many: bool) -> bool {
    // With a byte taken out of the stream, or several streams, only the whole stream can be
    // compared.
    if many {
        return receiver.bytes <= sender.bytes;
    }
    let there = sender.urgent.is_some()
        || receiver.bytes <= sender.bytes
            && receiver.digest == Digest::of(Payload::new(seed), receiver.bytes.as_u64());
    let back = sender.back.as_ref().is_none_or(|read| {
        let written = receiver.back.as_ref().map_or(Bytes::ZERO, |back| back.bytes);
        read.bytes <= written
            && read.digest == Digest::of(Payload::answering(seed), read.bytes.as_u64())
    });
    there && back
}
